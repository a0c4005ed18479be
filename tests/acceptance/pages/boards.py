"""Programs and modules of others that the page on curves uses, small enough to be tried anywhere."""

from __future__ import annotations

import sys
from pathlib import Path

#: Keeps each event file open, as TensorBoard's default loader does; ends once it has seen enough lines.
TENSORBOARD = f"""#!{sys.executable}
import json, pathlib, subprocess, sys, time
where = pathlib.Path(sys.argv[sys.argv.index("--logdir") + 1])
beside = pathlib.Path(__file__).parent.parent
server = subprocess.Popen(["sleep", "1000"])
(beside / "started.json").write_text(json.dumps({{"arguments": sys.argv[1:], "server": server.pid}}))
enough = int((beside / "enough").read_text())
streams, lines = {{}}, {{}}
while sum(map(len, lines.values())) < enough:
    for path in sorted(where.rglob("*tfevents*")):
        if path not in streams:
            streams[path] = path.open()
        run = path.parent.relative_to(where).as_posix()
        lines.setdefault(run, []).extend(streams[path].read().splitlines())
    (beside / "lines.new").write_text(json.dumps(lines))
    (beside / "lines.new").rename(beside / "lines.json")
    time.sleep(0.1)
"""
#: Writes a line for each point.
TORCH = """class SummaryWriter:
    def __init__(self, directory, flush_secs):
        self.stream = open(f"{directory}/events.out.tfevents.1.node.1.0", "a", buffering=1)
    def __enter__(self):
        return self
    def __exit__(self, *error):
        self.stream.close()
    def add_scalar(self, name, value, step):
        self.stream.write(f"{name} {value} {step}\\n")
"""
MLFLOW = """import contextlib, pathlib
@contextlib.contextmanager
def start_run():
    yield
def log_metric(name, value, step):
    with pathlib.Path("logged.txt").open("a") as log:
        log.write(f"{name} {value} {step}\\n")
"""


def paths(directory: Path, pattern: str) -> list[Path]:
    """What is in a directory, however deep."""
    return sorted(directory.rglob(pattern))


def program(folder: Path, name: str, text: str) -> None:
    """A program on the PATH of what runs in the folder."""
    (folder / "programs").mkdir(parents=True, exist_ok=True)
    (folder / "programs" / name).write_text(text)
    (folder / "programs" / name).chmod(0o755)
