"""One act of a person has one name: every command and every method of the client loses each answer once.

What has happened then, and what is printed, is what happens where no answer is lost. The list is made from
the code: a new command, or method, has to be added here, or to what goes past the API with its reason.
"""

from __future__ import annotations

import asyncio
import inspect
import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from slipway import Client, Job, Sweep
from slipway.cli_page import commands
from slipway.client.calls.patience import patience
from slipway.main import main
from tests.breadth import pairs
from tests.doubles.patience import Waits
from tests.unit.functions.calls import use
from tests.unit.slipway.lossy import LOSSES, Loss, losing, outcome
from tests.unit.slipway.scene import MESSAGE, SWEEP, Scene
from tests.unit.world import World

#: Those that send files and messages to storage.
STORAGE = "tests/acceptance/commands/test_lost_answers.py"
#: Commands that only ask the API, as a person writes them.
READS = {
    "audit": "audit",
    "cat": "cat RAN stdout.txt",
    "costs": "costs",
    "dead list": "dead list --utc",
    "download": "download RAN --to FOLDER/out",
    "events disabled": "events disabled",
    "events list": "events list RAN --utc",
    "explain": "explain FOLDER/message.json",
    "files": "files RAN",
    "jobs": "jobs --utc",
    "log": "log RAN --follow",
    "metrics": "metrics RAN",
    "nodes": "nodes",
    "overview": "overview --utc",
    "receipt": "receipt RAN",
    "show": "show RAN --utc",
    "sweep show": "sweep show SWEEP",
    "teams show": "teams show",
    "teams usage": "teams usage",
    "trail": "trail",
    "wait": "wait RAN",
}
#: Commands that change something by the API, or by what it answers.
CHANGES = {
    "cancel": "cancel WAITS",
    "dead redrive": "dead redrive DEAD",
    "events redeliver": "events redeliver RAN",
    "events test": "events test HOOK",
    "login": "login URL",
    "pause": "pause --all --reason upgrade",
    "priority": "priority LATER high",
    "release": "release HELD",
    "rerun": "rerun FOLDER/receipt.json",
    "resume": "resume --all",
    "submit": "submit FOLDER/message.json",
    "sweep cancel": "sweep cancel SWEEP",
    "teams apply": "teams apply FOLDER/teams.json",
}
#: Further words for the same commands.
MORE = {
    "cancel all": "cancel --state active --yes",
    "dead redrive all": "dead redrive all",
    "pause one": "pause LATER --reason upgrade",
    "resume one": "resume LATER",
    "events redeliver one": "events redeliver EVENT",
    "submit a sweep": "submit FOLDER/sweep.json",
}
_LOCAL = "changes nothing but files of this machine"
#: Commands that do not ask the API, or do not repeat what they ask: why, or which test is theirs.
OTHERS = {
    **dict.fromkeys(
        ("az-env", "completion", "skill", "init", "logout", "teams key", "validate", "version"), _LOCAL
    ),
    **dict.fromkeys(("demo", "emulate batch", "tensorboard", "up"), "starts programs of this machine"),
    **dict.fromkeys(("forward", "shell", "ssh-config"), "starts a tool in a job, which repeats nothing"),
    **dict.fromkeys(("code", "data get", "data ls", "data put", "drop", "enqueue", "run"), STORAGE),
    "data rm": "tests/contract/test_data_rm.py",
    "doctor": "reports what is, and so repeats nothing",
    "mcp": "runs the other commands: tests/slow/slipway/test_mcp.py",
    "preempt": "tests/unit/slipway/commands/preempt/test_preempt.py",
    "prices": "reads the price list of Azure",
    "setup": "makes what is missing, each time",
    **dict.fromkeys(("backup make", "backup restore"), "the table of storage: tests/contract/test_backup.py"),
    "support": "reports what is, and so repeats nothing",
}
Method = Callable[[Client, "Scene"], Any]
READING: dict[str, Method] = {
    "Client.job": lambda client, _: client.job("ran").id,
    "Client.jobs": lambda client, _: [job.id for job in client.jobs()],
    "Client.sweep": lambda client, _: client.sweep("last").id,
    "Job.curves": lambda client, scene: scene.ran(client).curves(),
    "Job.details": lambda client, scene: scene.ran(client).details().state,
    "Job.download": lambda client, scene: scene.ran(client).download(to=scene.folder / "out").name,
    "Job.event_files": lambda client, scene: scene.ran(client).event_files(scene.folder / "out").name,
    "Job.files": lambda client, scene: [file.name for file in scene.ran(client).files()],
    "Job.log": lambda client, scene: logged(scene.ran(client)),
    "Job.metrics": lambda client, scene: len(scene.ran(client).metrics()),
    "Job.result": lambda client, scene: scene.ran(client).result().state,
    "Job.wait": lambda client, scene: scene.ran(client).wait().state,
    "Sweep.best": lambda client, scene: client.sweep(scene.values["SWEEP"]).best("loss"),
    "Sweep.details": lambda client, scene: client.sweep(scene.values["SWEEP"]).details().total,
    "Sweep.jobs": lambda client, scene: len(client.sweep(scene.values["SWEEP"]).jobs()),
    "Sweep.wait": lambda client, scene: client.sweep(scene.values["ENDED"]).wait().state,
}
CHANGING: dict[str, Method] = {
    "Client.cancel_jobs": lambda client, _: cancelled(client),
    "Client.submit": lambda client, _: client.submit(MESSAGE).id,
    "Client.submit_sweep": lambda client, _: client.submit_sweep(SWEEP).id,
    "Job.cancel": lambda client, scene: client.job(scene.values["WAITS"]).cancel().state,
    "Job.release": lambda client, scene: client.job(scene.values["HELD"]).release().state,
    "Job.rerun": lambda client, scene: scene.ran(client).rerun(idempotency_key="again").id,
    "Sweep.cancel": lambda client, scene: client.sweep(scene.values["SWEEP"]).cancel().state,
}
#: Methods past the API.
OTHER_METHODS = {"Client.run": STORAGE}


def cancelled(client: Client) -> object:
    jobs = client.jobs(state="active")
    return client.cancel_jobs(state="active", expected=len(jobs))


def logged(job: Job) -> str:
    stream = io.StringIO()
    job.log(to=stream)
    return stream.getvalue()


Act = Callable[[Scene, str], Any]


async def in_a_world(scene: Scene, act: Act, loss: Loss) -> tuple[str, Any]:
    """What an act gives, and what has happened then."""
    with patience(Waits().patience()):
        async with losing(loss) as (url, network):
            result = await asyncio.to_thread(act, scene, url)
    assert network.arrived
    assert all(count == 1 + bool(loss) for count in network.arrived.values()), network.arrived
    return scene.plain(repr(result), url), await outcome(scene.world)


async def check(act: Act, loss: Loss, *, reads: bool, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether an act whose answers are lost does what it does otherwise.

    What only reads does it twice in the same world, which shows that it changes nothing.
    """
    results = []
    scene: Scene | None = None
    hows: tuple[Loss, ...] = ("", loss)
    for how in hows:
        if scene is None or not reads:
            use(world := World(), monkeypatch)
            scene = await Scene.set_up(world)
        scene.move(folder / (how or "usual"))
        results.append(await in_a_world(scene, act, how))
    usual, lossy = results
    assert lossy == usual


def of_command(line: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Act:
    def act(scene: Scene, url: str) -> Any:
        monkeypatch.setenv("XDG_CONFIG_HOME", str(scene.folder / "config"))
        monkeypatch.setattr(sys, "argv", ["slipway", *scene.words(line, url)])
        monkeypatch.setattr(sys, "stdin", io.StringIO("\n"))
        with pytest.raises(SystemExit) as end:
            main()
        captured = capsys.readouterr()
        return end.value.code, captured.out, captured.err

    return act


@pytest.mark.parametrize(("loss", "name"), pairs(LOSSES, [*READS, *CHANGES, *MORE]))
async def test_a_command_whose_answers_are_lost_does_what_it_does_otherwise(
    name: str,
    loss: Loss,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    act = of_command({**READS, **CHANGES, **MORE}[name], capsys, monkeypatch)

    await check(act, loss, reads=name in READS, folder=tmp_path, monkeypatch=monkeypatch)


@pytest.mark.parametrize(("loss", "name"), pairs(LOSSES, [*READING, *CHANGING]))
async def test_a_method_whose_answers_are_lost_does_what_it_does_otherwise(
    name: str, loss: Loss, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def act(scene: Scene, url: str) -> Any:
        return {**READING, **CHANGING}[name](Client(url), scene)

    await check(act, loss, reads=name in READING, folder=tmp_path, monkeypatch=monkeypatch)


def test_every_command_and_every_method_of_the_client_is_listed() -> None:
    methods = {
        f"{kind.__name__}.{name}"
        for kind in (Client, Job, Sweep)
        for name, _ in inspect.getmembers(kind, callable)
        if not name.startswith("_")
    }

    assert {*READS, *CHANGES, *OTHERS} == {*commands()}
    assert len(commands()) == len(READS) + len(CHANGES) + len(OTHERS)
    assert {*READING, *CHANGING, *OTHER_METHODS} == methods
    for test in {STORAGE, OTHERS["preempt"]}:
        assert (Path(__file__).parents[3] / test).is_file()
