"""`python -m local.setup.browser`: Chromium and Playwright, for `make test-browser`."""

import shutil
import sys

from local.setup.debian import execute, install_packages
from local.setup.interpreter import InstallError
from local.setup.steps import ROOT

_BROWSER = "chromium"
_PACKAGES = "requirements-browser.txt"


def install() -> None:
    """Install what is missing. Raises InstallError."""
    if not shutil.which(_BROWSER):
        install_packages([_BROWSER], f"{_BROWSER} is not here, and neither is apt-get: install it by hand")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", "install", "--quiet"]
    execute([*pip, "-r", str(ROOT / _PACKAGES)])


def main() -> int:
    """The exit code; 1 with the reason on standard error."""
    try:
        install()
    except InstallError as error:
        sys.stderr.write(f"browser: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
