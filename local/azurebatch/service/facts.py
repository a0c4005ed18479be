"""The facts of the service's descriptions, from `facts.txt`. Pure."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

_FILE = Path(__file__).with_name("facts.txt")
#: The kinds of members that are neither objects, whose names begin with a capital letter, nor choices.
PLAIN = ("text", "number", "flag", "duration", "moment", "{}", "{text}", "elevated", "start-error")


@dataclass(frozen=True, kw_only=True)
class Versioned:
    """What some versions have. `first` and `last`: those, "" for the oldest and newest."""

    first: str = ""
    last: str = ""

    def is_of(self, version: str) -> bool:
        """Whether a version has it."""
        return self.first <= version <= (self.last or version)


@dataclass(frozen=True, kw_only=True)
class Member(Versioned):
    """A member of an object."""

    name: str
    kind: str
    is_needed: bool
    is_list: bool
    most_items: int | None = None
    least: int | None = None
    most: int | None = None
    #: the name that newer versions have for it, if another one
    today: str = ""

    @property
    def is_object(self) -> bool:
        """Whether `kind` is the name of an object."""
        return self.kind[0].isupper() and "|" not in self.kind

    @property
    def choices(self) -> Sequence[str]:
        """The texts that it may have; none if it is not a choice."""
        return () if self.kind in PLAIN or self.is_object else self.kind.split("|")


@dataclass(frozen=True, kw_only=True)
class Operation(Versioned):
    """What an operation takes. `limits`: parameter → its greatest number, or None if it is not a number.

    `body`: the object that it takes; `answer`: that of which `$select` chooses members.
    """

    body: str = ""
    answer: str = ""
    limits: Mapping[str, int | None] = field(default_factory=dict)


#: The kinds of rules: whether a number of present alternatives of so many keeps it, and the sentence.
_RULES: Mapping[str, tuple[Callable[[int, int], bool], str]] = {
    "one:": (lambda count, _: count == 1, "Exactly one of these is needed: {}"),
    "at-most-one:": (lambda count, _: count <= 1, "These exclude each other: {}"),
    "together:": (lambda count, most: count in (0, most), "These are needed together: {}"),
}


@dataclass(frozen=True)
class Rule:
    """Which members of an object may stand together. `alternatives`: each is one member, or its parts."""

    kind: str
    alternatives: Sequence[Sequence[str]]

    def complaint(self, names: Collection[str]) -> str:
        """What is wrong with an object that has these members; "" if nothing is."""
        count = sum(any(name in names for name in one) for one in self.alternatives)
        fits, words = _RULES[self.kind]
        words_of_members = ", ".join("/".join(one) for one in self.alternatives)
        return "" if fits(count, len(self.alternatives)) else words.format(words_of_members)


@dataclass(frozen=True)
class Facts:
    """The published versions, operations by method and path, and objects with their rules by name."""

    versions: Sequence[str]
    operations: Mapping[tuple[str, str], Operation]
    objects: Mapping[str, Mapping[str, Member]]
    rules: Mapping[str, Sequence[Rule]]


@cache
def facts() -> Facts:
    """All facts, read once."""
    lines = [line for line in _FILE.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    versions: list[str] = []
    operations: dict[tuple[str, str], Operation] = {}
    objects: dict[str, dict[str, Member]] = {}
    rules: dict[str, list[Rule]] = {}
    name = ""
    for line in filter(None, lines):
        first, *rest = line.strip("[]").split()
        if line.startswith("["):
            name = first
            objects[name] = {one: member for other in rest for one, member in objects[other].items()}
        elif first in _RULES:
            rules.setdefault(name, []).append(Rule(first, [one.split("/") for one in rest]))
        elif name:
            member = _member(first, *rest)
            objects[name][member.name] = member
        elif first == "versions":
            versions += rest
        else:
            operations[first, rest[0]] = _operation(rest[1:])
    return Facts(versions, operations, objects, rules)


def _operation(words: Sequence[str]) -> Operation:
    mark = words.index("?") if "?" in words else len(words)
    before, pairs = list(words[:mark]), (name.partition("=") for name in words[mark + 1 :])
    body = before.pop(0) if len(before) % 2 else ""
    words_of = dict(zip(before[::2], before[1::2], strict=True))
    return Operation(
        body=body,
        answer=words_of.get(">", ""),
        limits={name: int(most) if most else None for name, _, most in pairs},
        first=words_of.get("since", ""),
        last=words_of.get("until", ""),
    )


def _member(name: str, kind: str, *rest: str) -> Member:
    words = list(rest)
    kind, star, most_items = kind.partition("*")
    bounds = words.pop(0).split("..") if words and ".." in words[0] else ()
    words_of = dict(zip(words[::2], words[1::2], strict=True))
    return Member(
        name=name.removesuffix("!"),
        kind=kind,
        is_needed=name.endswith("!"),
        is_list=bool(star),
        most_items=int(most_items) if most_items else None,
        least=int(bounds[0]) if bounds else None,
        most=int(bounds[1]) if bounds else None,
        first=words_of.get("since", ""),
        last=words_of.get("until", ""),
        today=words_of.get("as", ""),
    )
