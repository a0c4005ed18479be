"""The connection to an API server: calls, lists in pages, and answers that are lost."""

from __future__ import annotations

from typing import Any

import pytest

from shared.core.errors import Busy, EngineError, Misconfigured, NotFound, Transient
from shared.engines.kubernetes.wire.access import Access
from shared.engines.kubernetes.wire.bearer import FixedToken
from shared.engines.kubernetes.wire.client import KubernetesClient
from shared.engines.kubernetes.wire.table import Row
from shared.engines.kubernetes.wire.version import Version, version_of
from tests.unit.engines.kubernetes.server import Reply, Request, in_turn, server, status

JOBS = "/apis/batch/v1/namespaces/default/jobs"
COLUMNS = [{"name": name} for name in ("Name", "Status", "Completions")]


def page(*names: str, following: str = "") -> Any:
    rows = [{"cells": [name, "Running", "0/1"], "object": None} for name in names]
    return {
        "kind": "Table",
        "metadata": {"continue": following},
        "columnDefinitions": COLUMNS,
        "rows": rows or None,
    }


async def test_a_call_carries_the_token_its_query_and_its_body() -> None:
    async with server(in_turn((201, {"kind": "Job"}))) as running:
        client = running.client("secret")
        answer = await client.call("POST", JOBS, {"kind": "Job"}, query={"fieldValidation": "Strict"})
        await client.close()

    (request,) = running.requests
    assert answer.body == {"kind": "Job"}
    assert answer.reason == ""
    assert request.headers["authorization"] == "Bearer secret"
    assert request.headers["content-type"] == "application/json"
    assert request.query == {"fieldValidation": "Strict"}
    assert request.body == {"kind": "Job"}


async def test_a_patch_says_what_it_is_and_no_token_makes_no_header() -> None:
    async with server(in_turn((200, {"kind": "Job"}))) as running:
        client = running.client()
        await client.call("PATCH", f"{JOBS}/a", {"spec": {"suspend": True}})
        await client.close()

    (request,) = running.requests
    assert request.headers["content-type"] == "application/merge-patch+json"
    assert "authorization" not in request.headers


class Refusing:
    """A server that says how ready it is, and refuses a request, or does not."""

    def __init__(self, readiness: int, *answers: Reply) -> None:
        self._readiness, self._answer = readiness, in_turn(*answers)

    def answer(self, request: Request) -> Reply:
        if request.path == "/readyz":
            assert "authorization" not in request.headers
            return self._readiness, b"ok"
        return self._answer(request)


_REFUSALS = {
    403: status(403, "Forbidden", 'jobs.batch is forbidden: User "slipway" cannot create resource "jobs"'),
    401: status(401, "Unauthorized", "Unauthorized"),
}


@pytest.mark.parametrize("code", _REFUSALS)
@pytest.mark.parametrize("readiness", [401, 403, 500])
async def test_what_a_starting_server_refuses_passes_for_a_bounded_time(code: int, readiness: int) -> None:
    times = iter([0.0, 119.0, 121.0, 500.0])
    refusal = _REFUSALS[code]
    refusing = Refusing(readiness, *[refusal] * 4, (200, {"kind": "Job"}), refusal)
    async with server(refusing.answer) as running:
        client = KubernetesClient(Access(running.url), FixedToken("t"), lambda: next(times))
        for _ in range(2):
            with pytest.raises(Transient, match="is starting"):
                await client.call("GET", f"{JOBS}/a")
        with pytest.raises(Misconfigured):
            await client.call("GET", f"{JOBS}/a")
        await client.call("GET", f"{JOBS}/a")
        with pytest.raises(Transient, match="is starting"):  # another start
            await client.call("GET", f"{JOBS}/a")
        await client.close()


@pytest.mark.parametrize("code", _REFUSALS)
async def test_what_a_server_refuses_that_has_started_is_tried_once_more_and_named(code: int) -> None:
    async with server(Refusing(200, _REFUSALS[code]).answer) as running:
        client = running.client("t")
        with pytest.raises(Misconfigured, match=r"the Role that it needs|Unauthorized"):
            await client.call("POST", JOBS, {"kind": "Job"})
        await client.close()

    assert running.calls == [f"POST {JOBS}", "GET /readyz", f"POST {JOBS}"]


async def test_a_server_that_became_ready_in_between_has_refused_nothing() -> None:
    async with server(Refusing(200, _REFUSALS[403], (201, {"kind": "Job"})).answer) as running:
        client = running.client("t")
        answer = await client.call("POST", JOBS, {"kind": "Job"})
        await client.close()

    assert answer.status == 201


@pytest.mark.parametrize("words", ["exceeded quota: q", "it is forbidden because it is being terminated"])
async def test_a_quota_is_no_missing_right(words: str) -> None:
    async with server(in_turn(status(403, "Forbidden", words))) as running:
        client = running.client("t")
        with pytest.raises(EngineError):
            await client.call("POST", JOBS, {"kind": "Job"})
        await client.close()

    assert running.calls == [f"POST {JOBS}"]


async def test_an_error_is_raised_unless_it_is_expected() -> None:
    async with server(in_turn(status(404, "NotFound"))) as running:
        client = running.client()
        answer = await client.call("GET", f"{JOBS}/a", accept=("NotFound",))
        with pytest.raises(NotFound):
            await client.call("GET", f"{JOBS}/a")
        await client.close()

    assert answer.reason == "NotFound"


@pytest.mark.parametrize("reply", [None, (200, b"<html>"), (200, b"[]"), (302, b"")])
async def test_what_is_no_answer_leaves_the_outcome_open(reply: Reply) -> None:
    async with server(in_turn(reply)) as running:
        client = running.client("secret")
        with pytest.raises(Transient) as caught:
            await client.call("POST", JOBS, {})
        await client.close()

    assert len(running.requests) == 1
    assert "secret" not in str(caught.value)


async def test_rows_come_in_pages_without_objects() -> None:
    async with server(in_turn((200, page("a", "b", following="next")), (200, page("c")))) as running:
        client = running.client()
        rows = [row async for row in client.rows(JOBS, labelSelector="x=y")]
        await client.close()

    first, second = running.requests
    assert [row.name for row in rows] == ["a", "b", "c"]
    assert rows[0] == Row({"Name": "a", "Status": "Running", "Completions": "0/1"}, {})
    assert first.headers["accept"] == "application/json;as=Table;v=v1;g=meta.k8s.io"
    assert first.query == {"limit": "1000", "includeObject": "None", "labelSelector": "x=y"}
    assert second.query == {**first.query, "continue": "next"}


async def test_rows_bring_the_metadata_of_their_objects_where_that_is_asked_for() -> None:
    row = {"cells": ["a", "Running", "0/1"], "object": {"metadata": {"name": "a", "uid": "u"}}}
    table = {"kind": "Table", "columnDefinitions": COLUMNS, "metadata": {}, "rows": [row]}
    async with server(in_turn((200, table))) as running:
        client = running.client()
        (only,) = [row async for row in client.rows(JOBS, includeObject="Metadata")]
        await client.close()

    assert running.requests[0].query["includeObject"] == "Metadata"
    assert only.metadata == {"name": "a", "uid": "u"}


async def test_an_empty_list_has_no_rows() -> None:
    async with server(in_turn((200, page()))) as running:
        client = running.client()
        assert [row async for row in client.rows(JOBS)] == []
        await client.close()


@pytest.mark.parametrize(
    "answer",
    [
        page("a", following="same"),
        {"kind": "JobList", "items": []},
        {"kind": "Table", "columnDefinitions": COLUMNS, "rows": [{"cells": ["a"]}]},
    ],
)
async def test_a_list_that_never_ends_or_is_none_is_no_list(answer: Any) -> None:
    async with server(in_turn((200, answer))) as running:
        client = running.client()
        with pytest.raises(Transient):
            _ = [row async for row in client.rows(JOBS)]
        await client.close()


async def test_a_list_whose_next_page_is_forgotten_has_to_begin_anew() -> None:
    async with server(in_turn((200, page("a", following="n")), status(410, "Expired"))) as running:
        client = running.client()
        with pytest.raises(Busy, match="Expired"):
            _ = [row async for row in client.rows(JOBS)]
        await client.close()


async def test_objects_come_in_pages() -> None:
    pages = [{"items": [{"a": 1}], "metadata": {"continue": "n"}}, {"items": [{"a": 2}], "metadata": {}}]
    async with server(in_turn(*((200, one) for one in pages), (200, {"kind": "Status"}))) as running:
        client = running.client()
        assert [item async for item in client.objects("/api/v1/pods")] == [{"a": 1}, {"a": 2}]
        with pytest.raises(Transient):
            _ = [item async for item in client.objects("/api/v1/pods")]
        await client.close()


async def test_a_log_comes_as_it_is() -> None:
    async with server(in_turn((200, b"line\n"), status(404, "NotFound"))) as running:
        client = running.client()
        assert await client.log("/api/v1/namespaces/default/pods/a-0", 100) == b"line\n"
        with pytest.raises(NotFound):
            await client.log("/api/v1/namespaces/default/pods/a-0", 100)
        await client.close()

    assert running.requests[0].path.endswith("/pods/a-0/log")
    assert running.requests[0].query == {"limitBytes": "100"}


@pytest.mark.parametrize(
    ("text", "version", "supported"),
    [("v1.20.2", (1, 20), False), ("v1.26.0-eks+1", (1, 26), True), ("v2.0.1", (2, 0), True)],
)
def test_a_version_says_whether_it_is_supported(text: str, version: tuple[int, int], supported: bool) -> None:
    read = version_of({"major": "1", "minor": "26+", "gitVersion": text})

    assert read == Version(*version)
    assert read.is_supported is supported


def test_only_newer_servers_print_a_job_s_state_and_something_else_has_no_version() -> None:
    assert not Version(1, 30).has_words
    assert Version(1, 31).has_words
    with pytest.raises(Transient):
        version_of({"hello": "world"})
