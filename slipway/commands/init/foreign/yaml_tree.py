"""A YAML file as a tree that knows the line of each member; what cannot be read is named with its line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn

from slipway.failure import Failure
from slipway.terminal.characters import printable

if TYPE_CHECKING:
    import yaml

#: The bytes of a file, its values, and the levels of them.
LONGEST = 262_144
_MOST, _DEEPEST = 20_000, 64
_MERGE = "tag:yaml.org,2002:merge"
_PLAIN = {f"tag:yaml.org,2002:{name}" for name in ("bool", "int", "float", "null")}
_TEXT = "tag:yaml.org,2002:str"
#: What has a type of its own in YAML, and stands for its text in these files.
_AS_TEXT = (_TEXT, "tag:yaml.org,2002:timestamp", "tag:yaml.org,2002:value")


@dataclass(frozen=True)
class Member:
    """A value of the file: an object with members, a list, or a single value and its text."""

    path: str
    line: int
    #: its name in the object that has it
    name: str = ""
    value: Any = None
    #: the value as it is written; None for a list and an object
    text: str | None = None
    items: tuple[Member, ...] = ()
    members: Mapping[str, Member] = field(default_factory=dict)
    kind: str = "value"


def decoded(data: bytes, file: str) -> str:
    """The text of a file. Raises Failure with the line of what is not text."""
    if len(data) > LONGEST:
        raise Failure(f"{file} has {len(data):,} bytes; a job file has {LONGEST:,} at most")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line, byte = data[: error.start].count(b"\n") + 1, data[error.start]
        raise Failure(f"{file}:{line}: the byte {byte:#04x} is not UTF-8; save the file as UTF-8") from error
    if "\0" in text:
        line = text[: text.index("\0")].count("\n") + 1
        raise Failure(f"{file}:{line}: a NUL character; save the file as UTF-8 text")
    return text


def tree(text: str, file: str) -> Member:
    """The one document of a YAML file. Raises Failure with the line of what cannot be read."""
    import yaml

    try:
        _check_depth(yaml, text, file)
        root = yaml.compose(text, yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        raise Failure(f"{file}:{line}: is not YAML: {printable(str(error.problem))}") from error
    except yaml.reader.ReaderError as error:
        line = text[: error.position].count("\n") + 1
        raise Failure(f"{file}:{line}: a control character; remove it") from error
    if root is None:
        raise Failure(f"{file} is empty; name a job file")
    return _Reader(file).member(root, "")


def _check_depth(yaml: Any, text: str, file: str) -> None:
    """Raise Failure before anything recursive meets a file that is too deep or has too many values."""
    depth = 0
    for count, event in enumerate(yaml.parse(text, yaml.SafeLoader)):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > _DEEPEST or count > 2 * _MOST:
            _refuse(file, event.start_mark.line + 1, depth > _DEEPEST)


def _refuse(file: str, line: int, deep: bool) -> NoReturn:
    what = f"more than {_DEEPEST} levels" if deep else f"more than {_MOST:,} values, with its aliases"
    raise Failure(f"{file}:{line}: {what}; a job file is smaller")


class _Reader:
    """Copies the nodes of YAML: an alias counts as often as it is used."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._count = 0

    def member(self, node: yaml.Node, path: str, name: str = "", depth: int = 0) -> Member:
        """The value of a node. Raises Failure."""
        import yaml

        line = node.start_mark.line + 1
        self._count += 1
        if depth > _DEEPEST or self._count > _MOST:
            _refuse(self._file, line, depth > _DEEPEST)
        if isinstance(node, yaml.MappingNode):
            pairs = {
                one: self.member(value, _path_of(path, one), one, depth + 1)
                for one, value in self._pairs(node)
            }
            return Member(path, line, name, members=pairs, kind="object")
        if isinstance(node, yaml.SequenceNode):
            each = enumerate(node.value, 1)
            items = (self.member(item, f"{path}[{number}]", "", depth + 1) for number, item in each)
            return Member(path, line, name, items=tuple(items), kind="list")
        return Member(path, line, name, self._value(node), node.value)

    def _pairs(self, node: yaml.MappingNode) -> Iterator[tuple[str, yaml.Node]]:
        """The members of an object, with those that `<<` brings. Raises Failure if a name is there twice."""
        import yaml

        own = dict[str, yaml.Node]()
        common = dict[str, yaml.Node]()
        for key, value in node.value:
            line = key.start_mark.line + 1
            if key.tag == _MERGE:
                common |= self._common_members(value)
                continue
            if not isinstance(key, yaml.ScalarNode):
                raise Failure(f"{self._file}:{line}: a list or an object stands where a name belongs")
            if key.value in own:
                raise Failure(f"{self._file}:{line}: {printable(key.value)} is there twice; remove one")
            own[key.value] = value
        yield from (common | own).items()

    def _common_members(self, value: yaml.Node) -> dict[str, yaml.Node]:
        import yaml

        if not isinstance(value, yaml.MappingNode) or any(key.tag == _MERGE for key, _ in value.value):
            line = value.start_mark.line + 1
            raise Failure(f"{self._file}:{line}: << with anything but one object; write its members there")
        return {str(key.value): one for key, one in value.value}

    def _value(self, node: yaml.ScalarNode) -> Any:
        import yaml

        if node.tag in _AS_TEXT:
            return node.value
        line = node.start_mark.line + 1
        if node.tag not in _PLAIN:
            raise Failure(f"{self._file}:{line}: a value of the type {printable(node.tag)}; write a text")
        try:
            return yaml.constructor.SafeConstructor().construct_object(node)
        except ValueError as error:
            text = printable(node.value)[:40]
            raise Failure(f"{self._file}:{line}: {text} is not a number; put it in quotes") from error


def _path_of(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
