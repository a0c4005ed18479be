"""Every operation of the HTTP API for every kind of caller, in one table that forgets no operation."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import azure.functions as func
import pytest

from shared.core.errors import Misconfigured, Misuse, Transient, Unavailable, Unreadable
from tests.unit.functions.calls import call, use
from tests.unit.functions.scene import CALLERS, HOOK, Scene
from tests.unit.routes import ROUTES
from tests.unit.world import World, job_json

#: Columns as in CALLERS: y is allowed, - is forbidden (403), . does not see that there is such a thing (404).
_SEES, _CHANGES, _ASKS, _OPERATES, _ALL = "yyy..yy", "y-y..-y", "yyyyy-y", "------y", "yyyyyyy"
TABLE = {
    **dict.fromkeys(("get_job", "get_events", "get_receipt", "get_log", "get_errors", "get_metrics"), _SEES),
    **dict.fromkeys(
        (
            "get_outputs",
            "get_files",
            "get_file",
            "get_zip",
            "get_addresses",
            "get_sweep",
            "get_code",
            "get_live",
        ),
        _SEES,
    ),
    **dict.fromkeys(("cancel_job", "cancel_sweep", "release_job", "enter_job"), _CHANGES),
    **dict.fromkeys(("set_job_priority", "pause_job", "resume_job"), _CHANGES),
    **dict.fromkeys(("redeliver_job", "redeliver_event"), _CHANGES),
    # A rerun is a job of who asks for it.
    "rerun_job": "yyy..-y",
    **dict.fromkeys(("post_job", "post_sweep", "post_snapshot", "put_snapshot"), _ASKS),
    **dict.fromkeys(("pause", "resume", "audit", "get_teams", "put_teams", "get_dead", "redrive"), _OPERATES),
    **dict.fromkeys(("get_disabled", "get_receivers", "test_receiver"), _OPERATES),
    **dict.fromkeys(("get_jobs", "get_clusters", "get_me", "get_usage", "get_openapi"), _ALL),
    **dict.fromkeys(("get_settings", "get_overview", "get_sweeps"), _ALL),
    # Of all jobs that fit, each caller ends what they may: tests/unit/operate/ends/test_cancel_jobs.py.
    "cancel_jobs": _ALL,
    # Managers see the acts on jobs of their own teams.
    "get_trail": "--y-y-y",
    **dict.fromkeys(("validate", "explain", "health", "get_page"), _ALL),
}


#: They change something, or ask for it.
ACTS = {
    *(
        "post_job",
        "post_sweep",
        "rerun_job",
        "cancel_job",
        "cancel_jobs",
        "enter_job",
        "cancel_sweep",
        "release_job",
        "redeliver_job",
        "redeliver_event",
        "set_job_priority",
        "pause_job",
        "resume_job",
    ),
    *("pause", "resume", "put_teams", "redrive", "test_receiver"),
}
#: Who asks on one deployment: after an act the next caller would find another one.
QUESTIONS = [
    (operation, kinds)
    for operation in sorted(map(str, ROUTES))
    for kinds in ([(kind,) for kind in CALLERS] if operation in ACTS else [tuple(CALLERS)])
]

#: What an operation takes.
DOCUMENTS: Mapping[str, Any] = {
    **{name: {"spec": job_json()} for name in ("post_job", "validate", "explain")},
    "post_sweep": {"spec": job_json(), "sweep": {"lr": [0.1]}},
    "test_receiver": {"url": HOOK},
    "set_job_priority": {"priority": "high"},
    "post_snapshot": {"sha256": "0" * 64, "bytes": 1},
    "cancel_jobs": {"conditions": {"owner": "ann", "state": "active"}, "expected": 2},
}


def test_every_operation_has_its_row() -> None:
    assert TABLE.keys() == set(map(str, ROUTES))


@pytest.mark.parametrize(("operation", "kinds"), QUESTIONS)
async def test_who_may_do_what(scene: Scene, operation: str, kinds: tuple[str, ...]) -> None:
    answers = [await scene.ask(operation, CALLERS[kind].id, DOCUMENTS.get(operation)) for kind in kinds]

    allowed = dict(zip(CALLERS, TABLE[operation], strict=True))
    bodies = [answer.get_body()[:300] for answer in answers]
    assert list(map(letter, answers)) == [allowed[kind] for kind in kinds], bodies


@pytest.mark.parametrize("operation", sorted(map(str, ROUTES)))
async def test_a_named_key_may_do_what_a_token_may(keyed: Scene, operation: str) -> None:
    answers = [await keyed.ask(operation, one.id, DOCUMENTS.get(operation)) for one in CALLERS.values()]

    assert "".join(map(letter, answers)) == TABLE[operation]


async def test_no_operation_answers_a_key_without_a_name(keyed: Scene) -> None:
    answers = {one: await keyed.ask(one, "eve", DOCUMENTS.get(one)) for one in sorted(map(str, ROUTES))}

    refused = {one: answer.get_body() for one, answer in answers.items() if answer.status_code == 403}
    assert answers.keys() - refused.keys() == {"health", "get_page"}
    assert all(
        "is not a named key of this deployment" in json.loads(body)["detail"] for body in refused.values()
    )


async def test_a_call_without_a_key_is_asked_for_one_and_headers_of_a_proxy_are_no_name(keyed: Scene) -> None:
    for name in ("x-ms-client-principal", "x-ms-client-principal-id", "x-ms-client-principal-name"):
        answer = await call("GET", "/api/me", {name: "dan", "Authorization": "Bearer dan"})

        assert answer.status_code == 401
        assert answer.headers["WWW-Authenticate"] == "FunctionKey"


@pytest.mark.parametrize("query", ["code=key%20of%20ann", "CODE=key%20of%20ann", "Code=%20key%20of%20ann%20"])
async def test_a_key_in_the_query_is_the_one_that_the_host_has_checked(keyed: Scene, query: str) -> None:
    answer = await call("GET", f"/api/me?{query}")

    assert json.loads(answer.get_body())["id"] == "ann"


def letter(answer: func.HttpResponse) -> str:
    """What an answer means for its caller."""
    if answer.status_code == 403:
        return "-"
    if answer.status_code == 404:
        detail = json.loads(answer.get_body())["detail"]
        return "." if re.match(r"there is no (job|sweep|event)", detail) else "y"
    return "?" if answer.status_code in (400, 401) else "y"


@pytest.mark.parametrize("operation", sorted(map(str, ROUTES)))
async def test_what_changes_something_or_is_forbidden_to_is_in_the_trail(
    scene: Scene, operation: str
) -> None:
    before = len(scene.world.activity.acts)

    answers = [await scene.ask(operation, who, DOCUMENTS.get(operation)) for who in ("dan", "cay")]

    acts = scene.world.activity.acts[before:]
    if operation not in ACTS:
        assert acts == []
        return
    assert [(one.by, one.operation, one.status) for one in acts] == [
        (who, operation, answer.status_code) for who, answer in zip(("dan", "cay"), answers, strict=True)
    ]
    many = "owner=ann state=active: 2 jobs"
    assert {one.subject for one in acts} <= {"", "x", many, *scene.values.values()}
    assert (acts[0].subject == many) == (operation == "cancel_jobs")


async def test_a_manager_reads_the_acts_on_jobs_of_the_own_team_and_an_operator_all(keyed: Scene) -> None:
    before = [("post_sweep", "ann", 202), ("post_job", "ann", 202)]
    for operation, who in (("cancel_job", "bob"), ("cancel_job", "sam"), ("redeliver_event", "mia")):
        await keyed.ask(operation, who)
    await keyed.ask("pause", "dan")

    async def acts(who: str) -> list[dict[str, Any]]:
        listed: list[dict[str, Any]] = json.loads((await keyed.ask("get_trail", who)).get_body())["acts"]
        return listed

    own, others, every = await acts("mia"), await acts("sue"), await acts("dan")
    assert [(one["operation"], one["by"], one["status"]) for one in own] == [
        ("redeliver_event", "mia", 202),
        ("cancel_job", "sam", 404),
        ("cancel_job", "bob", 403),
        *before,
    ]
    assert {one["team"] for one in own} == {"vision"}
    assert others == []
    assert every[0]["operation"] == "pause"
    assert every[1:] == own


@pytest.mark.parametrize(
    "error",
    [
        Misuse("no", status=409, remedy="no"),
        Misconfigured("x"),
        Transient("the cluster does not answer"),
        Unreadable("row", "Text"),
        Unavailable("storage does not answer"),
        ZeroDivisionError(),
    ],
)
async def test_the_trail_has_the_status_that_the_caller_got(
    scene: Scene, error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fails(*_: Any, **__: Any) -> None:
        raise error

    monkeypatch.setattr("shared.operate.ends.cancel.cancel", fails)

    answer = await scene.ask("cancel_job", "dan")

    assert scene.world.activity.acts[-1].status == answer.status_code
    assert scene.world.activity.acts[-1].operation == "cancel_job"


async def test_a_trail_that_cannot_be_written_stops_no_act_and_the_log_has_its_line(
    scene: Scene, caplog: pytest.LogCaptureFixture
) -> None:
    scene.world.activity.error = Unavailable("storage does not answer")

    answer = await scene.ask("pause", "dan")

    assert answer.status_code == 200
    (line,) = [text for text in caplog.messages if "the trail lacks" in text]
    assert '"by": "dan"' in line
    assert '"operation": "pause"' in line


async def test_holders_of_a_function_key_have_no_name_and_leave_no_line(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(world, monkeypatch)

    answer = await Scene(world).ask("pause", "")

    assert answer.status_code == 200
    assert world.activity.acts == []
