"""Authenticates requests: signed with the account's key, or with a token of Entra ID for Batch."""

import base64
import binascii
import hashlib
import hmac
import json
from collections.abc import Iterable
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime

from aiohttp import web

from local.azurebatch.state.errors import BatchError

_SIGNED = (
    "Content-Encoding",
    "Content-Language",
    "Content-Length",
    "Content-MD5",
    "Content-Type",
    "Date",
    "If-Modified-Since",
    "If-Match",
    "If-None-Match",
    "If-Unmodified-Since",
    "Range",
)
#: Methods whose requests have an empty length in the text to sign.
_BODILESS = ("GET", "HEAD")
_AUDIENCE = "https://batch.core.windows.net"
_PATIENCE = timedelta(minutes=15)


def authenticate(request: web.Request, account: str, key: str, now: datetime) -> None:
    """Accept the request, or raise BatchError, which shows no secret."""
    scheme, _, rest = request.headers.get("Authorization", "").partition(" ")
    if scheme == "SharedKey":
        _check_signature(request, rest, account, key, now)
    elif scheme == "Bearer":
        _check_token(rest, now)
    else:
        raise _refused(
            401, "The Authorization header is missing, or of a scheme other than SharedKey and Bearer"
        )


def _check_signature(request: web.Request, rest: str, account: str, key: str, now: datetime) -> None:
    name, _, signature = rest.partition(":")
    if name != account:
        raise _refused(403, f"The account is not {account}, which is the only one here")
    _check_date(request.headers.get("ocp-date", request.headers.get("Date", "")), now)
    secret = base64.b64decode(key)
    lengths = {request.headers.get("Content-Length") or ("" if request.method in _BODILESS else "0")}
    if request.method == "DELETE":
        lengths |= {"", "0"}
    texts = {
        _text_to_sign(request, account, folded, length) for folded in (False, True) for length in lengths
    }
    signatures = (base64.b64encode(hmac.digest(secret, text.encode(), hashlib.sha256)) for text in texts)
    if not any(hmac.compare_digest(one, signature.encode()) for one in signatures):
        raise _refused(
            403, "The MAC signature found in the HTTP request is not the same as any computed signature"
        )


def _check_date(text: str, now: datetime) -> None:
    try:
        distance = abs(parsedate_to_datetime(text) - now)
    except (ValueError, TypeError):
        raise _refused(403, "The request lacks an ocp-date or Date header with a time in GMT") from None
    if distance > _PATIENCE:
        raise _refused(403, "The time of the request is more than 15 minutes from that of the service")


def _text_to_sign(request: web.Request, account: str, folded: bool, length: str) -> str:
    """The text to sign, as documented.

    Clients leave the names of parameters as they are, or fold their case. For a DELETE without a body, some
    sign the length 0, and some an empty one.
    """
    values = [request.headers.get(name, "") for name in _SIGNED]
    values[2] = length
    own = _sorted(
        (name.lower(), value) for name, value in request.headers.items() if name.lower().startswith("ocp-")
    )
    headers = "".join(f"{name}:{value}\n" for name, value in own)
    pairs = {(name.lower() if folded else name): value for name, value in request.query.items() if value}
    queries = "".join(f"\n{name}:{value}" for name, value in _sorted(pairs.items()))
    lines = "\n".join([request.method, *values])
    return f"{lines}\n{headers}/{account}{request.rel_url.raw_path}{queries}"


def _sorted(pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    return sorted(pairs, key=lambda pair: pair[0])


def _check_token(token: str, now: datetime) -> None:
    """Check the audience and time.

    The emulator has no keys of Entra ID, so it does not verify the signature.
    """
    try:
        payload = token.split(".")[1]
        claims = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
        audience, expires = str(claims["aud"]).rstrip("/"), float(claims["exp"])
    except (IndexError, KeyError, TypeError, ValueError, binascii.Error):
        raise _refused(401, "The token is not a JSON web token with the claims aud and exp") from None
    if audience != _AUDIENCE:
        raise _refused(401, f"The token is not for {_AUDIENCE}/; ask for the scope {_AUDIENCE}//.default")
    if expires <= now.timestamp():
        raise _refused(401, "The token has expired")


def _refused(status: int, detail: str) -> BatchError:
    message = (
        "Server failed to authenticate the request. "
        "Make sure the value of Authorization header is formed correctly including the signature."
    )
    return BatchError(status, "AuthenticationFailed", message, {"AuthenticationErrorDetail": detail})
