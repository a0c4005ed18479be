"""`slipway … | head -1`: the reader closes the pipe, and the command ends quietly, not as a failure."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from slipway.ending import READER_GONE
from tests.unit.slipway.commands.validate.test_validate_outputs import BROKEN, folder_with
from tests.unit.world import job_json

ROOT = Path(__file__).resolve().parents[3]
#: A person's environment, in which output to a pipe is kept until there is much of it.
BUFFERED = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
#: What a process runs for each of the command lines: a fork, whose output no one reads.
DRIVER = """
import json, os, sys
from slipway.main import main
for words in json.load(sys.stdin):
    reader, writer = os.pipe()
    errors, theirs = os.pipe()
    os.close(reader)
    if not os.fork():
        os.dup2(writer, 1)
        os.dup2(theirs, 2)
        sys.argv[1:] = words
        try:
            main()
        except SystemExit as end:
            sys.stdout = sys.stderr = None  # the last flush, as the interpreter makes it
            os._exit(end.code)
    os.close(writer)
    os.close(theirs)
    with os.fdopen(errors) as said:
        text = said.read()
    print(json.dumps([words, os.waitstatus_to_exitcode(os.wait()[1]), text]), flush=True)
"""


def unread(lines: list[list[str]], home: Path) -> dict[tuple[str, ...], tuple[int, str]]:
    """The exit code and the errors of each command line, whose output goes into a closed pipe."""
    ran = subprocess.run(
        [sys.executable, "-c", DRIVER],
        cwd=ROOT,
        input=json.dumps(lines),
        capture_output=True,
        text=True,
        check=True,
        env={**BUFFERED, "XDG_CONFIG_HOME": str(home), "SLIPWAY_URL": "", "SLIPWAY_KEY": ""},
    )
    return {tuple(words): (code, text) for words, code, text in map(json.loads, ran.stdout.splitlines())}


def test_every_command_that_prints_without_a_server_ends_quietly(tmp_path: Path) -> None:
    good = tmp_path / "good" / "job.json"
    good.parent.mkdir()
    good.write_text(json.dumps(job_json()))
    bad = folder_with(tmp_path, BROKEN)
    local = tmp_path / "settings.json"
    local.write_text('{"Values": {"SLIPWAY_STORAGE": "UseDevelopmentStorage=true"}}')
    lines = [
        ["version"],
        ["version", "--json"],
        *(["validate", *how, str(file)] for file in (good, bad) for how in ([], ["--format", "json"])),
        ["validate", "--fix", "--diff", str(bad)],
        *(
            ["explain", "--settings", str(local), *how]
            for how in ([str(good)], [str(bad)], ["--json", str(good)])
        ),
        ["init", "python", "--to", str(tmp_path / "new")],
        ["completion", "bash"],
        *([*name.split(), "--help"] for name in ("", "sweep", "submit", "data put")),
        ["nonsense"],  # said on standard error
    ]

    ended = unread(lines, tmp_path)

    assert ended.pop(("nonsense",))[0] == 2
    assert {words: end for words, end in ended.items() if end[0] != READER_GONE} == {}
    words = ("Traceback", "Broken pipe", "Exception")
    assert [text for _, text in ended.values() if any(word in text for word in words)] == []


@pytest.mark.parametrize(
    ("body", "code", "says"),
    [
        ("print('a')", 0, ""),
        ("print('a'); sys.exit(3)", 3, ""),
        ("print('a'); raise Failure('not done')", 1, "slipway: not done"),
        ("print('a', flush=True); sys.exit(3)", READER_GONE, ""),
        ("print('a' * 99_999); sys.exit(3)", READER_GONE, ""),
    ],
)
def test_the_code_of_a_command_that_has_ended_stays(body: str, code: int, says: str) -> None:
    """As the interpreter ends: it flushes standard output once more."""
    program = (
        "import sys\nfrom slipway.ending import exit_code\nfrom slipway.failure import Failure\n"
        f"def command():\n    {body}\nsys.exit(exit_code(command, []))\n"
    )
    reader, writer = os.pipe()
    os.close(reader)

    ran = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        env=BUFFERED,
    )
    os.close(writer)

    assert (ran.returncode, ran.stderr.strip()) == (code, says)
