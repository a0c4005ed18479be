"""What is said where a program of an installation is missing, or fails."""

import sys
from pathlib import Path

import pytest

from local.setup.debian import execute, install_packages
from local.setup.interpreter import InstallError


def test_where_there_is_no_apt_get_the_error_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(InstallError, match="by hand"):
        install_packages(["chromium"], "by hand")


def test_only_root_installs_without_sudo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "apt-get").write_text("#!/bin/sh\n")
    (tmp_path / "apt-get").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("os.geteuid", lambda: 1000)

    with pytest.raises(InstallError, match="run as root apt-get install munge slurmd"):
        install_packages(["munge", "slurmd"], "by hand")


def test_the_last_lines_of_a_program_that_fails_are_in_the_error() -> None:
    script = "print('one\\ntwo\\nthree\\nfour'); raise SystemExit(3)"

    with pytest.raises(InstallError, match=r"failed \(exit code 3\): two \| three \| four$"):
        execute([sys.executable, "-c", script])
    with pytest.raises(InstallError, match="`not-there` failed: "):
        execute(["not-there"])
