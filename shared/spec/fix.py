"""What certainly mends a problem: as a JSON Patch (RFC 6902), and as replacements in a person's text.

Patches and edits are shown, so they move and cut what a person wrote; they repeat only what is no secret.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, TypeAlias

from shared.spec.position import Entry, Positions

#: Fixes are kept with the record of a job, so they stay small.
MOST_EDITS = 50
#: A name that no document has, for a value on its way.
_ASIDE = "~1slipway~1"


class Edit(NamedTuple):
    """Characters from `start` to `end` become `text`."""

    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Fix:
    """One certain change. `value` is the new name or value; `edits` are known where the text is no JSON."""

    kind: Literal["rename", "remove", "replace", "wrap", "list", "repeat", "text"]
    pointer: str = ""
    value: str | int = ""
    names: tuple[str, ...] = ()
    edits: tuple[Edit, ...] = ()

    def under(self, pointer: str) -> Fix:
        """The same change, where the document is itself a member of another."""
        return self if self.kind == "text" else replace(self, pointer=pointer + self.pointer)

    def patch(self) -> list[dict[str, Any]]:
        """The operations of RFC 6902; none for a text that is no JSON, or no plain JSON."""
        parent, _, _ = self.pointer.rpartition("/")
        if self.kind == "rename":
            return [{"op": "move", "from": self.pointer, "path": f"{parent}/{_step(str(self.value))}"}]
        if self.kind == "remove":
            return [{"op": "remove", "path": self.pointer}]
        if self.kind == "replace":
            return [{"op": "replace", "path": self.pointer, "value": self.value}]
        aside = f"{parent}/{_ASIDE}"
        if self.kind == "list":
            return [
                {"op": "move", "from": self.pointer, "path": aside},
                {"op": "add", "path": self.pointer, "value": []},
                *(operation for index, name in enumerate(self.names) for operation in (
                    {"op": "add", "path": f"{self.pointer}/-", "value": {"name": name}},
                    {"op": "move", "from": f"{aside}/{_step(name)}", "path": f"{self.pointer}/{index}/value"},
                )),
                {"op": "remove", "path": aside},
            ]  # fmt: skip
        if self.kind == "wrap":
            return [
                {"op": "move", "from": self.pointer, "path": aside},
                {"op": "add", "path": self.pointer, "value": []},
                {"op": "move", "from": aside, "path": f"{self.pointer}/0"},
            ]
        return []

    def edits_in(self, positions: Positions) -> tuple[Edit, ...]:
        """The replacements in the text; none when the change does not apply to what a person wrote."""
        if self.kind == "text":
            return self.edits
        entry = positions.of(self.pointer)
        if entry is None:
            return ()
        again = positions.again(entry)
        if self.kind == "repeat":
            same = {positions.raw(other) for other in again} == {positions.raw(entry)}
            few = same and len(again) <= MOST_EDITS
            return tuple(Edit(*positions.with_comma(other), "") for other in again) if few else ()
        return self._edits(positions, entry) if not again else ()

    def _edits(self, positions: Positions, entry: Entry) -> tuple[Edit, ...]:
        if self.kind == "rename":
            parent, _, _ = self.pointer.rpartition("/")
            taken = positions.of(f"{parent}/{_step(str(self.value))}")
            if taken is not None or entry.key is None:
                return ()
            return (Edit(*entry.key, json.dumps(self.value)),)
        if self.kind == "replace":
            return (Edit(entry.start, entry.end, json.dumps(self.value, ensure_ascii=False)),)
        if self.kind == "wrap":
            return (Edit(entry.start, entry.start, "["), Edit(entry.end, entry.end, "]"))
        if self.kind == "list":
            return tuple(_listed(positions, entry))
        return (Edit(*positions.with_comma(entry), ""),)


def _listed(positions: Positions, entry: Entry) -> Iterator[Edit]:
    """From {"A": "b"} to [{"name": "A", "value": "b"}], with everything between as it was."""
    yield Edit(entry.start, entry.start + 1, "[")
    for member in positions.members(entry):
        if member.key:
            yield Edit(member.key[0], member.key[0], '{"name": ')
            yield Edit(member.key[1], member.start, ', "value": ')
            yield Edit(member.end, member.end, "}")
    yield Edit(entry.end - 1, entry.end, "]")


Fixes: TypeAlias = Sequence[tuple[Edit, ...]]


def applied(text: str, fixes: Fixes) -> str:
    """The text after those of the fixes that do not meet each other, first come first served."""
    chosen: list[Edit] = []
    for edits in fixes:
        if not any(_meet(edit, other) for edit in edits for other in chosen):
            chosen.extend(edits)
    for edit in sorted(chosen, key=lambda edit: (edit.start, edit.end), reverse=True):
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text


def _meet(one: Edit, other: Edit) -> bool:
    return one.start <= other.end and other.start <= one.end


def _step(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")
