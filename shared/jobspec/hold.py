"""The member `hold` of an envelope: for how long a job that fails keeps its nodes. Light and pure."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from shared.jobspec.format.duration import duration_flaw, meant_duration, parse_duration
from shared.jobspec.problems.codes import problem
from shared.jobspec.problems.fix import Fix
from shared.jobspec.problems.problem import Problem
from shared.jobspec.text.tree import Node


def hold_problems(root: Node) -> Iterator[Problem]:
    """What is wrong with `hold`, beside its shape."""
    node = root.member("hold")
    if node.text is None or parse_duration(node.text) is not None:
        return
    better = meant_duration(node.text) if len(node.text) < 32 else None
    remedy, fix = f'write "{better or "PT30M"}"', Fix("replace", node.pointer, better) if better else None
    yield problem("SW050", node.pointer, f"hold {duration_flaw(node.text[:64])}", remedy, fix=fix)


def hold_length(text: str | None) -> timedelta:
    """The length of a sound `hold`; zero for none."""
    return parse_duration(text or "") or timedelta()
