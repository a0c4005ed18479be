"""Why a deployment refuses to know the caller (401), and what a person can do about it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import aiohttp

#: What a request brings, and what a deployment asks for.
_NOTHING, _KEY, _TOKEN = "nothing", "a function key", "an access token"
_GIVE = "give it with --key or SLIPWAY_KEY"


def not_admitted(
    answer: aiohttp.ClientResponse, url: str, problem: Mapping[str, Any] | None, *, is_empty: bool
) -> str:
    """The reason and the remedy. `problem`: the document of the app, None where something else answered.

    The Functions host refuses a wrong function key itself, without a word.
    """
    credential = _credential(answer)
    if problem is not None:
        kind = _TOKEN if answer.headers.get("WWW-Authenticate", "").startswith("Bearer") else _KEY
        reason = str(problem.get("detail", ""))
    elif is_empty:
        kind = _KEY
        reason = f"{_KEY} is needed" if credential != _KEY else f"{url} does not know the function key"
    else:
        return (
            f"{url} answered 401, but not as Slipway does: a gateway, or the platform's own sign-in, asks "
            "for credentials; ask its operator"
        )
    mistaken = f", and {credential} was sent" if credential not in (_NOTHING, kind) else ""
    return f"refused (401): {reason}{mistaken}; {_remedy(kind, url, is_known=credential == kind)}"


def _credential(answer: aiohttp.ClientResponse) -> str:
    headers = answer.request_info.headers
    if "Authorization" in headers:
        return _TOKEN
    return _KEY if "x-functions-key" in headers else _NOTHING


def _remedy(kind: str, url: str, *, is_known: bool) -> str:
    """`is_known`: the caller sent one of the right kind, which is not, or no longer, good."""
    if kind == _TOKEN:
        new = "get a new one" if is_known else "get one"
        return (
            f"{new} (`az account get-access-token --resource api://APP`) and {_GIVE}, or let each command "
            f"get its own: `slipway login {url} --scope api://APP/.default`"
        )
    again = (
        "copy it again from its operator, or from App keys in the Azure portal, and "
        if is_known
        else "ask its operator for one; "
    )
    return f"{again}{_GIVE}, or once and for all: `slipway login {url}`"
