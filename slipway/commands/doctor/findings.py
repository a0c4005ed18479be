"""Findings of `slipway doctor`: one line for each checked thing. None holds a secret."""

import shutil
import sys
import textwrap
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from slipway.terminal.characters import RESET, coloured, harmless
from slipway.terminal.screen import put

Outcome = Literal["ok", "warn", "fail", "skip"]
_COLOURS = {"ok": 32, "warn": 33, "fail": 31, "skip": 36}
_NARROWEST = 60


@dataclass(frozen=True)
class Finding:
    """A checked thing, its state, and the remedy, which may be part of the text."""

    subject: str
    outcome: Outcome
    text: str
    remedy: str = ""


@dataclass(frozen=True)
class Options:
    """The options of the command: which deployment, which settings, and what of Azure."""

    url: str
    key: str = field(repr=False)
    settings_file: Path | None = None
    subscription: str = ""
    region: str = ""
    #: the receiver of a test event, which checks its signature; "" for none
    receiver: str = ""
    #: the address of Azure Resource Manager
    arm: str = "https://management.azure.com"


#: Checks one area. A problem that a person can solve is a finding, not an exception.
Check = Callable[[Options], Awaitable[list[Finding]]]


def ok(subject: str, text: str) -> Finding:
    """A finding: it works, or is not needed."""
    return Finding(subject, "ok", text)


def warn(subject: str, text: str, remedy: str = "") -> Finding:
    """A finding: it may cause trouble."""
    return Finding(subject, "warn", text, remedy)


def fail(subject: str, text: str, remedy: str = "") -> Finding:
    """A finding: it does not work."""
    return Finding(subject, "fail", text, remedy)


def skip(subject: str, why: str) -> Finding:
    """A finding: it could not be checked, with the reason."""
    return Finding(subject, "skip", f"not checked: {why}")


def private(subject: str, file: Path) -> list[Finding]:
    """A warning for a file with keys that others can read; none if only its owner can."""
    try:
        open_to_others = file.stat().st_mode & 0o077
    except OSError:
        return []
    if not open_to_others:
        return []
    return [warn(subject, f"{file} holds keys, and others may read it", f"chmod 600 {file}")]


def lines(findings: Sequence[Finding], width: int | None = None, *, colour: bool = False) -> list[str]:
    """A line for each finding, wrapped at a terminal's `width`; and their number."""
    column = max(len(one.subject) for one in findings)
    shown: list[str] = []
    for one in findings:
        text = harmless("; ".join(part for part in (one.text, one.remedy) if part), colour=False)
        head = f"{one.outcome:<4}  {one.subject:<{column}}  "
        whole = [head + text.replace("\n", " ")]
        if width:
            whole = textwrap.wrap(
                whole[0], width, subsequent_indent=" " * len(head), break_long_words=False,
                break_on_hyphens=False,
            )  # fmt: skip
        if colour:
            painted = f"\x1b[{_COLOURS[one.outcome]}m{one.outcome}{RESET}"
            whole[0] = painted + whole[0].removeprefix(one.outcome)
        shown += whole
    return [*shown, "", _count(findings)]


def print_lines(findings: Sequence[Finding]) -> None:
    """Print the lines: in colour and wrapped on a terminal, one line each elsewhere."""
    terminal = sys.stdout.isatty()
    width = max(shutil.get_terminal_size().columns, _NARROWEST) if terminal else None
    colour = coloured(sys.stdout)
    put(*lines(findings, width, colour=colour), colour=colour)


def _count(findings: Sequence[Finding]) -> str:
    numbers = {word: sum(one.outcome == word for one in findings) for word in ("fail", "warn")}
    names = {"fail": "failure", "warn": "warning"}
    counts = [f"{n} {names[word]}{'' if n == 1 else 's'}" for word, n in numbers.items() if n]
    if skipped := sum(one.outcome == "skip" for one in findings):
        counts.append(f"{skipped} not checked")
    return ", ".join(counts) if counts else "everything works"
