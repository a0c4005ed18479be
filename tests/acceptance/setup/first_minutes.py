"""`python -m tests.acceptance.setup.first_minutes`: from a clean clone to a model on one's own disk, timed.

A stranger has train.py, a data file and the README, whose three commands run in a new clone of this
checkout's last commit. Caches of pip and npm are the machine's own; none of this project is used. Not in the
suite: no test there dials out.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
#: The three commands, the first in a terminal of its own.
UP = "make up UP_FLAGS=--any-ports"
PATH = 'export PATH="$PWD/.venv/bin:$PATH"'
RUN = "slipway run --to result first -- --epochs 5"
#: What the script leaves, by three points on a line.
WEIGHTS = "result/MODEL/weights-0.txt"
_PAGE = ROOT / "docs/how-to/run-a-first-job.md"
_PATIENCE = 900.0


def main() -> int:
    """Print the seconds; 1 if no model came."""
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder) / "slipway"
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
        _write_job(clone / "first")
        with (Path(folder) / "up.log").open("w+") as log:
            return _timed(clone, log.name)


def _timed(clone: Path, log: str) -> int:
    began = time.monotonic()
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SLIPWAY_")}
    with Path(log).open("w") as out:
        up = subprocess.Popen(
            ["/bin/sh", "-c", UP], cwd=clone, env=environment, stdout=out, stderr=out, start_new_session=True
        )
    try:
        while "\nready " not in (text := Path(log).read_text()):
            if up.poll() is not None or time.monotonic() - began > _PATIENCE:
                sys.stdout.write(f"`{UP}` did not come up:\n{text[-2000:]}\n")
                return 1
            time.sleep(0.1)
        ready = time.monotonic()
        run = subprocess.run(["/bin/sh", "-c", f"{PATH}; {RUN}"], cwd=clone, env=environment, check=False)
        ended = time.monotonic()
        model = clone / WEIGHTS
        sys.stdout.write(
            f"{UP}: ready after {ready - began:.0f} s\n"
            f"{RUN}: {ended - ready:.0f} s, exit code {run.returncode}\n"
            f"from the clone to {WEIGHTS}: {ended - began:.0f} s\n"
        )
        return int(run.returncode != 0 or not model.is_file())
    finally:
        if up.poll() is None:
            os.killpg(up.pid, signal.SIGINT)
        up.wait(60)


def _write_job(folder: Path) -> None:
    """The script and the data of the page for a first job."""
    lines = _PAGE.read_text(encoding="utf-8").split("```python\n")[1].split("```")[0].splitlines()
    folder.mkdir()
    (folder / "train.py").write_text("\n".join(line.removeprefix("   ") for line in lines) + "\n")
    (folder / "points.csv").write_text("x,y\n1,2\n2,4\n3,6\n")


if __name__ == "__main__":
    sys.exit(main())
