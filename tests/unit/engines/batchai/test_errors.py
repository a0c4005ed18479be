"""What an error of Batch AI's API means for its caller."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from aiohttp import web
from azure.core.exceptions import (
    ClientAuthenticationError,
    HttpResponseError,
    ResourceExistsError,
    ServiceRequestError,
)

from shared.core.engine import Order
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
from shared.core.job import Target
from shared.engines.batchai.client import Workspace
from shared.engines.batchai.engine import BatchAIEngine
from shared.engines.batchai.errors import api_errors
from tests.doubles.server import answering

_DOCUMENT = {
    "properties": {
        "nodeCount": 1,
        "stdOutErrPathPrefix": "/logs",
        "customToolkitSettings": {"commandLine": "true"},
    }
}


@pytest.mark.parametrize(
    ("status", "code", "expected"),
    [
        (409, "QuotaExceeded", Saturated),
        (403, "CoreQuotaReached", Saturated),
        (409, "OperationNotAllowed", Saturated),
        (401, "AuthenticationFailed", Misconfigured),
        (403, "AuthorizationFailed", Misconfigured),
        (404, "WorkspaceNotFound", Misconfigured),
        (404, "ClusterNotFound", Misconfigured),
        (404, "ResourceGroupNotFound", Misconfigured),
        (404, "SubscriptionNotFound", Misconfigured),
        (404, "InvalidResourceType", Misconfigured),
        (404, "InvalidResourceNamespace", Misconfigured),
        (400, "InvalidApiVersionParameter", Misconfigured),
        (400, "MissingApiVersionParameter", Misconfigured),
        (400, "NoRegisteredProviderFound", Misconfigured),
        (409, "MissingSubscriptionRegistration", Misconfigured),
        (404, "JobNotFound", NotFound),
        (400, "OutputDirectoryNotFound", NotFound),
        (400, "InvalidRequest", Rejected),
        (413, "RequestEntityTooLarge", Rejected),
        (409, "JobBeingDeleted", Conflict),
        (429, "TooManyRequests", Busy),
        (500, "InternalServerError", Transient),
        (503, "InsufficientStorage", Transient),
    ],
)
async def test_an_error_of_batch_ai_has_one_meaning(
    status: int, code: str, expected: type[EngineError]
) -> None:
    kinds: dict[int, Any] = {401: ClientAuthenticationError, 409: ResourceExistsError}
    error = kinds.get(status, HttpResponseError)(message="said so")
    error.status_code, error.error = status, SimpleNamespace(code=code, message="said so")

    with pytest.raises(expected) as caught:
        async with api_errors():
            raise error

    assert type(caught.value) is expected
    assert "said so" in str(caught.value)


async def test_a_batch_ai_that_is_not_there_leaves_the_outcome_open() -> None:
    with pytest.raises(Transient, match="did not answer"):
        async with api_errors():
            raise ServiceRequestError("no way")


@pytest.mark.parametrize("kind", ["experiments", "jobs"])
@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("QuotaExceeded", Saturated),
        ("OperationNotAllowed", Saturated),
        ("MissingSubscriptionRegistration", Misconfigured),
    ],
)
async def test_a_refusal_with_the_status_of_an_existing_name_is_no_existing_name(
    kind: str, code: str, expected: type[EngineError]
) -> None:
    async def answer(request: web.Request) -> web.Response:
        if kind in request.path.rsplit("/", 2)[-2]:
            return web.json_response({"error": {"code": code, "message": "said so"}}, status=409)
        if "experiments" in request.path.rsplit("/", 2)[-2]:
            return web.json_response({"name": "e"})
        return web.json_response({"error": {"code": "JobNotFound", "message": "none"}}, status=404)

    target = Target(engine="batchai", cluster="c", experiment="e", name="n", token="t")
    async with answering(answer) as url:
        engine = BatchAIEngine(Workspace(url, "s", "g", "w"))
        try:
            with pytest.raises(expected, match="said so"):
                await engine.submit(Order(target, _DOCUMENT))
        finally:
            await engine.close()
