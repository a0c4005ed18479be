"""Every door takes every feature of a message beside every other, and all doors judge the message alike."""

from __future__ import annotations

import ast
import base64
import json
from collections.abc import Awaitable, Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import azure.functions as func
import pytest

from functions.openapi.elements import JOB_DOCUMENT, OPERATIONS
from shared.core.job import Job, JobState
from shared.core.notify.webhook_url import safe_url
from shared.core.teams.document import Quota, Team
from shared.intake.drops.explained import explain_folder
from shared.intake.drops.inventory import inventory
from shared.jobspec import Envelope
from tests.breadth import rounds
from tests.unit.functions.calls import call, use
from tests.unit.functions.features import (
    FEATURES,
    IMPOSSIBLE,
    OF_MESSAGE,
    OF_QUOTA,
    OF_TEAM,
    Scene,
    earlier_jobs,
)
from tests.unit.routes import BY_EVENT
from tests.unit.world import World

ROOT = Path(__file__).resolve().parents[3]
JSON = {"Content-Type": "application/json"}
EVENT = {"specversion": "1.0", "type": "io.slipway.job.submit.v1", "source": "/ci", "id": "1"}
#: What an impatient caller is told instead of being accepted: the queue keeps such a message.
_LATER = 429


class Verdict(NamedTuple):
    """Whether a door takes a message for one that may run, and what is wrong with it otherwise."""

    valid: bool
    errors: frozenset[str] = frozenset()


Door = Callable[[Scene], Awaitable[Verdict]]


def verdict_of(problems: list[dict[str, Any]]) -> Verdict:
    codes = frozenset(one["code"] for one in problems if one["severity"] == "error")
    return Verdict(not codes, codes)


async def _posted(name: str, scene: Scene, query: str = "", **headers: str) -> tuple[int, dict[str, Any]]:
    answer = await call("POST", f"/api/{OPERATIONS[name].route}{query}", {**JSON, **headers}, scene.text)
    assert answer.status_code < 500, f"{name}: {answer.get_body().decode()}"
    assert b"canary" not in answer.get_body(), f"{name} shows a secret"
    return answer.status_code, json.loads(answer.get_body()) if "json" in answer.mimetype else {}


async def by_post(scene: Scene) -> Verdict:
    """To the call for jobs, or to the one for sweeps; the other one refuses what is not for it."""
    calls = ["post_sweep", "post_job"] if "sweep" in scene.message else ["post_job", "post_sweep"]
    status, answer = await _posted(calls[0], scene)
    wrong, _ = await _posted(calls[1], scene)
    assert wrong in (400, 422, _LATER)
    if status == _LATER:
        return Verdict(valid=True)
    return verdict_of(answer.get("errors", []))


async def by_validate(scene: Scene) -> Verdict:
    status, answer = await _posted("validate", scene)
    result = verdict_of(answer["problems"])
    assert (status, answer["valid"]) == (200, result.valid)
    return result


async def by_explain(scene: Scene) -> Verdict:
    """As JSON, as Markdown, with and without a key; what is foreseen is what happens."""
    (status, answer), (markdown, _) = [
        await _posted("explain", scene, query) for query in ("", "?format=markdown")
    ]
    _, keyed = await _posted("explain", scene, **{"Idempotency-Key": "k-1"})
    result = verdict_of(answer["problems"])
    assert (status, markdown, answer["verdict"] != "rejected") == (200, 200, result.valid)
    if result.valid:
        assert answer["request"]["body"]["properties"]
    if result.valid and "sweep" not in scene.message:
        await _as_foreseen(scene, keyed)
    return result


async def _as_foreseen(scene: Scene, explained: dict[str, Any]) -> None:
    status, job = await _posted("post_job", scene, **{"Idempotency-Key": "k-1"})
    if status != _LATER:
        foreseen = explained["job"]
        assert {name: job[name] for name in ("id", "name", "experiment")} == {
            name: foreseen[name] for name in ("id", "name", "experiment")
        }
        assert kept_in(await scene.world.job(job["id"])) == asked_in(scene)
        started = scene.world.engine.started[2:]
        assert started in ([], [explained["engineName"]])


async def by_explain_folder(scene: Scene) -> Verdict:
    """As the job file of a folder that is not there yet."""
    _, answer = await _posted("explain", scene, "?folder=digits&script=train.py")
    return verdict_of(answer["problems"])


def _by_queue(wrap: Callable[[Scene], bytes]) -> Door:
    async def door(scene: Scene) -> Verdict:
        before = {job.id for job in scene.world.ledger.jobs}
        await BY_EVENT["accept_message"](func.QueueMessage(id="m-1", body=wrap(scene)))
        return _recorded(scene, before)

    return door


def _recorded(scene: Scene, before: set[str]) -> Verdict:
    jobs = [job for job in scene.world.ledger.jobs if job.id not in before]
    assert jobs, "nothing was recorded"
    (result,) = {verdict_of(list(job.problems)) for job in jobs}
    assert {job.state is not JobState.REJECTED for job in jobs} == {result.valid}
    if result.valid:
        for job in jobs:
            assert kept_in(job) == asked_in(scene)
    return result


def kept_in(job: Job) -> dict[str, Any]:
    """What a record keeps of its message."""
    waits_for = sorted((one.name, one.success) for one in job.dependencies)
    return {
        "labels": job.labels,
        "notify": [(one.url, one.secret, one.events) for one in job.notify],
        "retry": job.retry.model_dump(),
        "resources": job.resources,
        "team": job.team,
        "after": waits_for,
        "nodes": job.nodes,
    }


def asked_in(scene: Scene) -> dict[str, Any]:
    """The same as the message has it."""
    message, policy = scene.message, scene.world.ports.policy
    waits_for = [(name, True) for name in message.get("after", ())]
    waits_for += [(name, False) for name in message.get("afterFailure", ())]
    ends = ("succeeded", "failed", "cancelled", "lost", "rejected")
    receivers = message.get("notify") or policy.default_notify
    return {
        "labels": message.get("labels", {}),
        "notify": [
            (safe_url(one["url"]), one.get("secret", "default"), tuple(one.get("events", ends)))
            for one in receivers
        ],
        "retry": {"infrastructure": 3, "user": 0, **message.get("retry", {})},
        "resources": message.get("resources", {}),
        "team": "vision",
        "after": sorted(waits_for),
        "nodes": scene.properties["nodeCount"],
    }


async def by_drop(scene: Scene) -> Verdict:
    before = _dropped(scene)
    await BY_EVENT["accept_drop"](_Blob("scripts/digits/job.json"))
    return _recorded(scene, before)


async def by_inventory(scene: Scene) -> Verdict:
    before = _dropped(scene)
    await inventory(scene.world.ports)
    return _recorded(scene, before)


async def by_explained_drop(scene: Scene) -> Verdict:
    _dropped(scene)
    (explained,) = (await explain_folder(scene.world.ports, "digits/", live=True)).bodies
    return verdict_of(list(explained["problems"]))


def _dropped(scene: Scene) -> set[str]:
    scene.world.drops.upload("digits/job.json", scene.text)
    scene.world.pass_time(60)
    return {job.id for job in scene.world.ledger.jobs}


class _Blob:
    def __init__(self, name: str) -> None:
        self.name = name


async def by_rerun(scene: Scene) -> Verdict:
    """The job that a message made, once more, by its receipt."""
    world = scene.world
    before = {job.id for job in world.ledger.jobs}
    await BY_EVENT["accept_message"](func.QueueMessage(id="m-1", body=scene.text))
    result = _recorded(scene, before)
    world.engine.down = False
    for job in [job for job in world.ledger.jobs if job.id not in before]:
        if (receipt := await _receipt_of(world, job)) is None:
            continue
        answered = await call("POST", f"/api/jobs/{job.id}/rerun", JSON, receipt)
        status, answer = answered.status_code, json.loads(answered.get_body())
        assert status in ((200, 202, _LATER) if result.valid else (409,)), answer
        if status == 202:
            again = await world.job(answer["id"])
            assert kept_in(again) | {"after": []} == kept_in(job) | {"after": []}
    return result


async def _receipt_of(world: World, job: Job) -> bytes | None:
    """The receipt of a job that has ended; None where only the job's receivers are answered."""
    await call("POST", f"/api/jobs/{job.id}/cancel", JSON)
    for _ in range(5):
        for name in world.engine.started:
            world.engine.set_state(name, JobState.CANCELLED)
        await world.make_pass()
    receipt = world.drops.receipt_files.get(f"{job.receipt}/receipt.json")
    assert receipt is not None or not world.ports.policy.receipts
    return receipt


#: By name, with the door that a record names; None where nothing is recorded.
DOORS: dict[str, tuple[str | None, Door]] = {
    "post": ("http", by_post),
    "validate": (None, by_validate),
    "explain": (None, by_explain),
    "explain a folder": (None, by_explain_folder),
    "queue": ("queue", _by_queue(lambda scene: scene.text)),
    "queue, base64": ("queue", _by_queue(lambda scene: base64.encodebytes(scene.text))),
    "queue, event": ("queue", _by_queue(lambda scene: json.dumps({**EVENT, "data": scene.message}).encode())),
    "drop": ("drop", by_drop),
    "inventory": ("inventory", by_inventory),
    "explained drop": (None, by_explained_drop),
    "rerun": ("rerun", by_rerun),
}
#: Those that make one job of a folder, and reject a sweep, and code beside that of the folder.
ONE_JOB = {"drop", "inventory", "explained drop", "explain a folder"}


def _aliases(model: Any) -> set[str]:
    return {str(field.alias or name) for name, field in model.model_fields.items()}


def test_every_member_of_a_message_of_a_team_and_of_a_quota_is_a_feature() -> None:
    assert set(OF_MESSAGE) == _aliases(Envelope)
    assert set(OF_TEAM) == _aliases(Team)
    assert set(OF_QUOTA) == _aliases(Quota)


def doors_in(source: str) -> Iterator[str]:
    """The doors that a module gives to what it records."""
    for node in ast.walk(ast.parse(source)):
        values: list[ast.AST] = [node.value] if isinstance(node, ast.keyword) and node.arg == "door" else []
        if isinstance(node, ast.arguments):
            named = zip(node.kwonlyargs, node.kw_defaults, strict=True)
            values += [one for arg, one in named if arg.arg == "door" and one is not None]
        for one in chain.from_iterable(map(ast.walk, values)):
            if isinstance(one, ast.Constant) and isinstance(one.value, str):
                yield one.value


def test_every_door_of_the_code_is_tried() -> None:
    sources = [path.read_text() for top in ("functions", "shared") for path in (ROOT / top).rglob("*.py")]
    doors = {
        door for source in sources if " door: " in source or "door=" in source for door in doors_in(source)
    }

    assert doors == {door for door, _ in DOORS.values() if door is not None}
    calls = {name for name, one in OPERATIONS.items() if one.body is JOB_DOCUMENT}
    assert calls == {"post_job", "post_sweep", "validate", "explain"}


#: Doors behind which the same code reads a message: each pair is tried at one of them, in turn.
ALIKE = (
    ("post",), ("validate",), ("explain", "explain a folder"), ("queue", "queue, base64", "queue, event"),
    ("drop", "inventory", "explained drop"), ("rerun",),
)  # fmt: skip


def _matches() -> Iterator[Any]:
    for place, door in enumerate(DOORS):
        (group,) = [doors for doors in ALIKE if door in doors]
        every = list(enumerate(rounds(FEATURES, place)))
        for number, pairs in every[group.index(door) :: len(group)] or every:
            yield pytest.param(door, pairs, id=f"{door} {number}")


MATCHES = list(_matches())


@pytest.mark.long
@pytest.mark.parametrize(("door", "pairs"), MATCHES)
async def test_every_door_takes_every_feature_beside_every_other(
    door: str, pairs: list[tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = []
    for first, second in pairs:
        scene = Scene(World())
        use(scene.world, monkeypatch)
        await earlier_jobs(scene.world)
        for name in sorted((first, second), key=IMPOSSIBLE.__contains__):
            FEATURES[name](scene)
        await scene.set_up()
        try:
            result = await DOORS[door][1](scene)
        except Exception as error:  # noqa: BLE001 - each pair is tried, and the failing ones are listed
            wrong.append(f"{first} + {second}: {type(error).__name__}: {error}"[:300])
            continue
        not_here = door in ONE_JOB and not {"sweep", "code"}.isdisjoint(scene.message)
        if result.valid is (scene.rejected or not_here):
            wrong.append(f"{first} + {second}: {result}")

    assert wrong == []
