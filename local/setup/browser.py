"""`python -m local.setup.browser`: Chromium and Playwright, for `make test-browser`."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence

from local.setup.steps import ROOT

_BROWSER = "chromium"
_PACKAGES = "requirements-browser.txt"
_TIMEOUT = 600.0


class BrowserError(Exception):
    """Why the browser cannot be installed, and what to do."""


def install() -> None:
    """Install what is missing. Raises BrowserError."""
    if not shutil.which(_BROWSER):
        if not shutil.which("apt-get"):
            raise BrowserError(f"{_BROWSER} is not here, and neither is apt-get: install it by hand")
        as_root = [] if os.geteuid() == 0 else ["sudo", *([] if sys.stdin.isatty() else ["-n"])]
        _execute([*as_root, "apt-get", "update", "-qq"])
        quiet = ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "install", "-y", "-qq"]
        _execute([*as_root, *quiet, "--no-install-recommends", _BROWSER])
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", "install", "--quiet"]
    _execute([*pip, "-r", str(ROOT / _PACKAGES)])


def _execute(argv: Sequence[str]) -> None:
    try:
        ended = subprocess.run(
            argv, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=_TIMEOUT
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BrowserError(f"`{' '.join(argv)}` failed: {error}") from error
    if ended.returncode:
        last = ended.stdout.decode("utf-8", "replace").strip().splitlines()[-3:]
        raise BrowserError(f"`{' '.join(argv)}` failed (exit code {ended.returncode}): {' | '.join(last)}")


def main() -> int:
    """The exit code; 1 with the reason on standard error."""
    try:
        install()
    except BrowserError as error:
        sys.stderr.write(f"browser: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
