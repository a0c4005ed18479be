"""What the steps of an installation share: running programs, logs, and fingerprints of their inputs.

Standard library only, and no syntax newer than Python 3.6: an old python3 must be able to read it.
"""

import hashlib
import subprocess
import sys
import time
from pathlib import Path
from typing import Callable, Iterable  # noqa: UP035 - an old Python must be able to read this

from local.setup.interpreter import InstallError

ROOT = Path(__file__).resolve().parents[2]
LOGS = ROOT / ".local" / "install"
#: Seconds of a step after which a person reads that it goes on.
_EVERY = 10.0


def step(
    name: str, argv: "list[str]", strict: bool = True, folder: Path = ROOT, every: float = _EVERY
) -> None:
    """Run one program in a folder. Raises InstallError with the cause and the log if it fails.

    After each `every` seconds a line says that it goes on.
    """
    began = time.monotonic()
    log = LOGS / "{}.log".format(name.replace(" ", "-").lower())
    with log.open("wb") as output:
        code = _ended(
            subprocess.Popen(
                argv, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, cwd=str(folder)
            ),
            every,
            lambda: say(f"  {name:<32}{time.monotonic() - began:6.1f} s so far"),
        )
    if code and strict:
        raise InstallError(
            f"{name} failed (exit code {code}): {_cause(log)} [all of it: {log.relative_to(ROOT)}]"
        )
    say(f"  {name:<32}{time.monotonic() - began:6.1f} s")


def _ended(program: "subprocess.Popen[bytes]", every: float, tell: "Callable[[], None]") -> int:
    """The exit code of a program, which does not outlive this one."""
    with program:
        try:
            while True:
                try:
                    return program.wait(every)
                except subprocess.TimeoutExpired:
                    tell()
        except BaseException:
            program.kill()
            raise


def say(line: str) -> None:
    """A line for the person who installs."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def read(path: Path) -> str:
    """The text of a file; empty if there is none."""
    try:
        return path.read_text()
    except OSError:
        return ""


def fingerprint(inputs: "Iterable[str]", folder: Path) -> str:
    """The fingerprint of a step: of its input files, named from the checkout, and of the folder's Python."""
    digest = hashlib.sha256("{}\n{}".format(folder, read(folder / "pyvenv.cfg")).encode())
    for name in inputs:
        digest.update(f"\n{name}\n".encode() + (ROOT / name).read_bytes())
    return digest.hexdigest()


def _cause(log: Path) -> str:
    """The first two lines that mention an error, else the last line: there pip and npm give the reason."""
    lines = [line.strip() for line in log.read_text(errors="replace").splitlines() if line.strip()]
    errors = [line for line in lines if "error" in line.lower() and "retrying" not in line.lower()]
    silent = ["the package index did not answer"] if any("Retrying" in line for line in lines) else []
    return "; ".join(silent + errors[:2] or lines[-1:])[:400] or "it wrote nothing"
