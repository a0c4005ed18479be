"""No text of a service or of a job takes the terminal over, by any command."""

from __future__ import annotations

import asyncio
import os
import pty
import re
import subprocess
import sys
import termios
from pathlib import Path
from typing import Any

import pytest

from slipway.cli_page import commands
from tests.doubles.server import answering, as_slipway
from tests.slow.slipway import foreign
from tests.slow.slipway.foreign import ID, SWEEP

ROOT = Path(__file__).resolve().parents[3]
#: A line of words for every command that asks the service for something to show.
LINES = {
    "submit": "submit request.json",
    "overview": "overview",
    "jobs": "jobs",
    "show": f"show {ID}",
    "wait": f"wait {ID}",
    "cancel": f"cancel {ID}",
    "release": f"release {ID}",
    "rerun": "rerun receipt.json",
    "pause": "pause --all",
    "resume": "resume --all",
    "priority": f"priority {ID} high",
    "receipt": f"receipt {ID}",
    "files": f"files {ID} --tree",
    "download": f"download {ID} --to out",
    "log": f"log {ID}",
    "cat": f"cat {ID} stderr.txt",
    "code": f"code {ID} --list",
    "metrics": f"metrics {ID}",
    "events list": f"events list {ID}",
    "events redeliver": "events redeliver evt_1",
    "events test": "events test https://x.example.com",
    "events disabled": "events disabled",
    "dead list": "dead list",
    "dead redrive": "dead redrive all",
    "costs": "costs --by name",
    "teams show": "teams show",
    "teams usage": "teams usage",
    "teams apply": "teams apply request.json",
    "trail": "trail",
    "sweep show": f"sweep show {SWEEP} --best loss",
    "sweep cancel": f"sweep cancel {SWEEP}",
    "nodes": "nodes",
    "audit": "audit",
    "doctor": "doctor",
    "support": f"support {ID} --to support.zip",
}
#: They show no text of the service's.
SILENT = ("download", "dead redrive", "doctor", "support")
#: They need storage, or a tool of others, as well; explain has a test of its own.
ELSEWHERE = {"run", "drop", "explain", "tensorboard", "shell", "forward", "ssh-config"}
#: How the bar of a download is drawn.
BAR = re.compile(r"\x1b\[(\?25[lh]|1A|2K)|\r(?=\x1b\[)")
PROGRAM = """
import sys
from slipway.client.calls.patience import Patience, patience
from slipway.main import main
for line in sys.stdin.read().splitlines():
    sys.argv = ["slipway", *line.split(), "--url", sys.argv[-1]]
    print("$", line)
    try:
        with patience(Patience(seconds=0.2)):
            main()
    except SystemExit as end:
        pass
"""


def on_a_terminal(lines: list[str], url: str, folder: Path) -> str:
    """What a terminal gets of the commands, by the byte."""
    ours, theirs = pty.openpty()
    mode = termios.tcgetattr(theirs)
    mode[1] &= ~termios.OPOST
    termios.tcsetattr(theirs, termios.TCSANOW, mode)
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, url], cwd=folder, stdin=subprocess.PIPE, stdout=theirs, stderr=theirs,
        env=os.environ | {"PYTHONPATH": str(ROOT), "NO_COLOR": "1", "XDG_CONFIG_HOME": str(folder)},
    )  # fmt: skip
    os.close(theirs)
    assert process.stdin
    process.stdin.write("\n".join(lines).encode())
    process.stdin.close()
    shown = b""
    while True:
        try:
            chunk = os.read(ours, 1 << 16)
        except OSError:  # so Linux ends a terminal without writers
            break
        if not chunk:
            break
        shown += chunk
    os.close(ours)
    process.wait()
    return shown.decode()


def _options(name: str) -> tuple[str, ...]:
    has_json = any("--json" in option.opts for option in commands()[name].params)
    return ("", " --json") if has_json else ("",)


def test_every_command_that_asks_the_service_is_among_these() -> None:
    asking = {
        name for name, one in commands().items() if any("--url" in option.opts for option in one.params)
    }
    assert asking == {*LINES, *ELSEWHERE}


@pytest.mark.parametrize(
    "answer",
    [
        foreign.answers,
        pytest.param(foreign.refuses, marks=pytest.mark.thorough),
        pytest.param(foreign.redirects, marks=pytest.mark.thorough),
        pytest.param(foreign.fails, marks=pytest.mark.thorough),
    ],
)
async def test_a_terminal_gets_nothing_that_moves_its_cursor(answer: Any, tmp_path: Path) -> None:
    (tmp_path / "request.json").write_text('{"spec": {}}')
    (tmp_path / "receipt.json").write_text(f'{{"id": "{ID}"}}')
    lines = [f"{line}{option}" for name, line in LINES.items() for option in _options(name)]

    async with answering(as_slipway(answer)) as url:
        shown = await asyncio.to_thread(on_a_terminal, lines, url, tmp_path)

    shown = BAR.sub("", shown)
    raw = {line for line in shown.split("\n") if not line.replace("\t", "").isprintable()}
    assert raw == set()
    assert "Traceback" not in shown
    if answer is foreign.answers:
        for line in lines:
            output = shown.partition(f"$ {line}\n")[2].partition("\n$ ")[0]
            assert "canary" in output or line.startswith(SILENT), (line, output)
