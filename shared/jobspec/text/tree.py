"""JSON documents as trees: places named by RFC 6901 pointers, walked without recursion."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

from shared.jobspec.secrets.embedded import without_secrets

JsonObject: TypeAlias = dict[str, Any]

#: Longer keys are cut in a pointer: no valid key is so long, and a pointer must fit into a log line.
_LONGEST_STEP = 100
#: Only shorter keys are cached.
_SHORT = 64


class Node:
    """A value and its place; a missing member gives an empty node, never an error.

    Rules read many members, and few have a problem, so a pointer is made on demand.
    """

    __slots__ = ("_key", "_place", "value")

    def __init__(self, place: Node | str, value: Any, key: str | int = "") -> None:
        #: The pointer or, until it is needed, the node above.
        self._place = place
        self._key = key
        self.value = value

    @property
    def pointer(self) -> str:
        """Its place in the document."""
        if not isinstance(self._place, str):
            self._place = step(self._place.pointer, self._key)
        return self._place

    def member(self, *keys: str) -> Node:
        """The member below, or a node whose value is None."""
        node = self
        for key in keys:
            value = node.value
            node = Node(node, value.get(key) if isinstance(value, dict) else None, key)
        return node

    def each(self) -> Iterator[Node]:
        """The items of a list, none for anything else."""
        if isinstance(self.value, list):
            for index, value in enumerate(self.value):
                yield Node(self, value, index)

    @property
    def is_written(self) -> bool:
        """Whether a person wrote something here, except null."""
        return self.value is not None

    @property
    def text(self) -> str | None:
        """The value if it is a string."""
        return self.value if isinstance(self.value, str) else None

    @property
    def whole(self) -> int | None:
        """The value if it is an integer, not a boolean."""
        return self.value if isinstance(self.value, int) and not isinstance(self.value, bool) else None


def is_object(value: Any) -> bool:
    """Whether this is a JSON object, which its annotation does not guarantee."""
    return isinstance(value, dict)


def step(pointer: str, key: str | int) -> str:
    """The pointer one level down, printable for any key."""
    text = str(key)
    return f"{pointer}/{_known_part(text) if len(text) <= _SHORT else _part(text)}"


@lru_cache(maxsize=4096)
def _known_part(text: str) -> str:
    """Cached, because the format's names recur."""
    return _part(text)


def _part(text: str) -> str:
    text = without_secrets(text)
    cut = text if len(text) <= _LONGEST_STEP else text[:_LONGEST_STEP] + "…"
    return printable(cut.replace("~", "~0").replace("/", "~1"))


def exact(key: str) -> bool:
    """Whether `step` leaves the key as it is, so that the pointer can be used outside of messages."""
    return step("", key) == "/" + key.replace("~", "~0").replace("/", "~1")


def quote(text: str, longest: int = 60) -> str:
    """A piece of a person's text for a message: quoted, cut, and printable."""
    text = without_secrets(text)
    cut = text if len(text) <= longest else text[:longest] + "…"
    return f'"{printable(cut)}"'


def printable(text: str) -> str:
    """The text with unprintable characters (controls, direction marks, …) as escapes."""
    if text.isprintable():
        return text
    return "".join(character if character.isprintable() else _escape(character) for character in text)


def _escape(character: str) -> str:
    number = ord(character)
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def walk(document: Any) -> Iterator[Node]:
    """Every value with its pointer, in document order, the document itself first."""
    stack = [Node("", document)]
    while stack:
        node = stack.pop()
        yield node
        if isinstance(node.value, dict):
            members = [Node(node, value, key) for key, value in node.value.items()]
            stack.extend(reversed(members))
        elif isinstance(node.value, list):
            items = [Node(node, value, index) for index, value in enumerate(node.value)]
            stack.extend(reversed(items))


class Words(NamedTuple):
    """All texts of a document, unordered, so that one search covers all of them."""

    #: names of properties, each once
    names: set[str]
    #: values that are texts
    texts: list[str]


def words(document: Any) -> Words:
    """The names and the texts of a document."""
    names: set[str] = set()
    texts: list[str] = []
    holders: list[Any] = [[document]]
    for holder in holders:  # which grows meanwhile
        if isinstance(holder, dict):
            names.update(holder)
            holder = holder.values()  # noqa: PLW2901 - what is looked through
        for value in holder:
            if isinstance(value, str):
                texts.append(value)
            elif isinstance(value, (dict, list)):
                holders.append(value)
    return Words(names, texts)


def count_values(document: Any) -> int:
    """The number of values, including the document itself."""
    count, stack = 0, [document]
    while stack:
        value = stack.pop()
        count += 1
        if isinstance(value, dict):
            stack.extend(value.values())
        elif isinstance(value, list):
            stack.extend(value)
    return count


def copied(document: Any) -> Any:
    """A deep copy, which shares no object or list with the original."""
    root = _shallow(document)
    stack = [root]
    while stack:
        node = stack.pop()
        if not isinstance(node, dict | list):
            continue
        entries: list[tuple[Any, Any]] = list(node.items() if isinstance(node, dict) else enumerate(node))
        for key, value in entries:
            if isinstance(value, dict | list):
                node[key] = _shallow(value)
                stack.append(node[key])
    return root


def _shallow(value: Any) -> Any:
    return value.copy() if isinstance(value, dict | list) else value
