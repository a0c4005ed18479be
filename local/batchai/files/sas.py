"""Shared access signatures of the File service: both kinds that are signed with the account's key.

By Azure Storage REST, "Create a service SAS" and "Create an account SAS", from version 2015-04-05 on.
No stored access policies, no user delegation.
"""

import base64
import hashlib
import hmac
import ipaddress
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple

from local.batchai.files.signature import matches

_FIRST_VERSION, _WITH_SCOPE = "2015-04-05", "2020-12-06"
_TIMES = ("%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%dT%H:%MZ", "%Y-%m-%d")
_SERVICE_FIELDS = ("si", "sip", "spr", "sv", "rscc", "rscd", "rsce", "rscl", "rsct")
_ACCOUNT_FIELDS = ("sp", "ss", "srt", "st", "se", "sip", "spr", "sv")

#: Operation → type of resource, and the permissions, of which it needs one.
_NEEDS = {
    "GET share list": ("s", "l"),
    "PUT share": ("c", "cw"),
    "GET share": ("c", "r"),
    "DELETE share": ("c", "d"),
    "GET directory list": ("c", "l"),
    "PUT directory": ("o", "cw"),
    "GET directory": ("o", "r"),
    "DELETE directory": ("o", "d"),
    "PUT file": ("o", "cw"),
    "PUT file range": ("o", "w"),
    "GET file": ("o", "r"),
    "DELETE file": ("o", "d"),
}
#: The operations that only an account SAS allows.
_OF_SHARES = {"GET share list", "PUT share", "GET share", "DELETE share"}
_FAILED = "AuthenticationFailed"


@dataclass(frozen=True)
class SignedRequest:
    """A request: its operation, its decoded path from the account on, its query, and how it came."""

    operation: str
    path: str
    query: Mapping[str, str]
    scheme: str
    address: str


class Refusal(NamedTuple):
    """The refusal of a signature, in the words of the service."""

    code: str
    message: str


def refusal(request: SignedRequest, account: str, key: str, now: datetime) -> Refusal | None:
    """Why the signature in the query does not allow the request; None if it does."""
    query = request.query
    if query.get("sv", "") < _FIRST_VERSION:
        return Refusal(_FAILED, f"A SAS needs sv, {_FIRST_VERSION} or later")
    if "si" in query or "skoid" in query:
        return Refusal(_FAILED, "This emulator does not know stored access policies or user delegation keys")
    lines = _account_lines(query, account) if "ss" in query else _service_lines(request)
    digest = hmac.new(base64.b64decode(key), "\n".join(lines).encode(), hashlib.sha256).digest()
    if not matches(query.get("sig", ""), base64.b64encode(digest).decode()):
        return Refusal(_FAILED, "The signature of the SAS does not fit")
    return next(_limits(request, now), None)


def _account_lines(query: Mapping[str, str], account: str) -> list[str]:
    lines = [account, *(query.get(name, "") for name in _ACCOUNT_FIELDS)]
    return [*lines, query.get("ses", ""), ""] if query["sv"] >= _WITH_SCOPE else [*lines, ""]


def _service_lines(request: SignedRequest) -> list[str]:
    """The resource is the path itself, or its share: by `sr`."""
    parts = request.path.split("/")
    resource = "/".join(parts[:3]) if request.query.get("sr") == "s" else request.path
    head = [request.query.get(name, "") for name in ("sp", "st", "se")]
    return [*head, f"/file{resource}", *(request.query.get(name, "") for name in _SERVICE_FIELDS)]


def _limits(request: SignedRequest, now: datetime) -> Iterator[Refusal]:
    query = request.query
    end, start = _time(query.get("se", "")), _time(query.get("st", ""))
    if end is None or end < now:
        yield Refusal(_FAILED, "The SAS has expired, or its end cannot be read")
    if "st" in query and (start is None or start > now):
        yield Refusal(_FAILED, "The SAS is not valid yet, or its start cannot be read")
    if query.get("spr") == "https" and request.scheme != "https":
        yield Refusal("AuthorizationProtocolMismatch", "The SAS is for https only")
    if "sip" in query and not _in_range(request.address, query["sip"]):
        yield Refusal(
            "AuthorizationSourceIPMismatch", "The SAS is for other addresses than that of the request"
        )
    kind, permissions = _NEEDS.get(request.operation, ("", ""))
    if "ss" in query:
        if "f" not in query["ss"]:
            yield Refusal("AuthorizationServiceMismatch", "The SAS is not for the File service")
        if kind not in query.get("srt", ""):
            yield Refusal(
                "AuthorizationResourceTypeMismatch", f"The SAS needs {kind} in srt for this operation"
            )
    elif query.get("sr") not in ("s", "f") or request.operation in _OF_SHARES:
        yield Refusal(
            "AuthorizationResourceTypeMismatch", "The SAS is for files and directories in one share"
        )
    elif query["sr"] == "f" and "file" not in request.operation:
        yield Refusal("AuthorizationResourceTypeMismatch", "The SAS is for one file")
    if not set(permissions) & set(query.get("sp", "")):
        yield Refusal(
            "AuthorizationPermissionMismatch", f"The SAS needs one of the permissions {permissions or '-'}"
        )


def _time(text: str) -> datetime | None:
    for form in _TIMES:
        try:
            return datetime.strptime(text, form).replace(tzinfo=UTC)
        except ValueError:
            continue
    return None


def _in_range(address: str, allowed: str) -> bool:
    first, _, last = allowed.partition("-")
    try:
        low, high = ipaddress.ip_address(first), ipaddress.ip_address(last or first)
        return int(low) <= int(ipaddress.ip_address(address)) <= int(high)
    except ValueError:
        return False
