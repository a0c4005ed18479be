"""Sends events into channels, as messages that people read.

Slack takes them by an incoming webhook, Microsoft Teams by a webhook of Workflows.
What a job wrote goes into elements that these services show as they are: no link, no mention, no formatting.
The addresses are an operator's, and pass the same gates as those of webhooks.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, Protocol

from shared.adapters.webhook.mail import MailSender
from shared.core.errors import Misconfigured
from shared.core.notify.channels import Channel, Kind
from shared.core.notify.words import Message, message_of
from shared.core.ports import Posted


class Poster(Protocol):
    """What posts to an address, behind both gates."""

    async def send(self, url: str, body: bytes, headers: dict[str, str], now: datetime) -> Posted:
        """One try."""


class ChannelSender:
    """The channels of the settings. `page`: the address of the page for browsers; "" if it is not known."""

    def __init__(self, webhooks: Poster, channels: Mapping[str, Channel], page: str) -> None:
        self._webhooks = webhooks
        self._channels = channels
        self._page = page
        self._mails = MailSender()

    async def send(self, name: str, event_id: str, event: str, now: datetime) -> Posted:
        """One try. The id of the event is a header, as with webhooks, for a gateway in between.

        Nothing disables a channel: a room that is archived answers 410, and may be opened again.
        """
        channel = self._channels.get(name)
        if channel is None:
            raise Misconfigured(f"SLIPWAY_CHANNELS does not name the channel {name!r}")
        message = message_of(event, self._page)
        if channel.mail is not None:
            return await self._mails.send(channel.mail, event_id, message, now)
        body = _BODIES[channel.kind](message)
        headers = {"Content-Type": "application/json; charset=utf-8", "webhook-id": event_id}
        posted = await self._webhooks.send(channel.url, json.dumps(body).encode(), headers, now)
        # The operator chose the address: they open the room again, or name another one.
        return replace(posted, outcome="retry") if posted.outcome == "gone" else posted


def slack(message: Message) -> dict[str, Any]:
    """The body for Slack. Blocks of plain text are not parsed; `text` is what a notification shows."""
    blocks: list[dict[str, Any]] = [{"type": "header", "text": _plain(message.title)}]
    blocks += [{"type": "section", "text": _plain(f"{one.label}: {one.value}")} for one in message.facts]
    if message.page:
        button = {"type": "button", "text": _plain("Open"), "url": message.page}
        blocks += [{"type": "actions", "elements": [button]}]
    escaped = message.title.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return {"text": escaped, "mrkdwn": False, "unfurl_links": False, "unfurl_media": False, "blocks": blocks}


def teams(message: Message) -> dict[str, Any]:
    """The body for a flow of Teams. Text runs, unlike text blocks and facts, show Markdown unread."""
    title = _run(message.title, size="Large", weight="Bolder")
    lines = [[_run(f"{fact.label}: ", weight="Bolder"), _run(fact.value)] for fact in message.facts]
    card: dict[str, Any] = {
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.4",
        "body": [{"type": "RichTextBlock", "inlines": line} for line in ([title], *lines)],
    }
    if message.page:
        card["actions"] = [{"type": "Action.OpenUrl", "title": "Open", "url": message.page}]
    attachment = {
        "contentType": "application/vnd.microsoft.card.adaptive",
        "contentUrl": None,
        "content": card,
    }
    return {"type": "message", "attachments": [attachment]}


def _plain(text: str) -> dict[str, Any]:
    return {"type": "plain_text", "text": text, "emoji": False}


def _run(text: str, **style: str) -> dict[str, Any]:
    return {"type": "TextRun", "text": text, **style}


_BODIES: Mapping[Kind, Callable[[Message], dict[str, Any]]] = {"slack": slack, "teams": teams}
