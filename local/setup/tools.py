"""Programs for work on the project, in an environment apart: it must not hold what ours needs."""

import subprocess
import sys
import venv
from pathlib import Path

from local.setup.groups import listed, pip
from local.setup.steps import LOGS, ROOT

_HOME = ROOT / ".venv-tools"
_PATIENCE = 300.0


def tool(name: str) -> Path:
    """The program, installed if it is missing. Raises SubprocessError if that fails."""
    stamp = _HOME / "installed.txt"
    LOGS.mkdir(parents=True, exist_ok=True)
    file, argv = listed(["tools"], Path(sys.prefix))
    subprocess.run(argv, cwd=ROOT, check=True, capture_output=True, timeout=_PATIENCE)
    if not stamp.exists() or stamp.read_text() != file.read_text():
        venv.create(_HOME, clear=True, with_pip=True)
        install = [*pip(_HOME), "--quiet", "--require-hashes", "-r", str(file)]
        subprocess.run(install, cwd=ROOT, check=True, capture_output=True, timeout=_PATIENCE)
        stamp.write_text(file.read_text())
    return _HOME / "bin" / name
