"""Turns errors of services that a command calls into one line each, with a remedy."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from shared.core.errors import EngineError, Unavailable
from shared.core.no_answer import no_answer
from slipway.client.calls.refusal import Stranger, Unanswered
from slipway.failure import NOT_ALLOWED, UNKNOWN, Failure

#: The kinds of refusals of storage, by their status.
_KINDS = {401: NOT_ALLOWED, 403: NOT_ALLOWED, 404: UNKNOWN}

# Without a handler, Python prints the SDKs' warnings, such as of an answer in HTML, among a command's lines.
logging.getLogger("azure").addHandler(logging.NullHandler())


@contextmanager
def reaching(what: str, setting: str) -> Iterator[None]:
    """Turn the SDKs' errors about `what` into Failures; `setting` names where its address comes from."""
    from azure.core.exceptions import (
        AzureError,
        ClientAuthenticationError,
        DeserializationError,
        HttpResponseError,
        ServiceRequestError,
        ServiceResponseError,
    )

    try:
        yield
    except (EngineError, Unavailable) as error:
        raise Unanswered(f"{what}: {error}", f"check {setting}") from error
    except HttpResponseError as error:
        if isinstance(error, ClientAuthenticationError) and error.status_code is None:
            raise Failure(
                f"{what}: no login was found; run `az login`, or set AZURE_CLIENT_ID for a managed identity",
                NOT_ALLOWED,
            ) from error
        if _is_page(error):
            raise _stranger(what, setting, f" {error.status_code}") from error
        raise Failure(
            f"{what} {_refusal(error)}; check {setting}", _KINDS.get(error.status_code or 0)
        ) from error
    except (ServiceRequestError, ServiceResponseError) as error:
        raise Unanswered(
            f"{what} does not answer", f"check {setting}, and that it runs (`slipway up` starts a local one)"
        ) from error
    except AzureError as error:
        raise Failure(f"{what} cannot be used: {no_answer(error)}; check {setting}") from error
    except DeserializationError as error:
        raise _stranger(what, setting) from error
    except ValueError as error:  # the SDKs' error for a malformed address or connection string
        raise Failure(f"{what} cannot be used: its address is malformed; check {setting}") from error


def _is_page(error: Exception) -> bool:
    """Whether a page in HTML came: the services answer in XML or JSON."""
    headers = getattr(getattr(error, "response", None), "headers", None) or {}
    return str(headers.get("Content-Type", "")).partition(";")[0].strip().lower() == "text/html"


def _stranger(what: str, setting: str, status: str = "") -> Failure:
    answered = f"{what} is not what answered{status}: something else, such as a proxy, answers at its address"
    return Stranger(answered, f"check {setting}, and HTTPS_PROXY and NO_PROXY")


def _refusal(error: Exception) -> str:
    """The service's code and the first sentence of its message: the rest names request ids."""
    status = getattr(error, "status_code", None)
    code = getattr(getattr(error, "error", None), "code", None) or getattr(error, "error_code", None)
    lines = str(getattr(getattr(error, "error", None), "message", "") or "").strip().splitlines()
    if status in (401, 403):
        return f"refused ({status} {code or 'no code'}): the key, or the role of who is signed in, is missing"
    return f"answered {status} {code or ''}".rstrip() + (f": {lines[0]}" if lines else "")
