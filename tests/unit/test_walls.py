"""Nothing of a team is in an answer to those who are not in it: each route, each caller, each text of a job.

Routes are those of the app; a new member of an envelope or of a record fails until it has a canary here, or
belongs to those without a text of a person.
"""

from __future__ import annotations

import json
from typing import Any

import azure.functions as func
import pytest

from shared.core.job import Job, JobState
from shared.jobspec import Envelope
from tests.unit.functions.calls import use
from tests.unit.functions.scene import CALLERS, TEAMS, Scene, Tokens
from tests.unit.functions.test_rights_table import DOCUMENTS
from tests.unit.routes import ROUTES
from tests.unit.world import World, job_json

#: In each text; nothing that a caller of another team gets has it.
CANARY = "Wall7c41"
HOST = "https://hooks-wall7c41.example.com"
#: Callers who may see nothing of vision's: a member and a manager of another team, no token, one for another
#: audience.
OUTSIDERS = ("sam", "sue", "", "a token for another audience")

#: What ann's message has, by member of an envelope.
PLANTED: dict[str, Any] = {
    "name": f"name-{CANARY}",
    "experiment": f"experiment-{CANARY}",
    "labels": {f"label-{CANARY}": f"value-{CANARY}"},
    "notify": [{"url": f"{HOST}/x", "events": ["queued", "failed"]}],
    "idempotency_key": f"key-{CANARY}",
    "spec": job_json(
        environmentVariables=[{"name": f"V_{CANARY}", "value": CANARY}],
        customToolkitSettings={"commandLine": f"echo {CANARY}"},
        outputDirectories=[{"id": CANARY, "pathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/logs"}],
        secrets=[{"name": f"S_{CANARY}", "value": f"secret-{CANARY}"}],
    ),
}
#: Members without a text of a person's own, and those of other requests.
NO_TEXT = {
    *("cluster", "team", "retry", "resources", "hold"),  # names of the deployment, and numbers
    *("after", "after_failure"),  # of jobs that the caller sees: test_outsiders
    *("sweep", "parallel"),  # of ann's job sweep
    # a digest or a folder, which open nothing to others: test_code.py in tests/unit/intake/desk, and
    # test_named_folder.py in tests/unit/intake/drops
    "code",
    "needs",  # of the slipway.json of a folder, refused in a message: tests/unit/jobspec/test_needs.py
    "spec_blob",  # refused: tests/unit/intake/desk/test_fetch.py
}
#: Texts of a record that are the program's own words, digests and ids.
OWN_WORDS = {
    *("id", "key", "payload", "door", "source", "team", "cluster", "priority", "state", "reason", "segment"),
    *(
        "message",
        "last_error",
        "rerun_of",
        "resumes",
        "received",
        "code",
        "target",
        "handle",
        "waiting",
        "history",
    ),
    *("problems", "resources", "retry", "spent"),  # of a document that may run: rules, numbers and names
    *("created", "ran_before", "started", "ended", "due", "slot", "missed_at", "unknown_since"),
}


def test_each_member_of_an_envelope_is_planted_or_has_no_text() -> None:
    assert {*PLANTED} | NO_TEXT == {*Envelope.model_fields}
    assert not {*PLANTED} & NO_TEXT
    assert [name for name, value in PLANTED.items() if CANARY.lower() not in json.dumps(value).lower()] == []


async def test_each_text_of_a_record_is_planted_or_is_the_programs_own(walled: Scene) -> None:
    job = (await walled.world.job(walled.values["id"])).model_dump(mode="json")

    texts = {name for name in Job.model_fields if _has_text(job.get(name))}
    without = {name for name in texts if CANARY.lower() not in json.dumps(job[name]).lower()}
    assert without <= OWN_WORDS


def _has_text(value: Any) -> bool:
    if isinstance(value, dict):
        return any(_has_text(one) for pair in value.items() for one in pair)
    return any(map(_has_text, value)) if isinstance(value, list) else isinstance(value, str) and value != ""


async def furnish(scene: Scene) -> None:
    """What vision has: a job with outputs that has failed, one that cannot run, a job sweep, an event."""
    envelope = {_wire(name): value for name, value in PLANTED.items()}
    job = json.loads((await scene.ask("post_job", "ann", envelope)).get_body())
    wrong = {**envelope, "idempotencyKey": "wrong", "spec": {"properties": {CANARY: CANARY}}}
    await scene.ask("post_job", "ann", wrong)
    world = scene.world
    world.engine.output |= {
        "stdout.txt": f'{CANARY}\n{{"slipway": {{"{CANARY}": 1}}}}\n'.encode(),
        "stderr.txt": f"ValueError: {CANARY}\n".encode(),
        f"{CANARY}.txt": CANARY.encode(),
    }
    world.engine.set_state(world.engine.started[-1], JobState.FAILED)
    await world.make_pass()
    template = {**envelope, "idempotencyKey": "sweep", "sweep": {"lr": [0.1]}, "parallel": 1}
    sweep = json.loads((await scene.ask("post_sweep", "ann", template)).get_body())
    scene.values = {"id": job["id"], "sweep": sweep["sweepId"], "path": "stdout.txt"}
    (event, *_) = json.loads((await scene.ask("get_events", "ann")).get_body())["events"]
    scene.values["event"] = event["id"]


def _wire(name: str) -> str:
    return str(Envelope.model_fields[name].alias or name)


@pytest.fixture
async def walled(world: World, monkeypatch: pytest.MonkeyPatch) -> Scene:
    """A deployment with two teams, in which all that vision has bears the canary."""
    world.use(tokens=Tokens())
    use(world, monkeypatch)
    scene = Scene(world)
    await scene.share(TEAMS)
    await furnish(scene)
    return scene


@pytest.mark.parametrize("operation", sorted(map(str, ROUTES)))
async def test_no_answer_shows_a_text_of_another_team(walled: Scene, operation: str) -> None:
    for who in OUTSIDERS:
        answer = await walled.ask(operation, who, DOCUMENTS.get(operation))

        assert CANARY.lower() not in text_of(answer), who
        for kind in ("id", "sweep", "event"):  # but where the caller named it
            assert walled.values[kind] not in text_of(answer) or answer.status_code in (401, 404)


@pytest.mark.parametrize("who", ["", "a token for another audience"])
async def test_without_a_token_for_this_deployment_there_is_no_answer(walled: Scene, who: str) -> None:
    answers = {one: await walled.ask(one, who, DOCUMENTS.get(one)) for one in sorted(map(str, ROUTES))}

    assert {one for one, answer in answers.items() if answer.status_code != 401} == {"health", "get_page"}


async def test_the_canary_is_where_a_member_looks(walled: Scene) -> None:
    """Else the tests above would show nothing."""
    shown = {one for one in map(str, ROUTES) if CANARY.lower() in text_of(await walled.ask(one, "mia"))}

    assert shown >= {
        *("get_job", "get_jobs", "get_log", "get_errors", "get_metrics", "get_outputs", "get_files"),
        *("get_receipt", "get_events", "get_sweep", "get_sweeps", "get_live"),
    }
    for caller in (CALLERS["reader"].id, CALLERS["operator"].id):
        assert CANARY.lower() in text_of(await walled.ask("get_job", caller))


def text_of(answer: func.HttpResponse) -> str:
    """All that an answer has, in lower case."""
    return (answer.get_body().decode("utf-8", "replace") + json.dumps(dict(answer.headers.items()))).lower()
