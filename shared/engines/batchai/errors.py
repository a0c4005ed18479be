"""Translates errors of the Batch AI client into ours, which show the caller what to do next."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

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
from shared.core.no_answer import no_answer

_QUOTA = frozenset({"QuotaExceeded", "CoreQuotaReached", "OperationNotAllowed"})
#: The service's message, with status 400, for a directory that a job does not have.
_ABSENT = "OutputDirectoryNotFound"
#: Something that the settings name is missing, or the API has another version than ours, or is not there.
_OURS = frozenset(
    {
        "WorkspaceNotFound",
        "ClusterNotFound",
        "ResourceGroupNotFound",
        "SubscriptionNotFound",
        "InvalidResourceType",
        "InvalidResourceNamespace",
        "InvalidApiVersionParameter",
        "MissingApiVersionParameter",
        "NoRegisteredProviderFound",
        "MissingSubscriptionRegistration",
    }
)
#: The codes of 404 that name a resource of the service, and no folder of a share.
_RESOURCES = _OURS | {"JobNotFound", "ExperimentNotFound"}


@asynccontextmanager
async def api_errors() -> AsyncIterator[None]:
    """Translate the SDK's errors into those of `errors.py`."""
    from azure.core.exceptions import AzureError, ClientAuthenticationError, HttpResponseError

    try:
        yield
    except ClientAuthenticationError as error:
        raise Misconfigured(f"the cluster's API refuses our identity: {_text(error)}") from error
    except HttpResponseError as error:
        raise _meaning(error) from error
    except AzureError as error:
        raise Transient(f"the cluster's API did not answer: {no_answer(error)}") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        # A proxy's page, or an invalid date: an unreadable response decides nothing.
        raise Transient("the cluster's API sent an unreadable answer") from error


def raise_for(answer: Any, *status: int) -> None:
    """Raise the SDK's own error for a status that is not expected (200, if none is named)."""
    from azure.core import exceptions

    if answer.status_code in (status or (200,)):
        return
    kinds = {
        401: exceptions.ClientAuthenticationError,
        404: exceptions.ResourceNotFoundError,
        409: exceptions.ResourceExistsError,
    }
    raise kinds.get(answer.status_code, exceptions.HttpResponseError)(response=answer)


def names_ours(error: Any) -> bool:
    """Whether the error is about what the settings name, or about the API itself, and not about a job."""
    return _code(error) in _OURS


def raise_refusal(error: Any) -> None:
    """Raise an error with status 409 again, unless it says that the resource exists or is being deleted."""
    if _code(error) in _QUOTA | _OURS:
        raise error


def names_resource(error: Any) -> bool:
    """Whether a missing resource of the service is named; else it is what the request asks about."""
    return _code(error) in _RESOURCES


def _code(error: Any) -> str:
    return str(getattr(error.error, "code", "") or "")


def _meaning(error: Any) -> EngineError:
    status, code = error.status_code, _code(error)
    text = _text(error)
    if code in _QUOTA:
        return Saturated(text)
    if status == 403 or code in _OURS:
        return Misconfigured(text)
    if status == 404 or code == _ABSENT:
        return NotFound(text)
    if status in (400, 405, 413, 422):
        return Rejected(text)
    if status == 409:
        return Conflict(text)
    return (Busy if status == 429 else Transient)(text)


def _text(error: Any) -> str:
    inner = getattr(error, "error", None)
    message = str(getattr(inner, "message", "") or error.reason or error.message or "").strip()
    target = getattr(inner, "target", None)
    where = f" (at {target})" if target else ""
    code = " ".join(filter(None, (str(error.status_code), getattr(inner, "code", None))))
    return f"{': '.join(filter(None, (code, message)))}{where}"[:1000]
