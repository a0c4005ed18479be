"""How many nodes a cluster had in each state, over the last hours: a ring of points. Pure.

A point holds until the next one, so that nothing is written while nothing changes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Protocol

#: The states that are counted, in the words of all engines.
NODE_STATES = ("idle", "running", "preparing", "leaving", "unusable")
#: The most points of a cluster: eight hours in which each minute changes something.
MOST_POINTS = 480
#: The longest time between two points, even if nothing changed: during a longer gap, no process looked.
LONGEST = timedelta(minutes=10)


@dataclass(frozen=True)
class Point:
    """A moment, and the nodes in each of NODE_STATES; None for a cluster that did not answer."""

    at: datetime
    nodes: tuple[int, ...] | None


@dataclass(frozen=True)
class NodeHistory:
    """The points of one cluster, oldest first, and the version of the row that holds them ("": none yet)."""

    cluster: str
    points: tuple[Point, ...] = ()
    version: str = ""
    #: the most nodes that it may have, when it last answered; None where that is not limited or not known
    maximum: int | None = None

    def rests(self, now: datetime) -> bool:
        """Whether this minute has a point already."""
        return bool(self.points) and _minute(self.points[-1].at) == _minute(now)

    def points_from(self, moment: datetime) -> NodeHistory:
        """The points from that moment on, and the one before it, which still held then."""
        older = [point for point in self.points if point.at < moment]
        return replace(self, points=(*older[-1:], *self.points[len(older) :]))

    def extended(self, point: Point, maximum: int | None = None) -> NodeHistory:
        """With one more point, without the oldest beyond the bound; unchanged if nothing is new."""
        last = self.points[-1] if self.points else None
        most = self.maximum if point.nodes is None else maximum
        if last and last.nodes == point.nodes and timedelta() <= point.at - last.at < LONGEST:
            return self if most == self.maximum else replace(self, maximum=most)
        return replace(self, points=(*self.points, point)[-MOST_POINTS:], maximum=most)


def _minute(moment: datetime) -> datetime:
    return moment.replace(second=0, microsecond=0)


def counted(counts: Mapping[str, int]) -> tuple[int, ...]:
    """The nodes in each of NODE_STATES."""
    return tuple(counts.get(state, 0) for state in NODE_STATES)


class NodeHistories(Protocol):
    """The histories of all clusters: one row each."""

    async def get(self, cluster: str) -> NodeHistory:
        """The history of one cluster, as this process last read it; without points if there is none."""

    async def put(self, history: NodeHistory) -> NodeHistory | None:
        """Write it if its row still has that version. Returns it as stored; None for another version."""

    async def all(self) -> dict[str, NodeHistory]:
        """The histories of all clusters, by name, in one range query."""
