"""Turns a refusal of the API, or a page that is not of the API, into an exception with lines for a person."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from shared.answers.mark import MARK
from slipway.client.calls.admission import not_admitted
from slipway.client.calls.kinds import kind_of
from slipway.failure import NO_ANSWER, NOT_ALLOWED, REJECTED, UNKNOWN, Failure
from slipway.terminal.characters import printable

if TYPE_CHECKING:
    import aiohttp

#: The name that problems give to the body of a request.
_BODY = "message"
#: Most characters of a refusal that are shown.
_LONGEST = 4000
#: The type of a problem document, by which versions without the mark are known.
_PROBLEM = "application/problem+json"
#: Calls that the API's remedies name, and the commands that make them.
_COMMANDS = {
    "GET /api/jobs/{id}/events": "slipway events list JOB",
    "GET /api/jobs": "slipway jobs",
    "GET /api/dead": "slipway dead list",
    "POST /api/receivers/test": "slipway events test URL",
    "…/files": "slipway files JOB",
    "see its problems": "slipway show JOB",
}
#: Statuses for a request that something else does not take in this form, however often it is sent.
_NOT_TAKEN = frozenset({405, 411, 413, 415})
#: Statuses with which a gateway says that the app did not answer it.
_GATEWAY = frozenset({408, 425, 429})
#: Statuses for an address that is too long, and the characters from which on web servers refuse one.
_TOO_LONG, _LONGEST_ADDRESS = frozenset({400, 414, 431}), 8_000
#: Statuses for a body that is too large; the Functions host answers 500 to one of more bytes than these.
_TOO_LARGE, _LARGEST_BODY = frozenset({413, 500}), 100 << 20


class NotAdmitted(Failure):
    """The app, or its host, refuses the key or the token: it has not done what was asked."""

    kind = NOT_ALLOWED


class Barrier(Failure):
    """A page of something else that another try would meet as well, such as a login."""

    kind = NO_ANSWER


class Absent(Failure):
    """The service reports that it does not exist."""

    kind = UNKNOWN
    #: whether an earlier try of the same request may have made that so
    repeated = False


class Changed(Failure):
    """The file has changed since the last read."""

    kind = REJECTED
    retry = True


class Unanswered(Failure):
    """No answer, or a request to try again: the same call may succeed later."""

    kind = NO_ANSWER
    retry = True
    #: seconds for which the call is worth repeating
    patience = 300.0

    def __init__(self, reason: str, remedy: str = "", *, retry_after: float = 0.0) -> None:
        super().__init__(f"{reason}; {remedy}" if remedy else reason, remedy=remedy)
        self.reason = reason
        #: seconds that the answer requests to wait
        self.retry_after = retry_after
        #: whether it was repeated for as long as that makes sense
        self.spent = False


class Unreached(Unanswered):
    """Nothing listens at an address that has not answered before: nothing was sent."""

    patience = 0.0


class Stranger(Unanswered):
    """A page of something else, at an address where Slipway has not answered before.

    Either the app is starting, or the address is wrong.
    """

    patience = 60.0


class Barred(Unanswered):
    """A `Barrier` in answer to a submission, which may have been accepted before: asked again for seconds."""

    patience = 10.0


class Busy(Unanswered):
    """Slipway itself asks to try again, as while its storage does not answer."""

    patience = 120.0


class Silent(Unanswered):
    """Slipway answers that a cluster does not answer. A command that follows a job waits for it."""


#: A range beyond the end of a file (416) is of one that has become shorter.
_TYPES: Mapping[int, type[Failure]] = {404: Absent, 412: Changed, 416: Changed}
_AGAIN: Mapping[int, type[Unanswered]] = {429: Busy, 502: Silent, 503: Busy, 504: Busy}


def is_own(answer: aiohttp.ClientResponse) -> bool:
    """Whether the API has answered, and not something between it and here."""
    return MARK in answer.headers or answer.content_type == _PROBLEM


def placed(problems: Sequence[Mapping[str, Any]], file: str) -> str:
    """Problems as lines for people; those of the request's body name its file."""
    from shared.jobspec import report  # imports the whole reader of jobs, which most commands do not need

    named = [{**one, "file": file} if one.get("file") == _BODY else one for one in problems]
    return report.text(named, file).rstrip()


async def refusal(answer: aiohttp.ClientResponse, url: str, file: str, *, met: bool) -> Failure:
    """The exception for an answer of 400 and more, with lines for a person.

    `met`: Slipway has answered at this address before, so a page of something else will pass.
    """
    if not is_own(answer):
        if answer.status == 401:
            is_empty = not await answer.read()
            reason = not_admitted(answer, url, None, is_empty=is_empty)
            return NotAdmitted(reason) if is_empty else Unanswered(reason) if met else Barrier(reason)
        return foreign(answer, url, met=met)
    try:
        problem = await answer.json(content_type=None)
        if answer.status == 401:
            return NotAdmitted(printable(not_admitted(answer, url, problem, is_empty=False)[:_LONGEST]))
        detail, remedy = str(problem["detail"]), problem.get("remedy", "")
        text = printable((f"{detail}; {remedy}" if remedy else detail)[:_LONGEST])
        for call, command in _COMMANDS.items():
            text = text.replace(call, f"`{command}`")
        problems = placed(problem.get("errors", []), file)
    except (ValueError, KeyError, TypeError, AttributeError):
        return foreign(answer, url, met=met)
    shown = f"its record: slipway show {problem['jobId']}" if problem.get("jobId") else ""
    text = "\n".join(part for part in (text, problems, shown) if part)
    if again := _AGAIN.get(answer.status):
        return again(text, retry_after=_retry_after(answer))
    return _TYPES.get(answer.status, Failure)(text, kind_of(answer.status, problem), remedy=remedy)


def foreign(answer: aiohttp.ClientResponse, url: str, *, met: bool) -> Failure:
    """The exception for an answer that is not of the API; Unanswered if it may be gone in a minute."""
    status = answer.status
    if refused := too_large(answer):
        return Failure(refused, REJECTED)
    what = f"{url} answered {status} {printable(answer.reason or '')}".rstrip()
    wait = _retry_after(answer)
    if status >= 500 or status in _GATEWAY:
        return Unanswered(what, "try again, or ask its operator", retry_after=wait)
    if status < 400:
        what = f"{url} answered {status}, but something else answers there, not Slipway"
    else:
        what += ", but not as Slipway does"
    if met:
        return Unanswered(what, "try again, or ask its operator", retry_after=wait)
    if status in _NOT_TAKEN:
        return Barrier(f"{what}; does --url name it?")
    if status == 404 and url.endswith("/api"):
        return Failure(f"{url} is not Slipway's API (404); give --url without /api", NO_ANSWER)
    if status == 404:
        what = f"{url} is not Slipway's API (404), or it has just begun to start"
    return Stranger(what, "does --url name it?", retry_after=wait)


def too_large(answer: aiohttp.ClientResponse) -> str:
    """What of the request is too large for a web server, with the remedy; "" where it has another reason.

    The Functions host refuses it itself, with an empty answer.
    """
    status, length = answer.status, len(str(answer.url))
    if status in _TOO_LONG and length > _LONGEST_ADDRESS:
        return (
            f"the path is too long to ask for: with it, the address has {length:,} characters, of which web "
            f"servers take about {_LONGEST_ADDRESS:,}; copy the file from where the job wrote it"
        )
    if status == 414:
        return (
            f"the address is too long for {answer.host} (414): ask for less in one call, or by shorter names"
        )
    if status == 431:
        return (
            f"the headers of the request are too large for {answer.host} (431), which takes about 32 KiB; is "
            "the key, or the token, only that? give it with --key or SLIPWAY_KEY"
        )
    size = _size(answer) if status in _TOO_LARGE else 0
    if size > _LARGEST_BODY or (size and status == 413):
        most = f"; the Functions host takes {_LARGEST_BODY:,} in one request" if size > _LARGEST_BODY else ""
        return (
            f"what was sent is too large for {answer.host} ({status}): {size:,} bytes{most}; move data out "
            "of the document (`slipway data put`)"
        )
    return ""


def _size(answer: aiohttp.ClientResponse) -> int:
    """The bytes of the request's body."""
    length = answer.request_info.headers.get("Content-Length", "")
    return int(length) if length.isdecimal() else 0


def _retry_after(answer: aiohttp.ClientResponse) -> float:
    """The seconds that an answer requests to wait, in any form that HTTP has for it; 0 for none."""
    from shared.core.pacing.backoff import parse_retry_after

    return parse_retry_after(answer.headers.get("Retry-After"), datetime.now(UTC)) or 0.0
