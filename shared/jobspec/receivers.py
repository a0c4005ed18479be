"""The receivers of a job's events: their shape, and the rules for them. Light: it loads no other rules."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal, TypeAlias
from urllib.parse import urlsplit

from pydantic import Field, ValidationError

from shared.jobspec.format.base import Items, Model, Text
from shared.jobspec.problems.codes import problem
from shared.jobspec.problems.problem import Problem
from shared.jobspec.text.tree import Node

EventName: TypeAlias = Literal[
    "accepted", "queued", "running", "succeeded", "failed", "cancelled", "lost", "rejected"
]
#: The events of a receiver that names none.
TERMINAL_EVENTS: tuple[EventName, ...] = ("succeeded", "failed", "cancelled", "lost", "rejected")

#: A name of a job, an experiment, a team or a secret.
NAME = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)
_URL = re.compile(r"https?://[\x21-\x22\x24-\x5b\x5d-\x7e]{1,2040}", re.IGNORECASE)
_SIGNING_KEYS = ("whsec_", "whsk_")
#: An operator's channel of messages, by its name, in place of the address of a webhook.
_CHANNEL = re.compile(r"channel:([A-Za-z0-9_-]{1,64})", re.ASCII)


class RequestedReceiver(Model):
    """One receiver of a job's events."""

    #: Its query may hold a token: never shown, never logged.
    url: Annotated[Text, Field(repr=False)]
    #: The name of a configured secret, not the secret.
    secret: str | None = None
    events: Items[EventName] = TERMINAL_EVENTS


def receiver_problems(root: Node, most: int) -> Iterator[Problem]:
    """What is wrong with the receivers in `notify`, beside their shape."""
    receivers = list(root.member("notify").each())
    if len(receivers) > most:
        message = f"there are {len(receivers)} receivers; {most} are allowed"
        yield problem("SW063", root.member("notify").pointer, message)
    for receiver in receivers:
        url, secret = receiver.member("url"), receiver.member("secret")
        if url.text and not channel_of(url.text) and not _is_address(url.text):
            yield problem("SW064", url.pointer, "url is neither the address of a webhook nor channel:NAME")
        if receiver.member("events").value == []:
            message = "events is empty, so this receiver would get no event"
            yield problem(
                "SW015", receiver.member("events").pointer, message, "name an event, or leave events out"
            )
        if secret.text is None:
            continue
        if channel_of(url.text or ""):
            message = "secret is for webhooks, and a channel's messages are not signed"
            yield problem("SW066", secret.pointer, message, "leave secret out")
            continue
        if secret.text.startswith(_SIGNING_KEYS) or not NAME.fullmatch(secret.text):
            yield problem("SW066", secret.pointer, "secret is not the name of a configured secret")


def are_sound(receivers: Sequence[Any], most: int) -> bool:
    """Whether a document may name these receivers; `read_envelope` says what is wrong with others."""
    try:
        for one in receivers:
            RequestedReceiver.model_validate(one)
    except ValidationError:
        return False
    return not any(receiver_problems(Node("", {"notify": [*receivers]}), most))


def channel_of(url: str) -> str:
    """The name of the channel that a receiver's `url` names; "" for the address of a webhook."""
    match = _CHANNEL.fullmatch(url)
    return match[1] if match is not None else ""


def _is_address(text: str) -> bool:
    """Checks the form only; the sender of webhooks decides whether to call the address."""
    if not _URL.fullmatch(text):
        return False
    try:
        parts = urlsplit(text)
        return bool(parts.hostname) and parts.port != 0 and "@" not in parts.netloc
    except ValueError:
        return False
