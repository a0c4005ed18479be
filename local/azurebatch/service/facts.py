"""The facts of the service's descriptions, from `facts.txt`. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

_FILE = Path(__file__).with_name("facts.txt")
#: The kinds of members that are neither objects, whose names begin with a capital letter, nor choices.
PLAIN = ("text", "number", "flag", "duration", "moment", "{}", "{text}")


@dataclass(frozen=True)
class Member:
    """A member of an object. `first` and `last`: the versions that have it, "" for the oldest and newest."""

    name: str
    kind: str
    is_needed: bool
    is_list: bool
    most_items: int | None = None
    least: int | None = None
    most: int | None = None
    first: str = ""
    last: str = ""
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

    def is_of(self, version: str) -> bool:
        """Whether a version has it."""
        return self.first <= version <= (self.last or version)


@dataclass(frozen=True)
class Operation:
    """What an operation takes. `limits`: parameter → its greatest number, or None if it is not a number."""

    body: str = ""
    limits: Mapping[str, int | None] = field(default_factory=dict)


@dataclass(frozen=True)
class Facts:
    """The published versions, operations by method and path, and objects by name."""

    versions: Sequence[str]
    operations: Mapping[tuple[str, str], Operation]
    objects: Mapping[str, Mapping[str, Member]]


@cache
def facts() -> Facts:
    """All facts, read once."""
    lines = [line for line in _FILE.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    versions: list[str] = []
    operations: dict[tuple[str, str], Operation] = {}
    objects: dict[str, dict[str, Member]] = {}
    members: dict[str, Member] | None = None
    for line in filter(None, lines):
        if line.startswith("["):
            members = objects.setdefault(line.strip("[]"), {})
        elif members is not None:
            member = _member(*line.split())
            members[member.name] = member
        elif line.startswith("versions "):
            versions += line.split()[1:]
        else:
            method, path, *rest = line.split()
            operations[method, path] = _operation(rest)
    return Facts(versions, operations, objects)


def _operation(words: Sequence[str]) -> Operation:
    body = words[0] if words and words[0] != "?" else ""
    names = words[words.index("?") + 1 :] if "?" in words else ()
    pairs = (name.partition("=") for name in names)
    return Operation(body, {name: int(most) if most else None for name, _, most in pairs})


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
