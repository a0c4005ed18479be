"""What a caller of another team learns: of a job that is not theirs as much as of one that does not exist."""

from __future__ import annotations

import json
from typing import Any

import azure.functions as func
import pytest

from tests.unit.functions.calls import TRIGGER_OF, call
from tests.unit.functions.scene import CALLERS, Scene
from tests.unit.functions.test_rights_table import DOCUMENTS, TABLE
from tests.unit.world import job_json

#: Ids as they are made, of nothing.
NOTHING = {"id": f"j_{'a' * 24}", "sweep": f"s_{'a' * 24}", "event": f"evt_{'a' * 24}.1"}
OF_ONE = sorted(
    name for name, letters in TABLE.items() if "{id}" in str(TRIGGER_OF[name].route) and "." in letters
)


def plain(answer: func.HttpResponse, values: dict[str, str]) -> tuple[int, str, dict[str, str]]:
    """An answer without the ids that it was asked for."""
    text, headers = answer.get_body().decode(), json.dumps(dict(answer.headers.items()))
    for name, value in values.items():
        text, headers = text.replace(value, f"<{name}>"), headers.replace(value, f"<{name}>")
    return answer.status_code, text, json.loads(headers)


@pytest.mark.parametrize("operation", OF_ONE)
@pytest.mark.parametrize("kind", ["other team", "other manager"])
async def test_a_job_of_another_team_is_answered_as_one_that_is_not_there(
    scene: Scene, operation: str, kind: str
) -> None:
    real, who, document = dict(scene.values), CALLERS[kind].id, DOCUMENTS.get(operation)

    hidden = plain(await scene.ask(operation, who, document), real)
    scene.values = NOTHING
    nothing = plain(await scene.ask(operation, who, document), NOTHING)

    assert hidden == nothing
    assert hidden[0] == 404


async def ask(who: str, method: str, address: str, document: Any = None) -> dict[str, Any]:
    headers = {"Authorization": f"Bearer {who}", "Content-Type": "application/json"}
    body = json.dumps(document).encode() if document is not None else b""
    answer = await call(method, address, headers, body)
    result: dict[str, Any] = json.loads(answer.get_body())
    return result


@pytest.mark.parametrize(
    "query",
    [
        *(
            "team=vision",
            "owner=ann",
            "name=ann*",
            "name=deploy*",
            "state=active",
            "cluster=dev",
            "experiment=x",
        ),
        *("label=team", "source=http", "since=7d", "limit=1", "sweep={sweep}", "owner="),
        *("contains=ann", "contains={id}", "error=e", "until=2030-01-01", "order=ended"),
    ],
)
async def test_no_condition_lists_a_job_of_another_team(scene: Scene, query: str) -> None:
    address = f"/api/jobs?{query.format(**scene.values)}".removesuffix("?owner=")

    own, others = await ask("bob", "GET", address), await ask("sam", "GET", address)

    assert others == {"jobs": [], "next": None}
    assert {job["team"] for job in own["jobs"]} <= {"vision"}


async def test_usage_the_trail_and_who_one_is_tell_nothing_of_other_teams(scene: Scene) -> None:
    for address in ("/api/usage", "/api/me", "/api/trail", "/api/clusters", "/api/settings"):
        for who in ("sam", "sue"):
            text = json.dumps(await ask(who, "GET", address))
            assert "vision" not in text
            assert scene.values["id"] not in text


@pytest.mark.parametrize("member", ["after", "afterFailure"])
@pytest.mark.parametrize("operation", ["validate", "explain"])
async def test_a_dependency_on_a_job_of_another_team_is_one_on_nothing(
    scene: Scene, member: str, operation: str
) -> None:
    def words(answer: dict[str, Any], job: str) -> str:
        return json.dumps(answer).replace(job, "<job>")

    answers = [
        words(await ask("sam", "POST", f"/api/{operation}", {"spec": job_json(), member: [job]}), job)
        for job in (scene.values["id"], NOTHING["id"])
    ]

    assert answers[0] == answers[1]
    assert "there is no job <job>" in answers[0]


async def test_a_team_of_others_is_named_as_one_that_is_not_there(scene: Scene) -> None:
    answers = [
        await ask("sam", "POST", "/api/validate", {"spec": job_json(), "team": team})
        for team in ("vision", "absent")
    ]

    texts = [json.dumps(one).replace("vision", "<team>").replace("absent", "<team>") for one in answers]
    assert texts[0] == texts[1]
    assert "you are in no team" in texts[0]


async def test_the_same_key_of_another_caller_is_another_request(scene: Scene) -> None:
    headers = {"Idempotency-Key": "same", "Content-Type": "application/json"}
    body = json.dumps({"spec": job_json()}).encode()

    answers = [
        await call("POST", "/api/jobs", {**headers, "Authorization": f"Bearer {who}"}, body)
        for who in ("ann", "sam", "ann")
    ]

    assert [one.status_code for one in answers] == [202, 202, 200]
    ids = [json.loads(one.get_body())["id"] for one in answers]
    assert ids[0] == ids[2] != ids[1]
