"""No wait lasts longer because a clock was wrong: each comparison with the time is known, with the reason."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
ROOMS = ("core", "intake", "lifecycle", "admission", "delivery", "operate", "adapters", "engines")
#: The programs on nodes have clocks of their own.
_ON_NODES = "shared/engines/node/"
_NOW = re.compile(r"\bnow\b|clock\(\)|self\._until")
_ORDER = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_BOTH_SIDES = "a time ahead of now counts like one that is too long ago"
_ANEW = "evidence: a clock that went back starts it anew, and the record says so"
_NEEDED = "code of a job that has not ended is kept at any time; that of others goes earlier, or later"
_BY_THE_SERVER = "evidence by the API server's clock, which a process with a right clock judges rightly"
_STEADY = "a clock that never goes back"

#: Each comparison of a time with now, and why it makes nothing wait for as long as a clock was wrong.
COMPARED = {
    "core/notify/receivers.py: abs(now - self._read) < _FRESH": _BOTH_SIDES,
    "core/pacing/breaker.py: 0 < (one.until - now).total_seconds() <= one.pause": _BOTH_SIDES,
    "core/pacing/memo.py: timedelta(0) <= now - since < timedelta(seconds=seconds)": _BOTH_SIDES,
    "core/pacing/memo.py: abs(now - since) < _HOUR": _BOTH_SIDES,
    "core/pacing/wait_kinds.py: due <= now": "the one place",
    "engines/batch/attempts.py: 0 <= now - since < self._cluster.terminated_after": _BOTH_SIDES,
    "intake/drops/ordered.py: ports.clock() < memo.until <= ports.clock() + longest": _BOTH_SIDES,
    "core/pacing/wait_kinds.py: due - now > longest": "the one place",
    "core/trouble.py: abs(now - moment) < (_PASS_IS_DUE if kind in ('sweeper', 'cluster') else _LATELY)": (
        _BOTH_SIDES
    ),
    "lifecycle/dispatch.py: ports.clock() - job.unknown_since <= _ZOMBIE": _ANEW,
    "lifecycle/operators/conditions.py: abs(now - one.since) >= _SCARCE": _BOTH_SIDES,
    "lifecycle/operators/conditions.py: abs(now - one.since) >= _SILENT": _BOTH_SIDES,
    "lifecycle/operators/conditions.py: abs(now - since) >= _PARKED": _BOTH_SIDES,
    "operate/common_waits.py: ports.clock() - job.stage.at < _SAID_AFTER": "only a sentence comes later",
    "operate/overview/expectation.py: latest < ports.clock()": "only a sentence about a start differs",
    "operate/overview/overview.py: now < last.at": "all ends are read again, as in every ten minutes",
    "operate/overview/month.py: timedelta() <= now - last.whole_at < _WHOLE": _BOTH_SIDES,
    "lifecycle/archive.py: ports.clock() - job.history[-1].at >= ports.policy.retention + _PATIENCE": (
        "the record of a job that ended is kept longer; nothing waits for that"
    ),
    "lifecycle/idle/spans.py: abs(ports.clock() - latest) > _FRESH + use.longest_wait(job.nodes)": (
        "what the nodes' clock says is compared: while the two differ, no job is taken for idle"
    ),
    "lifecycle/observe.py: now - before > _SAME_START": "two times of the cluster",
    "lifecycle/observe.py: (now - first).total_seconds() >= policy.lost_after": _ANEW,
    "lifecycle/observe.py: job.missed_at <= now": _ANEW,
    "lifecycle/teams/lending.py: timedelta(0) <= now - since <= _UNDER_WAY": _ANEW,
    "lifecycle/teams/lending.py: since <= now": _ANEW,
    "admission/rate.py: now - _HOUR < at <= latest": (
        "slots that are further ahead than the longest wait for one do not count"
    ),
    "admission/reason.py: row.since <= (now - _PASSING).astimezone(UTC).isoformat(timespec='milliseconds')": (
        "a passing reason is shown later; the job waits for its cluster"
    ),
    "delivery/try_delivery.py: now - notice.since > schedule.life": (
        "an event that could never be sent is given up later; until then it is tried"
    ),
    "adapters/entra.py: now - self._failed > _PAUSE": _STEADY,
    "adapters/entra.py: now - self._hung <= _REST": _STEADY,
    "adapters/storage/wire/signing_key.py: least < self._until <= least + _LASTING": _BOTH_SIDES,
    "lifecycle/collect.py: now - snapshot.modified > ports.policy.retention + _LONGER": _NEEDED,
    "lifecycle/collect.py: now - snapshot.modified > _UNUSED": _NEEDED,
    "lifecycle/collect.py: now - one.modified > _RENEWED": "a touch too many, or a later one; no job waits",
    "engines/batch/account.py: 0 <= self._clock() - self._asked_at < self._pause": _BOTH_SIDES,
    "engines/batch/account.py: abs(self._clock() - self._read_at) < _LONGEST": _BOTH_SIDES,
    "engines/batch/node_faults.py: timedelta() <= now - since < MENDED": _BOTH_SIDES,
    "engines/batch/pool.py: 0 <= self._clock() - self._written < (_PAUSE if has_changed else _AGAIN)": (
        _BOTH_SIDES
    ),
    "engines/batch/provision.py: end - now > _WARNED": "a date of Azure, in a report to people",
    "engines/batch/provision.py: end <= now": "a date of Azure, in a report to people",
    "engines/batchai/addresses.py: entry.until > self._clock()": _STEADY,
    "engines/batchai/addresses.py: absence.until > self._clock()": _STEADY,
    "engines/kubernetes/bulk_status.py: abs(self._clock() - memory.at) < _EXPLAINED": _BOTH_SIDES,
    "engines/kubernetes/looks.py: 0 <= self._clock() - self._largest.at < _GOOD": _BOTH_SIDES,
    "engines/kubernetes/attempts.py: 0 <= self._clock() - self._programs_at < _PROGRAMS": _BOTH_SIDES,
    "engines/kubernetes/translation/stuck.py: now - since > _LONGEST": _BY_THE_SERVER,
    "engines/kubernetes/translation/stuck.py: now - since > quiet": _BY_THE_SERVER,
    "engines/kubernetes/wire/bearer.py: self._clock() >= self._until": _STEADY,
    "engines/kubernetes/wire/starting.py: now - self._since < _LONGEST": _STEADY,
    "engines/kubernetes/translation/observations.py: now - since > lost_after": _BY_THE_SERVER,
    "engines/kubernetes/translation/silence.py: now - moment > lost_after": _BY_THE_SERVER,
    "engines/kubernetes/translation/silence.py: (_due(pod) or now) < now": _BY_THE_SERVER,
    "engines/kubernetes/translation/silence.py: now >= until": _BY_THE_SERVER,
    "engines/kubernetes/translation/silence.py: due >= now": _BY_THE_SERVER,
    "engines/batch/queues.py: 0 <= self._clock() - self._read_at <= _GOOD": _BOTH_SIDES,
    "engines/recent.py: 0 <= self._clock() - before.at <= good": _BOTH_SIDES,
    "engines/recent.py: 0 <= self._clock() - snapshot.viewed <= _OLDEST": _BOTH_SIDES,
    "engines/slurm/attempts.py: abs(self._clock() - self._listed) < _LOOK_AGAIN": _BOTH_SIDES,
    "engines/slurm/copies.py: now.restarts > copy.restarts": "a number of restarts",
    "engines/slurm/copies.py: now - chosen.submitted >= settle": (
        "`Sightings` dates a job from when it was first seen, where Slurm's clock is ahead"
    ),
    "engines/slurm/copies.py: copy.submitted > now": "the same",
    "engines/slurm/copies.py: (copy.started or now) <= now": "only a sentence about a start is left out",
}


def comparisons(source: str) -> Iterator[str]:
    """The comparisons of a file that have the current time on one side."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Compare) and any(isinstance(one, _ORDER) for one in node.ops):
            text = ast.unparse(node)
            if _NOW.search(text):
                yield text


def test_every_comparison_with_the_time_is_known_with_the_reason_why_no_wrong_clock_makes_it_last() -> None:
    files = [file for room in ROOMS for file in (ROOT / "shared" / room).rglob("*.py")]
    compared = {
        f"{file.relative_to(ROOT / 'shared').as_posix()}: {text}"
        for file in files
        if not file.relative_to(ROOT).as_posix().startswith(_ON_NODES)
        for text in comparisons(file.read_text())
    }
    assert compared - COMPARED.keys() == set(), "ask `Policy.is_over`, or say here what bounds the wait"
    assert COMPARED.keys() - compared == set(), "no longer in the source"


@pytest.mark.parametrize("source", ["due <= now", "ports.clock() - since > longest", "a < self._clock()"])
def test_a_comparison_is_seen(source: str) -> None:
    assert list(comparisons(source)) == [source]


@pytest.mark.parametrize("source", ["now is None", "a < b", "now == before", "known < unknown"])
def test_others_are_not_meant(source: str) -> None:
    assert list(comparisons(source)) == []
