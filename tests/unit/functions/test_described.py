"""What the routes really answer is what the OpenAPI document says."""

from __future__ import annotations

import json
from typing import Any

import pytest

from functions.openapi.elements import OPERATIONS
from shared.core.job import JobState
from shared.lifecycle.clusters.count_nodes import count_nodes
from tests.unit.functions.calls import call, function_of, use
from tests.unit.openapi import DOCUMENT
from tests.unit.world import World, job_json


def closed(node: Any) -> Any:
    """The schemas without the freedom to add members, so that an undocumented one is found."""
    if isinstance(node, list):
        return [closed(one) for one in node]
    if not isinstance(node, dict):
        return node
    members = {name: closed(value) for name, value in node.items()}
    if isinstance(node.get("properties"), dict) and node.get("type") == "object":
        members.setdefault("additionalProperties", False)
    return members


CLOSED = closed(DOCUMENT)


def described(name: str, status: int, kind: str) -> dict[str, Any]:
    """The schema of an answer."""
    operation = OPERATIONS[name]
    place = CLOSED["paths"]["/api/" + operation.route.replace("{*", "{")][operation.method.lower()]
    answers = place["responses"]
    assert str(status) in answers, f"{name} answered {status}: add it to the declaration of its handler"
    answer = answers[str(status)]
    if "$ref" in answer:
        answer = CLOSED["components"]["responses"][answer["$ref"].rpartition("/")[2]]
    assert kind in answer["content"], (
        f"{name} answered {status} as {kind}: add it to the declaration of its handler"
    )
    return {**answer["content"][kind]["schema"], "components": CLOSED["components"]}


async def answered(
    method: str, address: str, document: Any = None, **headers: str
) -> tuple[int, dict[str, Any]]:
    """The answer, which is as the document says."""
    import jsonschema  # takes a second or two, in every collection of the tests

    body = b"" if document is None else json.dumps(document).encode()
    answer = await call(method, address, headers, body)
    name, _ = function_of(method, address.partition("?")[0].removeprefix("/api/"))
    result: dict[str, Any] = json.loads(answer.get_body())
    schema = described(name, answer.status_code, answer.mimetype)
    problems = [
        f"{error.json_path}: {error.message[:300]}"
        for error in jsonschema.Draft202012Validator(schema).iter_errors(result)
    ]
    assert not problems, f"{name} answered {answer.status_code}; mend it or shared/answers: {problems}"
    return answer.status_code, result


@pytest.fixture
def api(world: World, monkeypatch: pytest.MonkeyPatch) -> World:
    use(world, monkeypatch)
    return world


async def test_the_api_answers_it(api: World) -> None:
    assert (await answered("GET", "/api/openapi.json")) == (200, DOCUMENT)


async def test_a_job_from_its_submission_to_its_files_is_answered_as_described(api: World) -> None:
    receiver = {"url": "https://hooks.example.com/x?token=1", "secret": "team"}
    envelope = {"name": "a", "labels": {"team": "v"}, "spec": job_json(), "notify": [receiver]}
    status, job = await answered("POST", "/api/jobs", envelope, **{"Idempotency-Key": '"k"'})
    again, _ = await answered("POST", "/api/jobs", envelope, **{"Idempotency-Key": '"k"'})
    assert (status, again) == (202, 200)
    one = f"/api/jobs/{job['id']}"

    assert (await answered("GET", one + "/receipt"))[0] == 404
    api.engine.output |= {"stdout.txt": b'{"slipway": {"loss": 0.1}}\n', "models/a.bin": b"x"}
    api.engine.set_state(api.engine.started[0], JobState.RUNNING)
    await api.make_pass()
    assert (await answered("GET", one))[1]["state"] == "running"
    assert (await answered("GET", one + "/files"))[1]["files"]
    assert (await answered("GET", one + "/outputs"))[1]["outputs"]
    assert (await answered("GET", one + "/files/stdouterr/none"))[0] == 404
    assert (await answered("GET", one + "/metrics"))[1]["series"][0]["points"]
    assert (await answered("POST", one + "/cancel"))[0] == 202
    api.engine.set_state(api.engine.started[0], JobState.FAILED, exit_code=3)
    await api.make_pass()
    await api.wake()
    assert (await answered("POST", one + "/cancel"))[0] == 200
    assert (await answered("GET", one + "/events"))[1]["events"][0]["targets"]
    assert (await answered("POST", one + "/events/redeliver"))[0] == 202
    assert len((await answered("GET", "/api/jobs?limit=5&state=failed"))[1]["jobs"]) == 1


async def test_a_drop_with_its_receipt_and_its_rerun_is_answered_as_described(api: World) -> None:
    api.policy(receipts="all")
    _, accepted = await answered("POST", "/api/jobs", job_json())
    api.engine.set_state(api.engine.started[0], JobState.SUCCEEDED, exit_code=0)
    await api.make_pass()
    await api.wake()

    status, receipt = await answered("GET", f"/api/jobs/{accepted['id']}/receipt")
    assert (status, receipt["exitCode"]) == (200, 0)
    assert (await answered("POST", f"/api/jobs/{accepted['id']}/rerun", receipt))[0] == 202
    assert (await answered("POST", f"/api/jobs/{accepted['id']}/rerun"))[0] == 202


async def test_a_rerun_that_goes_on_is_answered_as_described(api: World) -> None:
    _, accepted = await answered("POST", "/api/jobs", job_json())
    path = f"/api/jobs/{accepted['id']}/rerun?resume"

    assert (await answered("POST", f"{path}=true"))[0] == 409  # it is queued yet
    for state in (JobState.RUNNING, JobState.FAILED):
        api.engine.set_state(api.engine.started[0], state)
        await api.make_pass()

    status, again = await answered("POST", f"{path}=true")
    assert (status, again["resumes"]) == (202, accepted["id"])
    assert "resumes" not in (await answered("POST", f"{path}=false"))[1]
    assert (await answered("POST", f"{path}=perhaps"))[0] == 400


async def test_refusals_are_answered_as_described(api: World) -> None:
    wrong = job_json(nodeCuont=2)
    assert (await answered("POST", "/api/jobs", wrong))[0] == 422
    assert (await answered("POST", "/api/validate", wrong))[1]["valid"] is False
    assert (await answered("POST", "/api/explain", wrong))[1]["verdict"] == "rejected"
    assert (await answered("GET", "/api/jobs/none"))[0] == 404
    assert (await answered("GET", "/api/jobs?stat=failed"))[0] == 400
    assert (await answered("POST", "/api/jobs"))[0] == 400
    assert (await answered("POST", "/api/validate", {}, **{"Content-Type": "text/plain"}))[0] == 415
    assert (await answered("POST", "/api/events/evt_none/redeliver"))[0] == 404
    assert (await answered("POST", "/api/dead/none/redrive"))[0] == 404


@pytest.mark.parametrize("name", [name for name, operation in OPERATIONS.items() if operation.body])
async def test_a_body_that_the_host_dropped_since_it_came_in_chunks_is_asked_for_with_its_length(
    api: World, name: str
) -> None:
    operation = OPERATIONS[name]
    address = "/api/" + operation.route.replace("{id}", "j_1")

    status, refusal = await answered(operation.method, address, **{"Transfer-Encoding": "gzip, Chunked"})

    assert (status, "Content-Length" in refusal["remedy"]) == (411, True)


async def test_what_operators_ask_is_answered_as_described(api: World) -> None:
    assert (await answered("POST", "/api/validate", job_json()))[1]["valid"] is True
    assert (await answered("POST", "/api/explain", job_json()))[1]["verdict"] == "runs"
    assert (await answered("GET", "/api/clusters"))[1]["clusters"]
    await count_nodes(api.ports)
    (cluster,) = (await answered("GET", "/api/clusters?history=6h"))[1]["clusters"]
    assert [nodes for _, *nodes in cluster["history"]["points"]] == [[0] * 5]
    assert (await answered("GET", "/api/clusters?history=soon"))[0] == 400
    assert (await answered("POST", "/api/pause?reason=x"))[1]["paused"] is True
    assert (await answered("POST", "/api/resume"))[1]["paused"] is False
    assert (await answered("GET", "/api/audit"))[1]["differences"] == []
    assert (await answered("GET", "/api/me"))[1]["id"] is None
    assert "settings" in (await answered("GET", "/api/settings"))[1]
    assert (await answered("GET", "/api/health"))[0] == 200
    assert (await answered("GET", "/api/dead"))[1] == {"dead": []}
    assert (await answered("GET", "/api/receivers/disabled"))[1] == {"receivers": []}
    assert (await answered("GET", "/api/receivers"))[1] == {"receivers": []}
    messages = {"url": "https://hooks.example.com/x"}
    assert (await answered("POST", "/api/receivers/test", messages))[1]["status"]
    api.queues.refusal = "storage answered 403 with a reason that is not for everyone"
    api.pass_time(61)
    status, health = await answered("GET", "/api/health")
    assert (status, health["storage"]) == (503, "refuses writes")
    assert "the queue of jobs" in health["detail"]
    assert "contributor" in health["remedy"]
    assert "403" not in str(health)
    api.engine.down = True
    api.pass_time(60)
    assert "error" in (await answered("GET", "/api/clusters"))[1]["clusters"][0]
    api.queues.refusal = ""
    status, health = await answered("GET", "/api/health")
    assert (status, health["clusters"]) == (200, {"does not answer": 1}), "the app accepts jobs"
