"""The caller of the HTTP API: by a token of Entra or a named key, or else a key that the host has checked."""

from __future__ import annotations

from contextvars import ContextVar

import azure.functions as func

from functions.process import ports
from shared.core.caller import KEY_HOLDER, Caller
from shared.core.errors import Misuse

#: Set by `operation` before a handler runs.
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


def challenge() -> str:
    """What a caller who is not known has to send, for the header WWW-Authenticate."""
    return "Bearer" if ports().tokens else "FunctionKey"


async def identify(req: func.HttpRequest) -> None:
    """Find out who calls.

    Raises Misuse: 401 without a good token or without a key, 403 without any role, and for an unnamed key.
    """
    app = ports()
    if app.tokens is not None:
        who = await app.tokens.verify(_token(req))
    elif app.keys is not None:
        # The host looks for it in this order, too.
        who = app.keys.holder(req.headers.get("x-functions-key") or _code(req))
    else:
        _caller.set(KEY_HOLDER)
        return
    from shared.intake.teams import with_teams

    _caller.set(await with_teams(app, who))


def _code(req: func.HttpRequest) -> str:
    """The key in the query, whose parameter the host takes in any case, with blanks around its value."""
    return next((value.strip() for name, value in req.params.items() if name.lower() == "code"), "")


def _token(req: func.HttpRequest) -> str:
    header: str = req.headers.get("Authorization", "")
    scheme, _, token = header.partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise Misuse(
            "an access token is needed",
            status=401,
            remedy="send Authorization: Bearer, with a token for this deployment",
        )
    return token.strip()
