"""The channels of a deployment: where it sends messages that people read, by the names that jobs know. Pure.

The address of a channel is a secret: who has it can write there. So it stands in the settings alone; a job
names a channel as `channel:NAME`, and no record, answer or log has more than that.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, get_args

from shared.core.notify.webhook_url import UrlPolicy, refusal
from shared.jobspec import channel_of

Kind = Literal["slack", "teams", "email"]
_OF_ALL = {"kind", "teams", "operators"}
_OF_MAIL = {"to", "from", "server", "user", "password"}
#: An address as it is needed here: one line, without a name or a comment.
_ADDRESS = re.compile(
    r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9-]{1,63}(\.[A-Za-z0-9-]{1,63})*", re.ASCII
)
_SERVER = re.compile(r"([A-Za-z0-9.-]{1,253}):([1-9][0-9]{0,4})", re.ASCII)


@dataclass(frozen=True)
class Mail:
    """How e-mail of a channel is sent, and to whom."""

    host: str
    port: int
    sender: str
    to: tuple[str, ...]
    user: str = field(default="", repr=False)
    password: str = field(default="", repr=False)
    encrypts: bool = True


@dataclass(frozen=True)
class Channel:
    """Where the messages of a name go."""

    kind: Kind
    #: "" for e-mail
    url: str = field(repr=False)
    #: the teams whose jobs may name it; None: every job
    teams: frozenset[str] | None = None
    #: whether it gets the events that operators act on
    operators: bool = False
    mail: Mail | None = None


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
    if not isinstance(document, dict):
        raise ValueError(f"{name!r} must be an object with kind")
    kind: Any = document.get("kind")
    if kind not in get_args(Kind):
        raise ValueError(f"{name!r}: kind must be one of {', '.join(get_args(Kind))}")
    if more := document.keys() - _OF_ALL - (_OF_MAIL if kind == "email" else {"url"}):
        raise ValueError(f"{name!r} has unknown members: {', '.join(sorted(more))[:80]}")
    teams, operators = document.get("teams"), document.get("operators", False)
    if teams is not None and not _are_texts(teams):
        raise ValueError(f"{name!r}: teams must be a list of names; leave it out for every job")
    if not isinstance(operators, bool):
        raise ValueError(f"{name!r}: operators must be true or false")
    mail = _mail(name, document, urls) if kind == "email" else None
    url = "" if mail else _url(name, document.get("url"), urls)
    return Channel(kind, url, None if teams is None else frozenset(teams), operators, mail)


def _url(name: str, url: Any, urls: UrlPolicy) -> str:
    if not isinstance(url, str):
        raise ValueError(f"{name!r}: url must be an address")
    if (why := refusal(url, urls)) is not None:
        raise ValueError(f"{name!r}: {why}")
    return url


def _mail(name: str, document: Mapping[str, Any], urls: UrlPolicy) -> Mail:
    to, sender, server = (document.get(one) for one in ("to", "from", "server"))
    user, password = document.get("user", ""), document.get("password", "")
    if not _are_texts(to) or not to or not all(map(_ADDRESS.fullmatch, to)):
        raise ValueError(f"{name!r}: to must be a list of e-mail addresses")
    if not isinstance(sender, str) or not _ADDRESS.fullmatch(sender):
        raise ValueError(f"{name!r}: from must be an e-mail address")
    match = _SERVER.fullmatch(server) if isinstance(server, str) else None
    if match is None or int(match[2]) > 65535:
        raise ValueError(f"{name!r}: server must be a host and a port, such as smtp.example.com:587")
    if not _are_texts([user, password]) or bool(user) != bool(password):
        raise ValueError(f"{name!r}: user and password go together")
    encrypts = not urls.reaches_loopback(match[1])
    return Mail(match[1], int(match[2]), sender, tuple(to), user, password, encrypts)


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)
