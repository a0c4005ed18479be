"""The connection to a Batch account: signed calls, pages of lists, and errors in our classes."""

from __future__ import annotations

import base64
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import pytest
from azure.core.credentials import AccessToken
from azure.core.exceptions import ClientAuthenticationError

from shared.core.errors import (
    Busy,
    Conflict,
    EngineError,
    Misconfigured,
    NotFound,
    Rejected,
    Saturated,
    Transient,
)
from shared.engines.batch.wire.client import API, BatchClient
from shared.engines.batch.wire.errors import failure
from shared.engines.batch.wire.sign import Identity, SharedKey, key_from
from tests.unit.engines.batch.account import Reply, account, error

SECRET = b"0123456789abcdef0123456789abcdef"
KEY = SharedKey("acct", SECRET)
SCOPE = "https://batch.core.windows.net/.default"


def replies(*answers: Reply | None) -> Any:
    """Gives them in turn, and the last one for ever."""
    rest = list(answers)
    return lambda request: rest.pop(0) if len(rest) > 1 else rest[0]


async def test_a_call_names_its_version_and_is_signed() -> None:
    async with account(replies((200, {"id": "p"}))) as running:
        client = BatchClient(running.url, KEY)
        answer = await client.call("GET", "/pools/p")
        await client.close()

    (request,) = running.requests
    assert answer.body == {"id": "p"}
    assert request.query == {"api-version": API}
    assert request.headers["authorization"].startswith("SharedKey acct:")
    assert request.headers["ocp-date"].endswith("GMT")


async def test_the_text_that_is_signed_is_the_service_s() -> None:
    noon = datetime(2026, 9, 7, 12, tzinfo=UTC).timestamp()
    headers = await SharedKey("acct", SECRET, lambda: noon).headers(
        "POST",
        "/jobs/gpu-normal/tasks",
        {"timeout": "30", "api-version": "2024-07-01.20.0"},
        {"Content-Type": "application/json", "Content-Length": "17", "Accept": "x"},
    )

    # Made with Microsoft's azure-batch 15.1.0 (BatchSharedKeyAuthPolicy) for the same request.
    assert headers["Authorization"] == "SharedKey acct:l+VDsqhacyuqMTBjChtyLEZ3r0DnRhF+ioHIp/5a5TA="


@pytest.mark.parametrize(
    ("method", "body"), [("GET", None), ("POST", None), ("DELETE", None), ("POST", {"id": "t"})]
)
async def test_what_is_signed_is_what_arrives(method: str, body: Any) -> None:
    async with account(replies((200, {}))) as running:
        client = BatchClient(running.url, KEY)
        await client.call(method, "/jobs/q/tasks/t", body, query={"$select": "id,state"})
        await client.close()

    (request,) = running.requests
    noted = request.headers.pop("authorization")
    arrived = parsedate_to_datetime(request.headers.pop("ocp-date")).timestamp()
    again = SharedKey("acct", SECRET, lambda: arrived)
    path = request.raw.partition("?")[0]
    assert (await again.headers(method, path, request.query, request.headers))["Authorization"] == noted


async def test_a_list_goes_on_where_its_link_says_but_never_to_another_address() -> None:
    link = "https://elsewhere.example/jobs/q/tasks?%24filter=state%20eq%20'active'&%24skiptoken=WATV2&api-version=1"
    pages = replies((200, {"value": [{"id": "a"}], "odata.nextLink": link}), (200, {"value": [{"id": "b"}]}))
    async with account(pages) as running:
        client = BatchClient(running.url, KEY)
        listed = [one["id"] async for one in client.listed("/jobs/q/tasks", filter="state eq 'active'")]
        await client.close()

    first, second = running.requests
    assert listed == ["a", "b"]
    assert first.query == {"maxresults": "1000", "$filter": "state eq 'active'", "api-version": API}
    assert second.query == {"$filter": "state eq 'active'", "$skiptoken": "WATV2", "api-version": API}


@pytest.mark.parametrize(
    "page", [{}, {"value": "x"}, {"value": [], "odata.nextLink": "https://x/jobs/q/tasks?maxresults=1000"}]
)
async def test_a_list_that_cannot_be_read_decides_nothing(page: Any) -> None:
    async with account(replies((200, page))) as running:
        client = BatchClient(running.url, KEY)
        with pytest.raises(Transient, match="sent a list that"):
            assert [one async for one in client.listed("/jobs/q/tasks")]
        await client.close()


async def test_an_answer_that_is_lost_leaves_the_outcome_open() -> None:
    async with account(replies(None)) as running:
        client = BatchClient(running.url, KEY)
        with pytest.raises(Transient, match="Azure Batch does not answer") as caught:
            await client.call("POST", "/jobs/q/tasks", {"id": "t"})
        await client.close()

    assert type(caught.value) is Transient


async def test_an_error_to_be_accepted_is_an_answer() -> None:
    async with account(replies((409, error("TaskExists")))) as running:
        client = BatchClient(running.url, KEY)
        answer = await client.call("POST", "/jobs/q/tasks", {"id": "t"}, accept=("TaskExists",))
        with pytest.raises(Conflict):
            await client.call("POST", "/jobs/q/tasks", {"id": "t"})
        await client.close()

    assert (answer.status, answer.code) == (409, "TaskExists")


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (409, "ActiveJobAndScheduleQuotaReached", Saturated),
        (409, "PoolQuotaReached", Saturated),
        (409, "JobBeingDeleted", Busy),
        (409, "PoolBeingDeleted", Busy),
        (409, "JobBeingTerminated", Busy),
        (409, "TaskExists", Conflict),
        (409, "JobCompleted", Misconfigured),
        (409, "JobDisabled", Misconfigured),
        (409, "TaskFilesCleanedup", NotFound),
        (409, "SomethingNew", Transient),
        (412, "ConditionNotMet", Busy),
        (503, "ServerBusy", Busy),
        (503, "TooManyEnableAutoScaleRequests", Busy),
        (429, "", Busy),
        (500, "OperationTimedOut", Transient),
        (500, "", Transient),
        (400, "InvalidPropertyValue", Rejected),
        (413, "RequestBodyTooLarge", Rejected),
        (400, "InvalidQueryParameterValue", Misconfigured),
        (400, "UnsupportedQueryParameter", Misconfigured),
        (403, "AuthenticationFailed", Misconfigured),
        (401, "", Misconfigured),
        (404, "PoolNotFound", Misconfigured),
        (404, "TaskNotFound", NotFound),
        (404, "JobNotFound", NotFound),
        (404, "", Transient),
    ],
)
def test_the_code_of_an_error_decides_what_its_caller_does(
    status: int, code: str, kind: type[EngineError]
) -> None:
    assert type(failure(status, error(code) if code else {})) is kind


def test_an_error_says_what_is_wrong_without_what_differs_each_time() -> None:
    body = error("InvalidPropertyValue", "One value is bad.", PropertyName="id", Reason="too long")

    text = "Azure Batch: InvalidPropertyValue: One value is bad.; PropertyName: id; Reason: too long"
    assert str(failure(400, body)) == text
    assert str(failure(502, {})) == "Azure Batch: 502"
    assert "delete it" in str(failure(409, error("JobCompleted")))
    assert "upgrade Slipway" in str(failure(400, error("InvalidQueryParameterValue")))
    assert "this machine's clock" in str(failure(403, error("AuthenticationFailed")))


class _Login:
    """A credential: each entry is a token's seconds to live, or None for no login."""

    def __init__(self, *lives: float | None) -> None:
        self.lives = list(lives)
        self.closed = False

    async def get_token(self, scope: str) -> AccessToken:
        assert scope == "https://batch.core.windows.net/.default"
        life = self.lives.pop(0)
        if life is None:
            raise ClientAuthenticationError("no login")
        return AccessToken(f"token-{len(self.lives)}", int(life))

    async def close(self) -> None:
        self.closed = True


async def test_a_token_is_kept_until_shortly_before_its_end_and_an_old_one_while_no_new_one_is_had() -> None:
    now = [0.0]
    login = _Login(1000, None, 9000)
    identity = Identity("", SCOPE, login, lambda: now[0])

    async def bearer(at: float) -> str:
        now[0] = at
        return (await identity.headers("GET", "/", {}, {}))["Authorization"]

    tokens = [await bearer(at) for at in (0, 600, 800, 810, 900)]
    await identity.close()

    assert tokens == ["Bearer token-2"] * 4 + ["Bearer token-0"]
    assert login.closed


async def test_without_a_login_an_operator_is_told_what_to_do() -> None:
    with pytest.raises(Misconfigured, match="run `az login`, or set AZURE_CLIENT_ID"):
        await Identity("", SCOPE, _Login(None), lambda: 0.0).headers("GET", "/", {}, {})


def test_a_key_is_never_shown() -> None:
    text = base64.b64encode(SECRET).decode()

    assert key_from("acct", f" {text}\n", "here") == KEY
    assert "0123" not in repr(KEY)
    with pytest.raises(Misconfigured, match=r"^here is not a key of a Batch account") as caught:
        key_from("acct", "not base64 at all!", "here")
    assert "not base64" not in str(caught.value)
