"""A running job on a real Slurm is entered by the person's own srun: where it says, with what the job has."""

from __future__ import annotations

import asyncio
import os
import pty
import subprocess
from base64 import b32encode
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from secrets import token_bytes
from typing import Any

import pytest

from local.patience import Patience
from local.slurm import Slurm
from shared.core.errors import NotFound
from shared.core.job import JobState, Target
from shared.core.relations.entrance import Entrance
from shared.engines.slurm.engine import SlurmEngine
from slipway.client.entry.places import Place, place_of
from slipway.client.entry.ports import listener
from slipway.client.entry.program import NOTHING, entering
from slipway.client.entry.relay import relaying, serve
from slipway.client.entry.tools import Person, command
from tests.contract.slurm.on_slurm import PATIENCE, engine, order, until

pytestmark = pytest.mark.asyncio(loop_scope="session")

#: Of this process alone: other tests on this machine may have jobs of the same user and number.
JOB = "j_" + b32encode(token_bytes(15)).decode().lower()
#: What the app gives to every job, and what its author does.
OWN = {"SLIPWAY_JOB_ID": JOB, "SLIPWAY_ATTEMPT": "1", "COLOUR": "dark  blue", "CUDA_VISIBLE_DEVICES": ""}
CANARY = "canary-of-the-person"
LOCAL = {"local": True}
#: It shows its variables, and waits for a word.
_OWN = "$AZ_BATCHAI_STDOUTERR_DIR/%s-$AZ_BATCHAI_TASK_INDEX"
_JOB = f"env -0 >{_OWN % 'env'}; pwd >{_OWN % 'pwd'}; "
_WAITS = "until [ -e $AZ_BATCHAI_STDOUTERR_DIR/over ]; do sleep 0.2; done"


class Entered:
    """A job that runs, and the person who enters it."""

    def __init__(self, cluster: Slurm, entrances: Sequence[Entrance]) -> None:
        self._cluster, self.entrances = cluster, entrances
        self.places = [placed(rank, one) for rank, one in enumerate(entrances)]

    def words(self, words: Sequence[str], rank: int = 0, *, terminal: bool = False) -> list[str]:
        term = "xterm" if terminal else ""
        return self.tool(entering(JOB, 1, rank, words, term=term), rank, terminal=terminal)

    def tool(self, inner: Sequence[str], rank: int = 0, *, terminal: bool = False) -> list[str]:
        return command(self.places[rank], inner, Person(account=self._cluster.user), terminal=terminal)

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, **self._cluster.client_environment, "HF_TOKEN": CANARY}

    async def run(self, *words: str, rank: int = 0, data: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        return await asyncio.to_thread(
            subprocess.run,
            self.words(words, rank),
            input=data,
            capture_output=True,
            env=self.environment,
            check=False,
        )


@asynccontextmanager
async def running(
    cluster: Slurm, ends: str = _WAITS, enter: Mapping[str, Any] = LOCAL, token: str = "t.1"
) -> AsyncIterator[Entered]:
    """A job of two nodes with a process on each, until the block ends."""
    variables = [{"name": name, "value": value} for name, value in OWN.items()]
    secrets = [{"name": "JOB_SECRET", "value": "of the job"}]
    script = cluster.shared / f"entered-{abs(hash(ends))}.sh"
    script.write_text(_JOB + ends)
    block = {"pyTorchSettings": {"pythonScriptFilePath": str(script), "pythonInterpreterPath": "bash"}}
    async with engine(cluster, enter=enter) as slurm:
        job_order = order(block, token=token, nodeCount=2, environmentVariables=variables, secrets=secrets)
        target = job_order.target
        await slurm.submit(job_order)
        try:
            await until(slurm, target, lambda one: one is not None and one.state is JobState.RUNNING)
            patience = Patience(PATIENCE)
            while not {"pwd-0", "pwd-1"} <= (names := await listed(slurm, target)):
                assert not patience.is_over(names)
                await asyncio.sleep(0.1)
            ranks = [await slurm.entrance(target, job_order.document, rank) for rank in range(2)]
            yield Entered(cluster, ranks)
        finally:
            await slurm.cancel(target)
            await until(slurm, target, lambda one: one is not None and one.state.terminal)


async def listed(slurm: SlurmEngine, target: Target) -> set[str]:
    """The files that the job has written so far."""
    with suppress(NotFound):
        return {one.name for one in await slurm.files(target, "stdouterr") if one.size}
    return set()


def placed(rank: int, entrance: Entrance) -> Place:
    return place_of({"job": JOB, "attempt": 1, "rank": rank, entrance.tool: entrance.place})


async def test_what_is_started_there_has_the_jobs_own_variables_and_directory_and_nothing_of_the_person(
    cluster: Slurm,
) -> None:
    async with running(cluster) as entered:
        environment = await entered.run("env", "-0")
        own = await entered.run("sh", "-c", 'cat "$AZ_BATCHAI_STDOUTERR_DIR/env-0"')
        directory = await entered.run("sh", "-c", 'pwd; cat "$AZ_BATCHAI_STDOUTERR_DIR/pwd-0"')

    assert environment.stderr == b""
    its_own = variables(environment.stdout)
    assert {name: its_own.get(name) for name in OWN} == OWN
    assert its_own["JOB_SECRET"] == "of the job"
    assert its_own.pop("SLIPWAY_ENTERED") == "1"
    changed = {"_", "SHLVL", "PWD", "OLDPWD", "TERM", "AZ_BATCHAI_TASK_INDEX", "SLURM_PROCID"}
    job = variables(own.stdout)
    assert {n: v for n, v in its_own.items() if n not in changed and v != job.get(n)} == {}
    assert {n for n in job if n not in its_own} <= changed
    assert CANARY.encode() not in environment.stdout
    first, second = directory.stdout.decode().split()
    assert first == second


def variables(text: bytes) -> dict[str, str]:
    return dict(one.split("=", 1) for one in text.decode().split("\0") if "=" in one)


async def test_bytes_and_exit_codes_pass_and_a_step_that_fails_leaves_the_job_alone(cluster: Slurm) -> None:
    data = os.urandom(1 << 20) * 20
    async with running(cluster) as entered:
        copied = await entered.run("cat", data=data)
        failed = await entered.run("sh", "-c", "exit 7")
        unknown = await entered.run("no-such-program")
        after = await entered.run("true")

    assert copied.stdout == data
    assert (copied.returncode, failed.returncode, unknown.returncode, after.returncode) == (0, 7, 127, 0)
    assert b"no-such-program" in unknown.stderr


async def conversation(words: Sequence[str], env: Mapping[str, str]) -> list[bytes]:
    """What `cat` there answers to words without an end of a line, while its input stays open."""
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*words, stdin=pipe, stdout=pipe, env=env)
    assert process.stdin is not None
    assert process.stdout is not None
    answers = []
    for word in (b"a", b"bc", b"d"):
        process.stdin.write(word)
        await process.stdin.drain()
        answers.append(await process.stdout.readexactly(len(word)))
    process.stdin.close()
    await process.wait()
    return answers


async def test_bytes_pass_at_once_without_an_end_of_a_line(cluster: Slurm) -> None:
    async with running(cluster) as entered:
        answers = await conversation(entered.words(["cat"]), entered.environment)

    assert answers == [b"a", b"bc", b"d"]


async def test_each_rank_is_entered_on_its_own_node(cluster: Slurm) -> None:
    async with running(cluster) as entered:
        ranks = [await entered.run("printenv", "AZ_BATCHAI_TASK_INDEX", rank=rank) for rank in range(2)]
        nodes = [await entered.run("printenv", "SLURMD_NODENAME", rank=rank) for rank in range(2)]

    assert [one.stdout for one in ranks] == [b"0\n", b"1\n"]
    assert len({one.stdout for one in nodes}) == 2
    assert [place.values["node"].encode() + b"\n" for place in entered.places] == [n.stdout for n in nodes]


async def test_a_process_that_another_job_left_there_before_is_not_taken_for_the_job(cluster: Slurm) -> None:
    marks = {"SLIPWAY_JOB_ID": JOB, "SLIPWAY_ATTEMPT": "1", "AZ_BATCHAI_TASK_INDEX": "0"}
    planted = await asyncio.create_subprocess_exec(
        "sleep", "600", env={**os.environ, **marks, "COLOUR": "red"}
    )
    try:
        async with running(cluster) as entered:
            answer = await entered.run("printenv", "COLOUR")
    finally:
        planted.kill()
        await planted.wait()

    assert answer.stdout == b"dark  blue\n", answer.stderr


async def test_a_terminal_is_one_there_with_its_kind(cluster: Slurm) -> None:
    async with running(cluster) as entered:
        words = entered.words(["sh", "-c", "tty && echo $TERM && exit 9"], terminal=True)
        shown, code = await asyncio.to_thread(at_terminal, words, entered.environment)

    assert code == 9
    assert "/dev/pts/" in shown
    assert "xterm" in shown


def at_terminal(words: Sequence[str], env: dict[str, str]) -> tuple[str, int]:
    ours, theirs = pty.openpty()
    with subprocess.Popen(words, stdin=theirs, stdout=theirs, stderr=theirs, env=env) as process:
        os.close(theirs)
        shown = b""
        try:
            while data := os.read(ours, 4096):
                shown += data
        except OSError:
            pass
        os.close(ours)
        return shown.decode(), process.wait()


async def test_where_the_job_has_no_process_that_is_said(cluster: Slurm) -> None:
    async with running(cluster) as entered:
        words = entered.tool(entering(JOB, 2, 0, ["true"]))
        answer = await asyncio.to_thread(
            subprocess.run, words, capture_output=True, env=entered.environment, check=False
        )

    assert answer.returncode == NOTHING
    assert f"no process of attempt 2 of {JOB} runs here" in answer.stderr.decode()


_ECHO = """exec python3 -c '
import os, socketserver
class Echo(socketserver.StreamRequestHandler):
    def handle(self):
        data = self.rfile.read()
        self.wfile.write(data)
server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Echo)
out = os.environ["AZ_BATCHAI_STDOUTERR_DIR"] + "/port-" + os.environ["AZ_BATCHAI_TASK_INDEX"]
open(out, "w").write(str(server.server_address[1]))
server.serve_forever()
'"""


async def test_a_port_of_the_job_takes_and_gives_20_mb_on_several_connections(
    cluster: Slurm, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in cluster.client_environment.items():
        monkeypatch.setenv(name, value)
    data = os.urandom(1 << 20) * 20

    async def exchanged(port: int, content: bytes) -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(content)
        await writer.drain()
        writer.write_eof()
        result = await reader.read()
        writer.close()
        return result

    async with running(cluster, _ECHO) as entered:
        printed = "until [ -s $0/port-1 ]; do sleep 0.1; done; cat $0/port-1"
        directory = (await entered.run("printenv", "AZ_BATCHAI_STDOUTERR_DIR")).stdout.decode().strip()
        port = int((await entered.run("sh", "-c", printed, directory)).stdout)
        words = entered.tool(relaying(port), 1)
        own = listener(7000)
        async with serve(own, words):
            local = own.getsockname()[1]
            answers = await asyncio.gather(*(exchanged(local, part) for part in (b"one", b"two", data)))

    assert answers == [b"one", b"two", data]


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
async def test_another_user_is_refused_in_the_words_of_slurm(cluster: Slurm) -> None:
    async with running(cluster) as entered:
        answer = await asyncio.to_thread(
            subprocess.run,
            entered.words(["true"]),
            capture_output=True,
            env=cluster.client_environment,
            user="nobody",
            check=False,
        )

    assert answer.returncode != 0
    assert b"denied" in answer.stderr
