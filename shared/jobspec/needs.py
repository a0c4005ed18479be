"""The member `needs` of a slipway.json: files of its folder for which a drop waits. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase

from shared.jobspec.problems.codes import problem
from shared.jobspec.problems.problem import Problem
from shared.jobspec.text.file_names import is_ignored, is_left_over, name_flaw
from shared.jobspec.text.tree import Node, quote

MAX_NEEDS = 20
_LONGEST = 256
_REQUEST = ("job.json", "slipway.json")
_REMEDY = 'write the path of a file below the folder, for example "weights.bin" or "data/*.csv"'


def need_problems(root: Node, *, drop: bool) -> Iterator[Problem]:
    """All problems of `needs`, beyond its shape, which the envelope checks. `drop`: of a slipway.json."""
    needs = root.member("needs")
    if not drop and needs.is_written:
        text = "needs belongs in the slipway.json of a dropped folder: a message waits for no file"
        yield problem("SW065", needs.pointer, text, "remove needs", of_name=True)
        return
    named = list(needs.each())
    if len(named) > MAX_NEEDS:
        text = f"{len(named)} files are named in needs; {MAX_NEEDS} are allowed"
        yield problem("SW065", needs.pointer, text, 'write a pattern, for example "data/*.csv"')
        return
    for node in named:
        if node.text is not None and (flaw := _flaw(node.text)):
            yield problem("SW065", node.pointer, f"{quote(node.text)} {flaw}", _REMEDY)


def _flaw(need: str) -> str:
    """Why no file of the folder can be meant; "" if it is sound."""
    if not need or len(need) > _LONGEST:
        return f"is not a path of 1 to {_LONGEST} characters"
    if flaw := name_flaw(need):
        return flaw
    if is_left_over(need):
        return "names a hidden file, or one of Python's own, which are not part of a drop"
    if need in _REQUEST:
        return "is the request itself, which is always there and is not part of what runs"
    if need.endswith("/"):
        return "is the name of a folder, not of a file"
    return "has **: each * stands for a part of one level" if "**" in need else ""


def is_pattern(need: str) -> bool:
    """Whether it may mean several files."""
    return any(character in need for character in "*?[")


def is_met_by(need: str, name: str) -> bool:
    """Whether a file of the folder, by its path in there, is one of those that are meant.

    Level by level, as a shell does it: no `*` stands for a slash, or for the dot of a hidden file.
    """
    levels, patterns = name.split("/"), need.split("/")
    if len(levels) != len(patterns) or is_ignored(name) or name in _REQUEST:
        return False
    return name == need or all(map(fnmatchcase, levels, patterns))
