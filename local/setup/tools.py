"""Programs for work on the project, in an environment apart: their dependencies are not pinned with ours."""

import subprocess
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_HOME = ROOT / ".venv-tools"
_REQUIREMENTS = ROOT / "requirements-tools.txt"
_PATIENCE = 300.0


def tool(name: str) -> Path:
    """The program, installed if it is missing. Raises SubprocessError if that fails."""
    stamp = _HOME / "installed.txt"
    if not stamp.exists() or stamp.read_text() != _REQUIREMENTS.read_text():
        venv.create(_HOME, clear=True, with_pip=True)
        pip = [str(_HOME / "bin" / "python"), "-m", "pip", "install", "--quiet", "-r", str(_REQUIREMENTS)]
        subprocess.run(pip, cwd=ROOT, check=True, capture_output=True, timeout=_PATIENCE)
        stamp.write_text(_REQUIREMENTS.read_text())
    return _HOME / "bin" / name
