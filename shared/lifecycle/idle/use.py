"""use: what the lines in which nodes report their use say about a job. Pure; no line is trusted.

A line is `{"rank": 0, "time": 1795176000, "gpu0_percent": 97, "gpu0_memory_mib": 1024}`. A node without a
line in its time, or a GPU without its number, is not known to be idle.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import pairwise
from operator import itemgetter
from typing import Any, NamedTuple

#: Percent: a GPU below it does nothing.
_IDLE = 5
#: Nodes report every 15 seconds, and half as often after each 1,000 lines. A line counts until the next one
#: if that comes within these seconds, or within so many times the shortest of the last waits.
_GAP, _TIMES, _WAITS = 90.0, 2.0, 3
#: Bytes; a longer line is none of ours.
LONGEST_LINE = 8192
#: Seconds since 1970, up to the year 2100.
_LATEST = 4_102_444_800
_GPU = re.compile(r"gpu([0-9]{1,4})_(percent|memory_mib)", re.ASCII)


class Span(NamedTuple):
    """How long nothing has happened: from the last sign of work, or the first line, to the last line."""

    since: datetime
    until: datetime

    @property
    def seconds(self) -> float:
        """How long that is."""
        return (self.until - self.since).total_seconds()


class _Sample(NamedTuple):
    """One line of a node: its time, the GPUs that it names, and whether all of them are known to be idle."""

    at: float
    gpus: frozenset[int]
    is_idle: bool


@dataclass(frozen=True)
class Use:
    """The newest lines of a job's nodes, by rank, each in the order of its time."""

    samples: Mapping[int, tuple[_Sample, ...]]

    def last_seen(self, nodes: int) -> datetime | None:
        """When the node that reported longest ago did; None if one of so many has reported hardly ever."""
        if nodes < 1 or any(len(self.samples.get(rank, ())) <= _WAITS for rank in range(nodes)):
            return None
        return _moment(min(self.samples[rank][-1].at for rank in range(nodes)))

    def longest_wait(self, nodes: int) -> timedelta:
        """How long the next report of a node may take."""
        return timedelta(seconds=max(_longest_wait(self.samples[rank]) for rank in range(nodes)))

    def idle_gpus(self, nodes: int, gpus: int) -> Span | None:
        """How long all GPUs of the job have been idle; None if that is not known of every one."""
        until = self.last_seen(nodes)
        named = sum(len(self.samples[rank][-1].gpus) for rank in range(nodes)) if until else 0
        if until is None or gpus < 1 or named < gpus:
            return None
        since = max(_idle_since(self.samples[rank]) for rank in range(nodes))
        return Span(min(_moment(since), until), until)

    def covers(self, since: datetime, nodes: int) -> bool:
        """Whether it would not change anything to read earlier lines as well."""
        for rank in range(nodes):
            samples = self.samples.get(rank, ())
            if len(samples) <= _WAITS or _idle_since(samples) == samples[0].at > since.timestamp():
                return False
        return True


def use_of(text: bytes) -> Use:
    """The lines of a piece of the file. One that is cut, or no line of ours, is passed over."""
    by_rank: dict[int, list[_Sample]] = defaultdict(list)
    for members in _lines(text.split(b"\n")):
        rank, at = members.get("rank"), members.get("time")
        if type(rank) is int and type(at) is int and rank >= 0 and 0 < at < _LATEST:
            by_rank[rank].append(_sample(at, members))
    return Use({rank: tuple(sorted(samples, key=itemgetter(0))) for rank, samples in by_rank.items()})


def joined(pieces: Iterable[Use]) -> Use:
    """The lines of several pieces of the file, of which the first one is the earliest."""
    by_rank: dict[int, list[_Sample]] = defaultdict(list)
    for piece in pieces:
        for rank, samples in piece.samples.items():
            by_rank[rank] += samples
    return Use({rank: tuple(sorted(samples, key=itemgetter(0))) for rank, samples in by_rank.items()})


def _lines(lines: Iterable[bytes]) -> Iterator[Mapping[str, Any]]:
    for line in lines:
        if not line.startswith(b"{") or len(line) > LONGEST_LINE:
            continue
        try:
            members = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(members, dict):
            yield members


def _sample(at: int, members: Mapping[str, Any]) -> _Sample:
    """A GPU that is named without its percentage is not known to be idle."""
    gpus, percents = _named(tuple(members))
    is_known = bool(gpus) and len(percents) == len(gpus)
    is_idle = all(type(members[one]) is int and 0 <= members[one] < _IDLE for one in percents)
    return _Sample(float(at), gpus, is_known and is_idle)


class _Named(NamedTuple):
    """The GPUs that a line names, and the names of their percentages."""

    gpus: frozenset[int]
    percents: tuple[str, ...]


@lru_cache(maxsize=64)
def _named(members: tuple[str, ...]) -> _Named:
    """What the names of a line's members say. Lines of one job have few sets of them, which they share."""
    names = {name: match for name in members if (match := _GPU.fullmatch(name))}
    gpus = frozenset(int(match[1]) for match in names.values())
    return _Named(gpus, tuple(name for name, match in names.items() if match[2] == "percent"))


def _idle_since(samples: tuple[_Sample, ...]) -> float:
    """Since when a node's last lines have all been idle, without a gap; its last line if that is not."""
    since, most = samples[-1].at, _longest_wait(samples)
    if not samples[-1].is_idle:
        return since
    for after, before in pairwise(reversed(samples)):
        if not before.is_idle or before.gpus != after.gpus or after.at - before.at > most:
            break
        since = before.at
    return since


def _longest_wait(samples: tuple[_Sample, ...]) -> float:
    """The longest wait between two lines that leaves nothing unknown."""
    waits = [after.at - before.at for before, after in pairwise(samples[-_WAITS - 1 :])]
    return max(_GAP, _TIMES * min(waits)) if waits else 0.0


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
