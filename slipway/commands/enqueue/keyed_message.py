"""Gives a message for the queue a key and a name, so that it is one job however often it arrives."""

import json
from typing import Any, NamedTuple

from shared.core.identity import message_name
from shared.intake.message import Request, read_message
from shared.intake.reading.event import event_in
from shared.jobspec import LONGEST_KEY, Limits, foreign_document, is_bare_job, is_idempotency_key, unwrapped
from slipway.failure import Failure

#: The source of a CloudEvent that names none; its id is unique there.
_SOURCE = "slipway/enqueue"


class KeyedMessage(NamedTuple):
    """A message as it is sent, with the key and the name that were made for it; "" for none."""

    body: bytes
    key: str = ""
    name: str = ""


def keyed_message(message: bytes, key: str, *, chosen: bool = False) -> KeyedMessage:
    """The message with an idempotency key, or an event with an id, if it has none of its own.

    `chosen`: a person has named the key. Raises Failure if the message does not take it.
    """
    document = json.loads(message.decode("utf-8-sig"))
    documents = document if isinstance(document, list) else [document]
    keyed = [_keyed(one, f"{key}#{number}" if number else key) for number, one in enumerate(documents)]
    new_key = key if any(one.members for one in keyed) else ""
    longest = LONGEST_KEY - (len(f"#{len(documents) - 1}") if len(documents) > 1 else 0)
    if chosen and not (is_idempotency_key(key) and len(key) <= longest):
        raise Failure(
            f"the idempotency key {key[:80]!r} cannot be in a message: use up to {longest} visible ASCII "
            "characters, without spaces, such as a UUID"
        )
    if chosen and not new_key:
        raise Failure("this message is not a job, or has a key of its own; leave out --idempotency-key")
    name = next((one.name for one in keyed if one.name), "")
    if isinstance(document, list):
        whole = json.dumps([one.document for one in keyed], ensure_ascii=False)
        return KeyedMessage(whole.encode(), new_key, name)
    return KeyedMessage(_spliced(message, keyed[0]), new_key, name)


class _Keyed(NamedTuple):
    """One document, the members that it lacks, and whether it is a job.json, which becomes their `spec`."""

    own: Any
    members: dict[str, str]
    is_bare: bool = False

    @property
    def name(self) -> str:
        return self.members.get("name", "")

    @property
    def document(self) -> Any:
        if not self.members:
            return self.own
        rest = {"spec": self.own} if self.is_bare else self.own
        return self.members | {name: value for name, value in rest.items() if name not in self.members}


def _keyed(document: Any, key: str) -> _Keyed:
    messages = read_message(json.dumps(document).encode(), Limits())
    requests = [one for one in messages if isinstance(one, Request) and one.key is None]
    if not requests or not isinstance(document, dict):
        return _Keyed(document, {})
    if (event := event_in(document)) is not None:
        lacking = {} if event.id else {"id": key}
        return _Keyed(document, lacking | ({"source": _SOURCE} if event.sender is None else {}))
    if is_bare_job(document):
        return _Keyed(document, {"idempotencyKey": key, "name": message_name(key)}, is_bare=True)
    if foreign_document(document) or unwrapped(document):
        return _Keyed(document, {})  # its rejection shows it as it is
    named = "name" in document or "specBlob" in document
    return _Keyed(document, {"idempotencyKey": key} | ({} if named else {"name": message_name(key)}))


def _spliced(message: bytes, keyed: _Keyed) -> bytes:
    """The text with these members in front, on its first line: each problem of it keeps its line."""
    if not keyed.members:
        return message
    text = message.decode("utf-8-sig")
    if keyed.members.keys() & keyed.own.keys() and not keyed.is_bare:  # null there, which counts as absent
        return json.dumps(keyed.document, ensure_ascii=False).encode()
    front = json.dumps(keyed.members)[:-1]
    if keyed.is_bare:
        return f'{front}, "spec": {text}}}'.encode()
    rest = text.lstrip()[1:]
    return (f"{front}, {rest}" if keyed.own else f"{front}{rest}").encode()
