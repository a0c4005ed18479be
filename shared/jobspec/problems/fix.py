"""The certain fix of a problem: as a JSON Patch (RFC 6902), and as replacements in a person's text.

Patches and edits are shown, so they move and cut what a person wrote, and never repeat a secret.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, TypeAlias

from shared.jobspec.text.position import Entry, Positions

#: Fixes are kept with the record of a job, so they stay small.
MOST_EDITS = 50
#: A name that no document has, for a value while it moves.
_SPARE_NAME = "~1slipway~1"


class Edit(NamedTuple):
    """Characters from `start` to `end` become `text`."""

    start: int
    end: int
    text: str


#: `respell` is `rename` where no pointer distinguishes the name from others; `lift` replaces a value by its
#: content.
Kind: TypeAlias = Literal[
    "rename", "respell", "remove", "replace", "wrap", "list", "repeat", "text", "strip", "into", "nest",
    "quote", "swap", "lift",
]  # fmt: skip


@dataclass(frozen=True)
class Fix:
    """One certain change. `value` is the new name or value; `edits` are known if the text is not JSON."""

    kind: Kind
    pointer: str = ""
    value: str | int = ""
    names: tuple[str, ...] = ()
    #: For `strip` and `into`, pointers of members to remove; `into` puts the `names` into a new object.
    #: For `lift`, the one value that remains of everything below the pointer.
    removed: tuple[str, ...] = ()
    edits: tuple[Edit, ...] = ()

    def relocate(self, to: Callable[[str], str]) -> Fix:
        """The same change with other pointers, for a document that is a member of another."""
        if self.kind == "text":
            return self
        return replace(self, pointer=to(self.pointer), removed=tuple(map(to, self.removed)))

    def patch(self) -> list[dict[str, Any]]:
        """The operations of RFC 6902; none for a text that is not plain JSON."""
        parent, _, _ = self.pointer.rpartition("/")
        if self.kind == "rename":
            return [{"op": "move", "from": self.pointer, "path": f"{parent}/{_step(str(self.value))}"}]
        if self.kind == "remove":
            return [{"op": "remove", "path": self.pointer}]
        if self.kind == "replace":
            return [{"op": "replace", "path": self.pointer, "value": self.value}]
        if self.kind == "lift":
            return [{"op": "move", "from": self.removed[0], "path": self.pointer}]
        aside = f"{parent}/{_SPARE_NAME}"
        if self.kind == "nest":
            return _nested(parent, str(self.value).split("/"), self.pointer)
        if self.kind in ("strip", "into"):
            return [{"op": "remove", "path": one} for one in self.removed] + self._replacement()
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

    def _replacement(self) -> list[dict[str, Any]]:
        if self.kind == "strip":
            return []
        pointer = f"{self.pointer}/{_step(str(self.value))}"
        moves = ((f"{self.pointer}/{_step(name)}", f"{pointer}/{_step(name)}") for name in self.names)
        return [
            {"op": "add", "path": pointer, "value": {}},
            *({"op": "move", "from": one, "path": other} for one, other in moves),
        ]

    def edits_in(self, positions: Positions) -> tuple[Edit, ...]:
        """The replacements in the text; none if the change does not apply to what a person wrote."""
        if self.kind == "text":
            return self.edits
        entry = positions.find(self.pointer)
        if entry is None:
            return ()
        again = positions.duplicates(entry)
        if self.kind == "repeat":
            same = {positions.raw(other) for other in again} == {positions.raw(entry)}
            few = same and len(again) <= MOST_EDITS
            return tuple(Edit(*positions.with_comma(other), "") for other in again) if few else ()
        return self._edits(positions, entry) if not again else ()

    def _edits(self, positions: Positions, entry: Entry) -> tuple[Edit, ...]:
        if self.kind in ("rename", "respell"):
            parent, _, _ = self.pointer.rpartition("/")
            occupied = positions.find(f"{parent}/{_step(str(self.value))}")
            if occupied is not None or entry.key is None:
                return ()
            return (Edit(*entry.key, json.dumps(self.value)),)
        if self.kind == "lift":
            remaining = positions.find(self.removed[0])
            return (
                (Edit(entry.start, remaining.start, ""), Edit(remaining.end, entry.end, ""))
                if remaining
                else ()
            )
        if self.kind == "quote":
            return (Edit(entry.start, entry.start, '"'), Edit(entry.end, entry.end, '"'))
        if self.kind == "swap":
            return tuple(_swapped(positions, entry, self.names[0], str(self.value)))
        if self.kind == "nest" and entry.key is not None:
            names = str(self.value).split("/")
            head = "".join(f"{json.dumps(name)}: {{" for name in names)
            return (Edit(entry.key[0], entry.key[0], head), Edit(entry.end, entry.end, "}" * len(names)))
        if self.kind in ("strip", "into"):
            added = str(self.value) if self.kind == "into" else ""
            return rewrapped(positions, entry, frozenset(self.removed), added)
        if self.kind == "replace":
            return (Edit(entry.start, entry.end, json.dumps(self.value, ensure_ascii=False)),)
        if self.kind == "wrap":
            return (Edit(entry.start, entry.start, "["), Edit(entry.end, entry.end, "]"))
        if self.kind == "list":
            return tuple(_listed(positions, entry))
        return (Edit(*positions.with_comma(entry), ""),)


def _swapped(positions: Positions, entry: Entry, one: str, other: str) -> Iterator[Edit]:
    """Replace every such character of a text, including escapes, without repeating the text around it."""
    written = rf"{re.escape(one)}|\\u(?i:{ord(one):04x})"
    for match in re.finditer(rf"\\[^u]|({written})", positions.raw(entry)):
        if match[1]:
            start = entry.start + match.start()
            yield Edit(start, entry.start + match.end(), json.dumps(other)[1:-1])


def _nested(parent: str, names: list[str], pointer: str) -> list[dict[str, Any]]:
    pointers = ["/".join((parent, *names[: count + 1])) for count in range(len(names))]
    added: list[dict[str, Any]] = [{"op": "add", "path": path, "value": {}} for path in pointers]
    return [*added, {"op": "move", "from": pointer, "path": f"{pointers[-1]}/{pointer.rpartition('/')[2]}"}]


def rewrapped(positions: Positions, entry: Entry, removed: frozenset[str], wrapper: str) -> tuple[Edit, ...]:
    """Edits that remove these members, and put the others, except $schema, into `wrapper`."""
    edits = [Edit(*span, "") for span in positions.cuts(removed)]
    if not wrapper:
        return tuple(edits)
    members = [
        one for one in positions.members(entry) if one.pointer not in removed and one.name != "$schema"
    ]
    first = members[0].key if members else None
    if first is None:
        return ()
    head = f"{json.dumps(wrapper)}: {{"
    return (*edits, Edit(first[0], first[0], head), Edit(entry.end - 1, entry.end - 1, "}"))


def _listed(positions: Positions, entry: Entry) -> Iterator[Edit]:
    """Edits from {"A": "b"} to [{"name": "A", "value": "b"}] that keep everything in between."""
    yield Edit(entry.start, entry.start + 1, "[")
    for member in positions.members(entry):
        if member.key:
            yield Edit(member.key[0], member.key[0], '{"name": ')
            yield Edit(member.key[1], member.start, ', "value": ')
            yield Edit(member.end, member.end, "}")
    yield Edit(entry.end - 1, entry.end, "]")


Fixes: TypeAlias = Sequence[tuple[Edit, ...]]


def applied(text: str, fixes: Fixes) -> str:
    """The text after these fixes; of overlapping ones, the first is applied."""
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
