"""`python -m local.setup.browser`: Chromium and Playwright, for `make test-browser`."""

import shutil
import sys

from local.setup.debian import execute, install_packages
from local.setup.interpreter import InstallError

#: Packages of Debian that have a program of the same name, the best one first: a build without windows begins
#: a visit with a fifth of the work.
BROWSERS = ("chromium-headless-shell", "chromium")
#: The group of packages that drives it.
_GROUP = "browser"


def install() -> None:
    """Install what is missing. Raises InstallError."""
    if not shutil.which(BROWSERS[0]):
        _install_browser()
    execute([sys.executable, "-m", "local.setup.groups", _GROUP])


def _install_browser() -> None:
    """Install the first browser that can be had, unless another one is here. Raises InstallError."""
    best, other = BROWSERS
    by_hand = f"{best} is not here, and neither is apt-get: install {best} or {other} by hand"
    try:
        install_packages([best], by_hand)
    except InstallError:
        if not shutil.which(other):
            install_packages([other], by_hand)


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
