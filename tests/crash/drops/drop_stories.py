"""Stories of drops whose files arrive one by one, and of which only events tell: no inventory runs."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Mapping
from typing import Any

from shared.core.ports import BlobPage
from shared.intake.arrive import blob_arrived
from tests.crash.harness import Message, Run
from tests.crash.stories import HOOK, Story
from tests.doubles.memory import MemoryDrops
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
#: More turns of the event loop than a look at a folder takes.
_TURNS = 40


class _Slow(MemoryDrops):
    """Others get their turns while a list is on its way."""

    async def page(self, prefix: str, *, deep: bool = True, after: str = "") -> BlobPage:
        page = await super().page(prefix, deep=deep, after=after)
        for _ in range(_TURNS // 2):
            await asyncio.sleep(0)
        return page


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
    """A script is written while the folder is listed for another one, which is quiet."""
    run.inventories = False
    run.world.drops = _Slow(run.world.clock)
    run.world.use(drops=run.world.drops)
    run.renew()
    run.world.drops.upload("t/job.json", _TEMPLATE)
    run.world.drops.upload("t/a/slipway.json", _ENVELOPE)
    run.world.drops.upload("t/a/train1.py", b"1")
    run.messages.append(Message(lambda ports: blob_arrived(ports, "scripts", "t/a/train1.py"), twin=True))
    run.messages.append(_file(run, "t/a/train2.py", b"2", twin=True, turns=10))


def _one_a_round(run: Run) -> None:
    """Scripts below a template that arrive long after each other: an order for one is not another's."""
    run.inventories = False
    run.world.drops.upload("t/job.json", _TEMPLATE)
    run.world.drops.upload("t/a/slipway.json", _ENVELOPE)

    def after(rounds: int, message: Message) -> Message:
        async def wait(ports: Any) -> None:
            run.messages.append(after(rounds - 1, message) if rounds else message)

        return Message(wait)

    for number in range(4):
        run.messages.append(
            after(2 * number, _file(run, f"t/a/train{number}.py", b"%d" % number, twin=False))
        )


def _again_and_again(run: Run) -> None:
    """Each event comes a second time, much later."""
    _of_job(run)
    late = list(run.messages)

    async def repeat(ports: Any) -> None:
        run.messages += late

    run.messages.append(Message(repeat))


def drop_by_chance(run: Run, dice: random.Random) -> int:
    """Add a few drops: files in any order, each event up to three times. Returns how many runs they are."""
    drops = dice.randint(1, 2)
    for number in range(drops):
        files = {"slipway.json": _ENVELOPE, "job.json": _JOB, "train.py": b"1", "a.csv": b"1", "b.csv": b"2"}
        for name, body in files.items():
            one = _file(
                run, f"d{number}/{name}", body, twin=dice.random() < 0.5, turns=dice.randint(0, _TURNS)
            )
            run.messages += [one] * dice.randint(1, 3)
    dice.shuffle(run.messages)
    run.inventories = dice.random() < 0.5
    return drops


DROPS = (
    Story("a drop of which only events tell", _of_job),
    Story(
        "a drop of which only events tell, all at once", lambda run: _of_job(run, twin=True), together=True
    ),
    Story("scripts below a template", _of_template, 2, 2),
    Story(
        "scripts below a template, all at once", lambda run: _of_template(run, twin=True), 2, 2, together=True
    ),
    Story("a script that is written during a look", _during_a_look, 2, 2, together=True),
    Story("scripts below a template that arrive one a round", _one_a_round, 4, 4),
    Story("a drop whose events come again", _again_and_again),
)
