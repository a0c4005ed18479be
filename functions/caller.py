"""The caller of the HTTP API: the host has checked a function key, or the app checks a token of Entra."""

from __future__ import annotations

from contextvars import ContextVar

import azure.functions as func

from functions.process import ports
from shared.core.caller import KEY_HOLDER, Caller
from shared.core.errors import Misuse

#: Set by `api_route` before a handler runs.
_caller: ContextVar[Caller] = ContextVar("caller")


def caller() -> Caller:
    """The caller of the current request."""
    return _caller.get()


def sign_in() -> dict[str, dict[str, str]]:
    """The data with which a page lets a person sign in, as members of a refusal."""
    tokens = ports().tokens
    way = tokens.sign_in if tokens else None
    names = ("authorize", "token", "issuer", "client", "scope")
    return {"signIn": {name: getattr(way, name) for name in names}} if way else {}


async def identify(req: func.HttpRequest) -> None:
    """Find out who calls. Raises Misuse: 401 without a good token, 403 without any role."""
    tokens = ports().tokens
    if tokens is None:
        _caller.set(KEY_HOLDER)
        return
    scheme, _, token = req.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise Misuse(
            "an access token is needed",
            status=401,
            remedy="send Authorization: Bearer, with a token for this deployment",
        )
    from shared.intake.teams import with_teams

    _caller.set(await with_teams(ports(), await tokens.verify(token.strip())))
