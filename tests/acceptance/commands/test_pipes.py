"""Every command as a script runs it: no colours, no bars, JSON that parses; and lists on 60 columns."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio
from typer.testing import CliRunner, Result

from slipway.cli_page import commands
from slipway.main import app
from slipway.terminal.screen import cells
from tests.acceptance.door import Door, shell, unique

ROOT = Path(__file__).resolve().parents[3]
pytestmark = pytest.mark.asyncio(loop_scope="session")

COMMANDS = commands()
#: Words after each command, each of which runs without the others. {job} has ended; {new} is not there yet.
WORDS = {
    "version": "",
    "init": "python --to {new}",
    "validate": "{folder}/job/job.json",
    "explain": "{folder}/job/job.json",
    "doctor": "",
    "overview": "",
    "jobs": "--limit 5",
    "show": "{job}",
    "log": "{job}",
    "wait": "{job}",
    "metrics": "{job}",
    "files": "{job} --tree",
    "download": "{job} --to {folder}/home",
    "cat": "{job} stdout.txt",
    "receipt": "{job}",
    "support": "{job} --to {folder}/support.zip",
    "nodes": "",
    "audit": "",
    "events list": "{job}",
    "events redeliver": "{job}",
    "events test": "http://127.0.0.1:9/",
    "events disabled": "",
    "dead list": "",
    "costs": "--by job",
    "teams show": "",
    "teams usage": "",
    "teams apply": "{folder}/teams.json",
    "teams key": "ann",
    "trail": "",
    "submit": "{folder}/job/job.json",
    "drop": "{folder}/job",
    "enqueue": "{folder}/message.json",
    "rerun": "{folder}/receipt.json",
    "run": "{folder}/train.py --to {folder}/out",
    "sweep show": "{sweep}",
    "sweep cancel": "{sweep}",
    "cancel": "{job}",
    "release": "{job}",
    "pause": "--all --reason pipes",
    "priority": "{job} normal",
    "resume": "--all",
    "data put": "{folder}/train.py --container {container}",
    "data ls": "--container {container}",
    "data rm": "train.py --dry-run --container {container}",
    "data get": "train.py --to {folder}/data --container {container}",
    "logout": "",
}
#: Those that print an object on each line.
GO_ON = ("run", "log")
#: Those that wait for a whole job, as a quick look has them do once.
RUN = ("run", "drop")
#: Those that end with 1 here: nothing listens there, and no profile is logged in.
FAIL = ("events test", "logout")
#: Those that are not run here, and what tries them.
EXEMPT = {
    "code": "it needs a job that brought its code: tests/acceptance/test_run.py",
    "up": "it runs until Ctrl-C: tests/acceptance/test_up.py",
    "demo": "it brings up a stack of its own: tests/acceptance/test_demo.py",
    "shell": "it runs ssh, kubectl or srun: tests/acceptance/commands/test_shell.py",
    "forward": "it runs until Ctrl-C: tests/unit/slipway/client/entry/test_ports.py",
    "ssh-config": "it writes a file for ssh: tests/unit/slipway/client/entry/test_ssh_config.py",
    "tensorboard": "it runs until Ctrl-C: tests/acceptance/commands/test_tensorboard.py",
    "prices": "it asks Azure: tests/unit/slipway/commands/prices/test_prices.py",
    "setup": "it makes resources of a subscription: tests/unit/slipway/stack/test_setup.py",
    "preempt": "it takes a node of the local stack away: tests/unit/slipway/commands/preempt/test_preempt.py",
    "az-env": "it prints lines for a shell to read, of `slipway up` only: tests/acceptance/az",
    "skill": "it prints a text, always the same: tests/unit/slipway/commands/test_skill.py",
    "mcp": "it serves a client: tests/slow/slipway/test_mcp.py",
    "completion": "it prints a script for a shell to read: tests/slow/slipway/test_main.py",
    "emulate batch": "it runs until Ctrl-C: tests/slow/slipway/test_emulate.py",
    **dict.fromkeys(("backup make", "backup restore"), "the app is stopped: tests/contract/test_backup.py"),
    "login": "it asks for a key: tests/acceptance/entra/test_login.py",
    "dead redrive": "it needs a dead letter: tests/acceptance/test_dead.py",
}
#: Those whose lines fit 60 columns of a terminal.
TABLES = (
    "jobs --limit 5",
    "nodes",
    "files {job} --tree",
    "events list {job}",
    "dead list",
    "metrics {job}",
    "sweep show {sweep}",
)


@dataclass(frozen=True)
class Shop:
    """What the words stand for, and the settings of the stack."""

    values: dict[str, str]
    settings: str

    def argv(self, name: str, words: str, *more: str) -> list[str]:
        options = {one for item in COMMANDS[name].params for one in item.opts}
        settings = ["--settings", self.settings] if "--settings" in options and name != "preempt" else []
        values = {**self.values, "new": f"{self.values['folder']}/{unique('new')}"}
        return [*name.split(), *settings, *words.format(**values).split(), *more]

    async def run(self, name: str, *more: str) -> Result:
        """What a command does; submissions go on after it."""
        try:
            return await piped(self.argv(name, WORDS[name], *more))
        finally:
            if name == "pause":
                await piped(self.argv("resume", "--all"))


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def shop(door: Door, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Shop]:
    folder, container = tmp_path_factory.mktemp("pipes"), unique("data")
    await door.blobs.create_container(container)
    (folder / "job").mkdir()
    document = shell("""echo printed; echo '{"slipway": {"epoch": 1, "loss": 0.5}}'""")
    (folder / "job" / "job.json").write_text(json.dumps(document))
    (folder / "message.json").write_text(json.dumps({"spec": document}))
    (folder / "train.py").write_text("print('trained')\n")
    (folder / "teams.json").write_text("{}")
    await door.blobs.get_blob_client(container, "train.py").upload_blob(b"print('trained')\n")
    (folder / "settings.json").write_text(json.dumps({"Values": dict(door.stack.settings)}))
    _, job, _ = await door.call("POST", "jobs", document)
    await door.ended(id=job["id"])
    async with asyncio.timeout(60):
        while (await door.call("GET", f"jobs/{job['id']}/receipt", None))[0] != 200:  # noqa: ASYNC110
            await asyncio.sleep(0.2)
    async with door.http.get(f"/api/jobs/{job['id']}/receipt") as answer:
        (folder / "receipt.json").write_bytes(await answer.read())
    sweep = {"spec": document, "name": "pipes", "sweep": {"lr": [0.1, 0.2]}, "parallel": 1}
    _, begun, _ = await door.call("POST", "sweeps", sweep)
    values = {"job": job["id"], "folder": str(folder), "container": container, "sweep": begun["sweepId"]}
    yield Shop(values, str(folder / "settings.json"))


@pytest.fixture(autouse=True)
def environment(door: Door, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SLIPWAY_URL", door.stack.host_url)
    monkeypatch.setenv("SLIPWAY_KEY", door.key)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("TERM", "xterm-256color")
    for name in ("NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "SLIPWAY_PROFILE"):
        monkeypatch.delenv(name, raising=False)


async def piped(argv: list[str]) -> Result:
    return await asyncio.to_thread(CliRunner().invoke, app, argv)


async def test_every_command_is_run_here_or_says_what_runs_it() -> None:
    assert not WORDS.keys() & EXEMPT.keys()
    assert {*WORDS, *EXEMPT} == set(COMMANDS)
    for reason in EXEMPT.values():
        place = reason.rpartition(": ")[2]
        assert (ROOT / place).exists(), place


@pytest.mark.parametrize("name", WORDS)
async def test_what_a_pipe_gets_is_plain(name: str, shop: Shop) -> None:
    result = await shop.run(name)

    assert result.exit_code == int(name in FAIL), (result.output, result.exception)
    assert not set(result.output) & {"\x1b", "\r", "━", "█", "⠋"}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.thorough] if name in RUN else [])
        for name in WORDS
        if any("--json" in item.opts for item in COMMANDS[name].params)
    ],
)
async def test_what_a_program_gets_parses(name: str, shop: Shop) -> None:
    result = await shop.run(name, "--json")

    assert result.exit_code == int(name in FAIL), (result.output, result.exception)
    if name in GO_ON:
        assert all(isinstance(json.loads(line), dict) for line in result.stdout.splitlines())
    elif name == "logout":
        assert result.stdout == ""  # no profile is logged in
    else:
        assert isinstance(json.loads(result.stdout), dict | list)


@pytest.mark.parametrize("words", TABLES)
async def test_a_list_fits_a_terminal_of_60_columns_without_colours_where_none_are_wanted(
    words: str, shop: Shop
) -> None:
    shown = await terminal(words.format(**shop.values).split(), 60)

    assert shown
    assert "\x1b" not in shown
    assert [line for line in shown.splitlines() if cells(line) > 60] == []


async def terminal(argv: list[str], columns: int) -> str:
    """What a command shows on a terminal so wide whose user wants no colours."""
    import fcntl
    import struct
    import termios

    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    command = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "slipway.main", *argv),
        env={**os.environ, "NO_COLOR": "1", "COLUMNS": str(columns), "PYTHONPATH": str(ROOT)},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=theirs,
        stderr=asyncio.subprocess.DEVNULL,
    )
    os.close(theirs)
    reading = asyncio.create_task(asyncio.to_thread(_drain, ours))
    assert await command.wait() == 0, await reading
    return (await reading).replace("\r\n", "\n")


def _drain(descriptor: int) -> str:
    parts = []
    try:
        while part := os.read(descriptor, 65536):
            parts.append(part)
    except OSError:  # the other end is closed
        pass
    finally:
        os.close(descriptor)
    return b"".join(parts).decode()
