"""An event in the words of a message for people: a title, a few facts, and where to look. Pure.

The same event always gives the same message, so that a second try repeats the first one. What a job wrote is
text here, and nothing else: each channel writes it in a form that is not read as markup.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from shared.core.job import plain

#: Characters of a title, of a value, and the most facts: with all of them a message is below every limit.
TITLE, VALUE, FACTS = 150, 600, 12
_WORDS = {"idle": "ends soon because it does nothing", "held": "failed, and keeps its nodes"}


@dataclass(frozen=True)
class Fact:
    """One line of a message."""

    label: str
    value: str


@dataclass(frozen=True)
class Message:
    """What a person reads of an event. `page`: where the job is shown; "" if the app has no address."""

    title: str
    facts: tuple[Fact, ...]
    page: str = ""


def message_of(event: str, page: str) -> Message:
    """The message for an event, as its row has it. `page`: the address of the page for browsers, or ""."""
    whole = json.loads(event)
    data: Mapping[str, Any] = whole["data"]
    kind, identity = whole["type"], whole["subject"].partition("/")[2]
    if kind.startswith("io.slipway.job."):
        word = kind.split(".")[3]
        title = f"{data.get('name') or identity}: {_WORDS.get(word, word)}"
        link = f"{page}#/jobs/{identity}" if page else ""
        facts = [Fact("Job", identity), *_of_job(data)]
    elif kind.startswith("io.slipway.sweep."):
        title = f"{data.get('name') or identity}: the sweep has ended"
        link = f"{page}#/jobs?sweep={identity}" if page else ""
        counts = ", ".join(f"{number} {state}" for state, number in data.get("counts", {}).items() if number)
        facts = [Fact("Sweep", identity), Fact("Jobs", counts)]
    else:
        title, link = str(data.get("title") or "Slipway"), page
        facts = [Fact(label, str(data[name])) for name, label in _OTHERS.items() if name in data]
    lines = (Fact(one.label, plain(one.value, VALUE).strip()) for one in facts[:FACTS])
    return Message(plain(title, TITLE).strip(), tuple(one for one in lines if one.value), link)


_OTHERS = {"message": "Message", "since": "Since", "remedy": "What to do"}
_OF_JOB = {
    "experiment": "Experiment",
    "cluster": "Cluster",
    "exitCode": "Exit code",
    "message": "Message",
    "lastError": "Last error",
    "attempt": "Attempt",
}


def _of_job(data: Mapping[str, Any]) -> Iterator[Fact]:
    for name, label in _OF_JOB.items():
        if data.get(name) not in (None, "") and (name != "attempt" or data[name] > 1):
            yield Fact(label, str(data[name]))
    if waiting := data.get("waiting"):
        yield Fact("Waits", waiting["text"])
    if idle := data.get("idle"):
        yield Fact("Ends after", idle["endsAfter"])
    if held := data.get("held"):
        yield Fact("Kept until", held["until"])
