"""Every command against a deployment on any host, in the order of a day's work: `SLIPWAY_HOST_COMMAND`."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from slipway.cli_page import commands
from tests.acceptance.door import Door, unique

ROOT = Path(__file__).resolve().parents[3]
#: Commands that no host has a part in, each with the reason.
ELSEWHERE: Mapping[str, str] = {
    "up": "starts a stack with a host of its own, and runs until Ctrl-C",
    "demo": "starts a stack with a host of its own",
    "setup": "makes the resources of a deployment, which this one has",
    "az-env": "asks a stack of `up` for its addresses",
    "preempt": "asks the emulator alone, for nodes that this cluster does not have",
    "shell": "enters a job while it runs: tests/acceptance/slurm/test_slurm_shell.py",
    "ssh-config": "prepares a job that runs: tests/slow/slipway/client/entry/test_ssh_config.py",
    "forward": "goes on until its job has ended: tests/acceptance/slurm/test_slurm_shell.py",
    "tensorboard": "runs a person's own TensorBoard until Ctrl-C",
    "backup make": "reads the table of storage, while the app is still: tests/contract/test_backup.py",
    "backup restore": "writes a table of storage: tests/contract/test_backup.py",
    "emulate batch": "runs an emulator until Ctrl-C",
    "prices": "asks Azure's public list",
    "mcp": "serves a client over standard input: tests/slow/slipway/test_mcp.py",
}
#: A line: `?` where both codes 0 and 1 are good, `!` where 1 is; a command; and `=> NAME`, under which the id
#: in its JSON is kept for the lines behind it. Words in capitals are places and names of this walk.
WALK = """
version --json
completion bash
skill
init python --to made
init sweep --to swept
validate HELLO
validate --format json HELLO
! validate MISTAKES
explain HELLO
explain --json --url URL HELLO
explain made
login URL/API/UI/ --name walk
? doctor --json
submit HELLO --json => JOB
wait JOB
jobs
jobs --json --limit 3
jobs --state active,succeeded --name hello* --utc
show JOB
show JOB --json
? code JOB --list
log JOB
log JOB --follow
log JOB --tail 1 --grep line
log JOB --json
files JOB
files JOB --tree --json
cat JOB stdout.txt
download JOB --to fetched
download JOB --to fetched --json stdouterr/stdout.txt
receipt JOB > receipt.json
support JOB --to helped.zip
support JOB --to helped.zip --json
rerun receipt.json --json => AGAIN
wait AGAIN
rerun RECEIPT
run FOLDER --to results -- --lr 0.1
run FOLDER --detach --json
wait last
metrics last
metrics last loss --json
files last MODEL
cat last MODEL/model.json
download last MODEL/model.json --to again
drop made --to DROPPED
drop made --to DROPPED-2 --follow
enqueue MESSAGE
enqueue MESSAGE --idempotency-key KEY --json
pause --all --reason "é + & = ?"
submit HELLO --json => WAITS
show WAITS
priority WAITS high
priority WAITS low --json
pause WAITS --reason "the data is late"
pause WAITS --json
resume WAITS
cancel WAITS
resume --all --json
submit SLOW --json => SLOW
cancel SLOW --json
! wait SLOW
release SLOW
release SLOW --json
events test HOOK
submit NOTIFYING --json => TOLD
wait TOLD
events list TOLD
events list TOLD --json --utc
events redeliver TOLD
events disabled
events disabled --json
submit swept/sweep.json --json => SWEEP
sweep show SWEEP
sweep show SWEEP --json
jobs --sweep SWEEP
wait last
sweep show SWEEP --best loss
sweep show SWEEP --best loss --max --json
sweep cancel SWEEP
data put DATA --to walk --json
data ls walk
data ls walk --tree --json --utc
data get walk --to got
data rm walk --dry-run --json
data rm walk --yes
teams show --json
teams apply TEAMS --dry-run
teams apply TEAMS
teams show
teams usage --json
teams usage --by owner
teams key ann --json
teams apply NO_TEAMS --json
costs --json
costs
overview --json
overview --scope mine --since 7d --utc
trail --json
trail --limit 3 --utc
? audit
? audit --json
dead list
dead list --json --utc
dead redrive all
nodes
nodes --json
logout walk
"""
_LINE = re.compile(r"(?:([?!]) )?(.+?)(?: > (\S+))?(?: => ([A-Z]+))?")
_WORD = re.compile(r"\b[A-Z][A-Z_]+\b")


def _steps() -> list[tuple[tuple[int, ...], str, str, str]]:
    """The exit codes that are good, the command, the file for its output, and the name of the id in it."""
    steps = []
    for line in WALK.strip().splitlines():
        match = _LINE.fullmatch(line)
        assert match is not None
        codes = {"?": (0, 1), "!": (1,), None: (0,)}[match[1]]
        steps.append((codes, match[2], match[3] or "", match[4] or ""))
    return steps


def test_each_command_is_part_of_the_walk_or_has_a_reason_not_to_be() -> None:
    lines = [line for _, line, _, _ in _steps()]
    walked = {name for name in commands() if any(f"{line} ".startswith(f"{name} ") for line in lines)}

    assert {*commands()} - walked == ELSEWHERE.keys()
    assert walked.isdisjoint(ELSEWHERE)
    assert len(lines) > 84


def _script(folder: Path) -> None:
    folder.mkdir()
    (folder / "train.py").write_text(
        "import json, os, pathlib\n"
        "print(json.dumps({'slipway': {'epoch': 0, 'loss': 0.5}}))\n"
        "pathlib.Path(os.environ['AZ_BATCHAI_OUTPUT_MODEL'], 'model.json').write_text('{}')\n"
    )


def _places(door: Door, folder: Path) -> dict[str, str]:
    """What stands for the words in capitals; the files are made."""
    hello = json.loads((ROOT / "examples" / "hello" / "job.json").read_text(encoding="utf-8"))
    slow = json.loads(json.dumps(hello).replace("sleep 1", "sleep 60"))
    name = unique("walk")
    _script(folder / name)
    documents: Mapping[str, Any] = {
        "MESSAGE": {"name": f"{name}-message", "spec": hello},
        "SLOW": {"name": f"{name}-slow", "spec": slow},
        "NOTIFYING": {"name": f"{name}-told", "spec": hello, "notify": [door.hook(name)]},
        "TEAMS": {"teams": {"vision": {"members": [{"key": "ann"}]}, "everyone": {}}, "default": "everyone"},
        "NO_TEAMS": {"teams": {}},
    }
    for word, document in documents.items():
        (folder / f"{word.lower()}.json").write_text(json.dumps(document), encoding="utf-8")
    (folder / "data.csv").write_text("1,2\n", encoding="utf-8")
    return {
        **{word: f"{word.lower()}.json" for word in documents},
        **{"HELLO": str(ROOT / "examples/hello/job.json"), "URL": door.stack.host_url, "DATA": "data.csv"},
        **{"MISTAKES": str(ROOT / "examples/mistakes/job.json"), "FOLDER": name, "DROPPED": f"{name}-d"},
        **{"KEY": f"{name}-key", "HOOK": door.hook(name)["url"]},
    }


@pytest.mark.asyncio(loop_scope="session")
@pytest.mark.thorough
async def test_each_command_of_the_walk_ends_as_it_should(door: Door, tmp_path: Path) -> None:
    places = _places(door, tmp_path)
    ours = {name: text for name, text in door.stack.settings.items() if name.startswith("SLIPWAY_")}
    environment = os.environ | ours | {"SLIPWAY_URL": door.stack.host_url, "SLIPWAY_KEY": door.key}
    environment |= {"XDG_CONFIG_HOME": str(tmp_path / "config"), "COLUMNS": "100"}

    for codes, line, file, name in _steps():
        words = [_WORD.sub(lambda match: places.get(match[0], match[0]), word) for word in shlex.split(line)]
        command = await asyncio.create_subprocess_exec(
            *(*door.slipway, *words),
            cwd=tmp_path,
            env=environment,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        output, remarks = await command.communicate(f"{door.key}\n".encode())
        assert command.returncode in codes, (line, words, output.decode(), remarks.decode())
        if file:
            (tmp_path / file).write_bytes(output)
            places["RECEIPT"] = json.loads(output)["receipt"]
        if name:
            document = json.loads(output)
            places[name] = str(document.get("id") or document["sweepId"])
