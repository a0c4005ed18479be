"""The port to recorded events (delivered, waiting, dead) and disabled receivers. Pure declarations.

An event gets here by the transition that it reports (`Ledger.create` and `commit`), in the same write.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Protocol

from shared.core.notify.events import Notice
from shared.core.notify.receivers import Disabled


class Outbox(Protocol):
    """The events of all jobs. Every verb may be repeated safely."""

    @property
    def shards(self) -> int:
        """How many shards there are; fixed when the table was made."""

    async def undelivered(self, shard: int, now: datetime, longest: timedelta) -> list[Notice]:
        """Outbox rows of the shard that are due, in one range query.

        One that is due further ahead than `longest` counts as due: a wrong clock wrote it.
        """

    async def notice(self, job_id: str, sequence: int) -> Notice | None:
        """One outbox row, or None when it is delivered (or dead)."""

    async def settle(self, notice: Notice) -> None:
        """Store the progress of an outbox row. A settled one moves to the archive, and dead letters."""

    async def dead(self) -> list[Notice]:
        """The events that some receiver never accepted."""

    async def events(self, job_id: str) -> list[Notice]:
        """Every event of a job, delivered or not, by sequence; in one range query."""

    async def find(self, event_id: str) -> Notice | None:
        """One event by its id. Reads through the archive: a person may wait for it, a job may not."""

    async def revive(self, notice: Notice) -> None:
        """Put an event back among the undelivered, as given; it is then no longer a dead letter."""

    async def disable(self, receiver: Disabled) -> None:
        """Store that a receiver wants no more events."""

    async def enable(self, receiver_id: str) -> None:
        """Enable a receiver again. One that is not disabled counts as success."""

    async def disabled(self) -> list[Disabled]:
        """Every receiver that wants no more events, in one range query."""
