"""The channels of a deployment: where it sends messages that people read, by the names that jobs know. Pure.

The address of a channel is a secret: who has it can write there. So it stands in the settings alone; a job
names a channel as `channel:NAME`, and no record, answer or log has more than that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, get_args

from shared.core.notify.webhook_url import UrlPolicy, refusal
from shared.jobspec import channel_of

Kind = Literal["slack", "teams"]
_MEMBERS = {"kind", "url", "teams", "operators"}


@dataclass(frozen=True)
class Channel:
    """Where the messages of a name go."""

    kind: Kind
    url: str = field(repr=False)
    #: the teams whose jobs may name it; None: every job
    teams: frozenset[str] | None = None
    #: whether it gets the events that operators act on
    operators: bool = False


def channels_from(document: object, urls: UrlPolicy) -> dict[str, Channel]:
    """The channels by name. Raises ValueError, without showing an address."""
    if not isinstance(document, dict):
        raise ValueError("it must be an object: name → channel")
    return {name: _channel(name, one, urls) for name, one in document.items()}


class Declared(Protocol):
    """The receivers that an operator declares."""

    @property
    def channels(self) -> Mapping[str, Channel]: ...  # noqa: D102

    @property
    def default_notify(self) -> Sequence[Mapping[str, Any]]: ...  # noqa: D102


def why_closed(declared: Declared, url: str, team: str) -> str | None:
    """Why no event of a team's job goes into a channel; None if it does.

    A channel of other teams is as unknown as one that does not exist. The deployment's default receivers are
    for every job.
    """
    name = channel_of(url)
    if name in declared.channels:
        teams = declared.channels[name].teams
        if teams is None or team in teams or any(one.get("url") == url for one in declared.default_notify):
            return None
    return f"there is no channel named {name!r} for jobs of this team"


def _channel(name: str, document: object, urls: UrlPolicy) -> Channel:
    if not channel_of(f"channel:{name}"):
        raise ValueError(f"{name[:80]!r} is not a name of 1 to 64 letters, digits, - and _")
    if not isinstance(document, dict) or (more := document.keys() - _MEMBERS):
        detail = f"has unknown members: {', '.join(sorted(more))[:80]}" if isinstance(document, dict) else ""
        raise ValueError(f"{name!r} {detail or 'must be an object with kind and url'}")
    kind: Any = document.get("kind")
    url, teams = document.get("url"), document.get("teams")
    if kind not in get_args(Kind):
        raise ValueError(f"{name!r}: kind must be one of {', '.join(get_args(Kind))}")
    if not isinstance(url, str) or (why := refusal(url, urls)) is not None:
        raise ValueError(f"{name!r}: {why if isinstance(url, str) else 'url must be an address'}")
    if teams is not None and not _are_names(teams):
        raise ValueError(f"{name!r}: teams must be a list of names; leave it out for every job")
    operators = document.get("operators", False)
    if not isinstance(operators, bool):
        raise ValueError(f"{name!r}: operators must be true or false")
    return Channel(kind, url, None if teams is None else frozenset(teams), operators)


def _are_names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)
