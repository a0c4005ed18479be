"""What every handler receives, and the envelope of every response."""

import json
import uuid
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from email.utils import format_datetime
from typing import Any

from aiohttp import web

from local.azurebatch.api.views import without_secrets
from local.azurebatch.run.conductor import Conductor
from local.azurebatch.service.facts import facts
from local.azurebatch.service.older import as_of
from local.azurebatch.settings import Settings
from local.azurebatch.state.database import Store
from local.azurebatch.state.errors import BatchError, query
from local.azurebatch.state.faults import Faults
from local.azurebatch.state.models import Record
from local.azurebatch.state.moment import etag, stamp

_JSON = "application/json;odata=minimalmetadata"
_ERRORS = "$metadata#Microsoft.Azure.Batch.Protocol.Entities.Container.errors/@Element"


@dataclass(frozen=True)
class Emulator:
    """The parts that handlers work with."""

    store: Store
    conductor: Conductor
    settings: Settings
    clock: Callable[[], datetime]
    faults: Faults


@dataclass(frozen=True)
class Call:
    """One request.

    `names`: the variables of its path; `body`: its document, or empty; `most`: of the items on a page.
    """

    emulator: Emulator
    request: web.Request
    names: Mapping[str, str]
    body: Mapping[str, Any]
    most: int = 0

    @property
    def store(self) -> Store:
        """The emulator's records."""
        return self.emulator.store

    @property
    def version(self) -> str:
        """The version of the service that the caller speaks to."""
        return version_of(self.request)

    def as_of(self, name: str, view: Mapping[str, Any]) -> dict[str, Any]:
        """What the caller's version has of an answer. `name`: the object that it is."""
        return as_of(name, self.version, view)

    @property
    def base(self) -> str:
        """The address of the account, as this caller uses it."""
        return base_of(self.request)


Handler = Callable[[Call], Awaitable[web.StreamResponse]]


def base_of(request: web.Request) -> str:
    """The address of the account, as the caller of a request uses it."""
    return f"{request.scheme}://{request.host}"


def version_of(request: web.Request) -> str:
    """The api-version of a request."""
    return str(request.query.get("api-version", ""))


def versions_of(record: Record) -> dict[str, str]:
    """The headers with the version of a record."""
    return {
        "ETag": etag(record.version),
        "Last-Modified": format_datetime(record.version, usegmt=True),
    }


def document(
    call: Call, kind: str, body: Mapping[str, Any], headers: Mapping[str, str] | None = None
) -> web.Response:
    """A response with one document of a kind, as in `pools/@Element`, without the secrets that were sent."""
    text = json.dumps({"odata.metadata": f"{call.base}/$metadata#{kind}", **without_secrets(body)})
    return web.Response(text=text, headers={"Content-Type": _JSON, **(headers or {})})


def done(call: Call, status: int, record: Record | None = None, path: str = "") -> web.Response:
    """A response without a body: 200, 201, 202 or 204."""
    address = f"{call.base}{path or call.request.path}"
    headers = {} if call.request.method in ("DELETE", "HEAD") else {"DataServiceId": address}
    if record is not None:
        headers |= versions_of(record)
    if status == 201:
        headers["Location"] = address
    return web.Response(status=status, headers=headers)


def check_version(request: web.Request) -> None:
    """Check that the api-version is supported. Raises BatchError."""
    version = request.query.get("api-version")
    if version is None:
        message = "An url query parameter that's mandatory for this request is not specified."
        raise BatchError(400, "MissingRequiredQueryParameter", message, {"QueryParameterName": "api-version"})
    if version not in facts().versions:
        raise query("api-version", version, f"The service has published {', '.join(facts().versions)}")


def check_conditions(request: web.Request, record: Record) -> None:
    """Check If-Match, If-None-Match and the conditions on dates. Raises BatchError."""
    tags = {"*", etag(record.version)}
    when = record.version.replace(microsecond=0)
    headers = request.headers
    failed = ("If-Match" in headers and not _tags(headers["If-Match"]) & tags) or (
        (before := request.if_unmodified_since) is not None and when > before
    )
    unchanged = ("If-None-Match" in headers and bool(_tags(headers["If-None-Match"]) & tags)) or (
        (since := request.if_modified_since) is not None and when <= since
    )
    if unchanged and request.method in ("GET", "HEAD"):
        raise BatchError(304, "NotModified", "")
    if failed or unchanged:
        raise BatchError(
            412, "ConditionNotMet", "The condition specified using HTTP conditional header(s) is not met."
        )


def refusal(request: web.Request, error: BatchError, number: str, now: datetime) -> web.Response:
    """An error as the service sends it."""
    if error.status == 304 or request.method == "HEAD":
        return web.Response(status=error.status)
    text = f"{error.message}\nRequestId:{number}\nTime:{stamp(now)}"
    body: dict[str, Any] = {
        "odata.metadata": f"{base_of(request)}/{_ERRORS}",
        "code": error.code,
        "message": {"lang": "en-US", "value": text},
    }
    if error.values:
        body["values"] = [{"key": key, "value": value} for key, value in error.values.items()]
    return web.Response(status=error.status, text=json.dumps(body), headers={"Content-Type": _JSON})


def sign(request: web.Request, answer: web.StreamResponse, number: str) -> None:
    """The headers of every response."""
    answer.headers["request-id"] = number
    answer.headers["DataServiceVersion"] = "3.0"
    own = request.headers.get("client-request-id", "")
    if own and request.headers.get("return-client-request-id", "").lower() == "true" and _is_uuid(own):
        answer.headers["client-request-id"] = own


def _is_uuid(text: str) -> bool:
    try:
        uuid.UUID(text)
    except ValueError:
        return False
    return True


def _tags(header: str) -> set[str]:
    """ETags of a condition. The service accepts them with and without quotes."""
    return {part.strip().removeprefix("W/").strip('"') for part in header.split(",")}
