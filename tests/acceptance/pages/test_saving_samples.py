"""The samples of the page about SIGTERM save, as they stand there."""

from __future__ import annotations

import re
import signal
import sys
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from tests.slow.engines.slurm.test_program import Nodes, custom

_ROOT = Path(__file__).resolve().parents[3]
_PAGE = (_ROOT / "docs/how-to/save-before-the-end.md").read_text(encoding="utf-8")
#: The program of the sample in bash.
_PROGRAM = """\
import pathlib, signal, sys, time
def save(*_):
    time.sleep(1)
    pathlib.Path("last.txt").write_text("7\\n")
    sys.exit(0)
signal.signal(signal.SIGTERM, save)
time.sleep(600)
"""


def sample(language: str) -> str:
    """The first of the page in that language."""
    (block, *_) = re.findall(rf"```{language}\n(.*?)```", _PAGE, re.DOTALL)
    return str(block)


@pytest.fixture
def node(tmp_path: Path) -> Nodes:
    nodes = Nodes(tmp_path)
    path, saved = f"{Path(sys.executable).parent}:{nodes.site.path}", str(tmp_path / "saved")
    nodes.site = replace(nodes.site, grace=30, path=path, saved=saved)
    return nodes


def until_it_listens(program: Path) -> None:
    """Wait until a process of the program has its own answer to SIGTERM."""
    end = time.monotonic() + 120
    while not any(_listens(path, program) for path in Path("/proc").glob("[0-9]*")):
        assert time.monotonic() < end
        time.sleep(0.05)


def _listens(process: Path, program: Path) -> bool:
    with suppress(OSError):
        if str(program).encode() in (process / "cmdline").read_bytes().split(b"\0"):
            caught = re.search(r"SigCgt:\s*([0-9a-f]+)", (process / "status").read_text())
            return caught is not None and bool(int(caught[1], 16) >> (signal.SIGTERM - 1) & 1)
    return False


def run(node: Nodes, command: str, program: Path) -> str:
    """What the checkpoint holds after a request to end."""
    process = node.start(**custom(command))
    until_it_listens(program)
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 143
    process.communicate()
    return (node.root / "saved/checkpoint").read_text()


def test_the_sample_in_python_saves(node: Nodes) -> None:
    program = node.root / "train.py"
    program.write_text(sample("python"))

    assert int(run(node, f"python {program}", program)) >= 0


def test_the_sample_in_bash_saves_after_its_program(node: Nodes) -> None:
    program = node.root / "train.py"
    program.write_text(_PROGRAM)
    (node.root / "train.sh").write_text(sample("sh").replace("python train.py", f"python {program}"))

    assert run(node, f"cd {node.root}\nbash train.sh", program) == "7\n"
