"""Turns a refusal of the API into an exception with lines for a person."""

from collections.abc import Mapping, Sequence
from typing import Any

import aiohttp

from slipway.failure import Failure
from slipway.terminal import printable

#: The name that problems give to the body of a request.
_BODY = "message"
#: Most characters of a refusal that are shown.
_LONGEST = 4000
#: Calls that the API's remedies name, and the commands that make them.
_COMMANDS = {
    "GET /api/jobs/{id}/events": "slipway events list JOB",
    "GET /api/jobs": "slipway jobs",
    "GET /api/dead": "slipway dead list",
    "POST /api/receivers/test": "slipway events test URL",
    "…/files": "slipway files JOB",
    "see its problems": "slipway show JOB",
}


class Absent(Failure):
    """The service reports that it does not exist."""


class Changed(Failure):
    """The file has changed since the last read."""


class Unanswered(Failure):
    """No answer, or a request to try again: the same call may succeed later."""


_KINDS: Mapping[int, type[Failure]] = {
    404: Absent,
    412: Changed,
    429: Unanswered,
    502: Unanswered,
    503: Unanswered,
    504: Unanswered,
}


def placed(problems: Sequence[Mapping[str, Any]], file: str) -> str:
    """Problems as lines for people; those of the request's body name its file."""
    from shared.jobspec import report  # imports the whole reader of jobs, which most commands do not need

    named = [{**one, "file": file} if one.get("file") == _BODY else one for one in problems]
    return report.text(named, file).rstrip()


async def refusal(answer: aiohttp.ClientResponse, url: str, file: str) -> Failure:
    """The exception for a problem document, with lines for a person; for another answer, by its status."""
    if answer.status == 401:
        return Failure(
            "refused (401): a function key or an access token is needed; give it with --key or SLIPWAY_KEY, "
            "or once and for all: `slipway login URL`"
        )
    try:
        problem = await answer.json(content_type=None)
        text = printable(f"{problem['detail']}; {problem['remedy']}"[:_LONGEST])
        for call, command in _COMMANDS.items():
            text = text.replace(call, f"`{command}`")
        problems = placed(problem.get("errors", []), file)
    except (ValueError, KeyError, TypeError, AttributeError):
        if answer.status == 404:
            return Failure(f"{url} is not Slipway's API (404); give --url without /api")
        kind = _KINDS.get(answer.status, Failure)
        if answer.status >= 500:
            return kind(f"{url} answered {answer.status} {answer.reason}; try again, or ask its operator")
        return kind(
            f"{url} answered {answer.status} {answer.reason}, but not as Slipway does; does --url name it?"
        )
    shown = f"its record: slipway show {problem['jobId']}" if problem.get("jobId") else ""
    kind = _KINDS.get(answer.status, Failure)
    return kind("\n".join(part for part in (text, problems, shown) if part))
