"""Stories of drops whose files arrive one by one, and of which only events tell: no inventory runs."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from shared.intake.arrive import blob_arrived
from tests.crash.harness import Message, Run
from tests.crash.stories import HOOK, Story
from tests.unit.world import job_json

_JOB = json.dumps(
    job_json(
        customToolkitSettings={"commandLine": "python <SLIPWAY_FOLDER>/train.py --data <SLIPWAY_FOLDER>"}
    )
).encode()
_TEMPLATE = json.dumps(
    job_json(customToolkitSettings={"commandLine": "python <SLIPWAY_SCRIPT:train*.py>"})
).encode()
_ENVELOPE = json.dumps({"notify": [HOOK]}).encode()
#: More turns of the event loop than a look at a folder takes over memory.
_TURNS = 40


def _file(run: Run, name: str, body: bytes, *, twin: bool, turns: int = 0) -> Message:
    """A file that is written some turns after the others, once, and whose event comes until it is handled."""
    written: list[str] = []

    async def arrive(ports: Any) -> None:
        for _ in range(0 if written else turns):
            await asyncio.sleep(0)
        if not written:
            written.append(name)
            run.world.drops.upload(name, body)
        await blob_arrived(ports, "scripts", name)

    return Message(arrive, twin)


def _files(run: Run, files: Mapping[str, bytes], *, twin: bool = False) -> None:
    run.inventories = False
    run.messages += [_file(run, name, body, twin=twin) for name, body in files.items()]


def _of_job(run: Run, *, twin: bool = False) -> None:
    """A job among data that it does not name, its script last."""
    files = {"d/a.csv": b"1", "d/slipway.json": _ENVELOPE, "d/job.json": _JOB, "d/b.csv": b"2"}
    _files(run, {**files, "d/train.py": b"print(1)", "d/c.csv": b"3"}, twin=twin)


def _of_template(run: Run, *, twin: bool = False) -> None:
    """Two scripts below a template, and a helper that does not match it."""
    files = {"t/job.json": _TEMPLATE, "t/a/slipway.json": _ENVELOPE, "t/a/train1.py": b"1"}
    _files(run, {**files, "t/a/tools.py": b"2", "t/a/train2.py": b"3"}, twin=twin)


def _during_a_look(run: Run) -> None:
    """The script is written while the look that the job.json caused is under way, at any of its calls."""
    run.inventories = False
    run.world.drops.upload("d/slipway.json", _ENVELOPE)
    run.messages.append(_file(run, "d/job.json", _JOB, twin=True))
    run.messages += [_file(run, "d/train.py", b"print(1)", twin=True, turns=n) for n in range(0, _TURNS, 5)]


def _again_and_again(run: Run) -> None:
    """Each event comes a second time, much later."""
    _of_job(run)
    late = list(run.messages)

    async def repeat(ports: Any) -> None:
        run.messages += late

    run.messages.append(Message(repeat))


DROPS = (
    Story("a drop of which only events tell", _of_job),
    Story(
        "a drop of which only events tell, all at once", lambda run: _of_job(run, twin=True), together=True
    ),
    Story("scripts below a template", _of_template, 2, 2),
    Story(
        "scripts below a template, all at once", lambda run: _of_template(run, twin=True), 2, 2, together=True
    ),
    Story("a script that is written during a look", _during_a_look, together=True),
    Story("a drop whose events come again", _again_and_again),
)
