"""Problems as people and programs read them: one implementation for the command, the API and the receipts.

All take problems in the form of `Problem.as_dict`, as records keep them. Pure.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from shared.jobspec import Problem, page_of

#: One problem as JSON.
ProblemMembers: TypeAlias = Mapping[str, Any]
_SEVERITIES = ("error", "warning", "hint")


def problems_as_json(problems: Iterable[Problem]) -> list[dict[str, Any]]:
    """The problems as JSON, as the API and `--json` show them."""
    return [problem.as_dict() for problem in problems]


def as_json(
    problems: Iterable[Problem], *, valid: bool, notes: Sequence[str] = (), file: str = ""
) -> dict[str, Any]:
    """The answer of `POST /api/validate`, and the output of `slipway validate --format json` per file."""
    named = {"file": file} if file else {}
    return {**named, "valid": valid, "problems": problems_as_json(problems), "notes": list(notes)}


def verdict(problems: Sequence[ProblemMembers]) -> str:
    """The number of problems by severity: `2 errors, 1 warning`; or `valid`."""
    counts = {kind: sum(one["severity"] == kind for one in problems) for kind in _SEVERITIES}
    counted = [f"{count} {kind}{'s' if count > 1 else ''}" for kind, count in counts.items() if count]
    return ", ".join(counted) or "valid"


def text(problems: Sequence[ProblemMembers], file: str = "job.json") -> str:
    """For people: place, rule, message; the line with a caret; the remedy and the page. Ends with a newline.

    `file` names the text of problems without a place.
    """
    return "".join(_one(problem, file) for problem in problems)


def headline(problems: Iterable[ProblemMembers]) -> str:
    """The first error in one line: its place, its rule and its message; "" if there is none."""
    error = next((one for one in problems if one["severity"] == "error"), None)
    if error is None:
        return ""
    return f"{_place(error, '')}: {_rule(error)}: {_message(error)}".removeprefix(": ")


def dotted(pointer: str) -> str:
    """A pointer as people write it: properties.mountVolumes.azureFileShares[0].accountName."""
    shown = ""
    for part in pointer.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        if name.isdecimal() and name.isascii():
            shown += f"[{name}]"
        elif name and all(letter.isalnum() or letter in "_$-" for letter in name):
            shown += f".{name}" if shown else name
        else:
            shown += f'["{name}"]'
    return shown


def _one(problem: ProblemMembers, file: str) -> str:
    lines = [f"{_place(problem, file)}: {problem['severity']} {_rule(problem)}: {_message(problem)}"]
    if problem.get("source"):
        source, caret = problem["source"], problem["caret"]
        blanks, marks = (_columns(piece) for piece in (source[:caret], source[caret:][: problem["width"]]))
        lines += [f"  | {source}".rstrip(), f"  | {' ' * blanks}{'^' * max(1, marks)}"]
    certain = " (--fix does it)" if problem.get("edits") else ""
    lines.append(
        f"    {problem.get('remedy', '')}{certain} · {problem.get('help') or page_of(problem['code'])}"
    )
    return "\n".join(lines) + "\n"


def _place(problem: ProblemMembers, file: str) -> str:
    where = problem.get("file") or file
    return f"{where}:{problem['line']}:{problem['column']}" if "line" in problem else where


def _message(problem: ProblemMembers) -> str:
    """The message without its place."""
    message = str(problem["message"])
    if "line" not in problem:
        return message
    return message.removeprefix(f"line {problem['line']}, column {problem['column']}: ")


def _rule(problem: ProblemMembers) -> str:
    return f"{problem['code']} {dotted(problem['pointer'])}".rstrip()


def _columns(piece: str) -> int:
    """The width of a text on a screen: East Asian letters take two columns, combining marks none."""
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in piece)
    return len(piece) + wide - sum(bool(unicodedata.combining(letter)) for letter in piece)
