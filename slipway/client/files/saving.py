"""Saves many files in one directory, several at once, and reports the outcome."""

import asyncio
import errno
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from slipway.client.calls.refusal import Changed
from slipway.client.files.arriving import Arriving
from slipway.client.files.output import PARALLEL
from slipway.client.files.remote import Remote
from slipway.client.files.save import Busy
from slipway.failure import Failure
from slipway.terminal.characters import printable
from slipway.terminal.screen import say

#: The errors of a full disk.
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
#: Seconds between two looks at a file that another download writes.
_EVERY = 0.5
#: Reasons that a person reads, one a line; programs get all.
_SHOWN = 10

File = TypeVar("File", bound=Remote)


@dataclass
class Outcome:
    """The outcome for the files."""

    saved: int = 0
    bytes: int = 0
    present: int = 0
    failed: list[tuple[str, str]] = field(default_factory=list)
    #: another job whose files are in the directory, too
    other: str = ""
    #: whether another download writes into the directory
    met: bool = False

    @property
    def failures(self) -> list[dict[str, str]]:
        """Those that failed, for programs."""
        return failures(self.failed)


def failures(failed: Sequence[tuple[str, str]]) -> list[dict[str, str]]:
    """Files with the reasons why they could not be saved, for programs."""
    return [{"name": name, "reason": reason} for name, reason in failed]


def reasons(failed: Sequence[tuple[str, str]], rest: str = "") -> list[str]:
    """Why files could not be saved, for people: the first ones, and how many more there are.

    `rest` says where those are named.
    """
    lines = [f"{printable(name)}: {reason}" for name, reason in failed[:_SHOWN]]
    more = len(failed) - _SHOWN
    return [*lines, f"… and {more:,} more{rest}"] if more > 0 else lines


def say_reasons(failed: Sequence[tuple[str, str]]) -> None:
    """Show people why files could not be saved."""
    for line in reasons(failed, "; --json names them all"):
        say(line)


async def save_each(
    files: Arriving[File],
    has: Callable[[File], Awaitable[bool]],
    save: Callable[[File], Awaitable[int]],
    advance: Callable[[int], None],
    outcome: Outcome,
) -> None:
    """Save what the directory does not have, while files arrive.

    It waits for a file that another download writes. A full disk ends it, so that nothing is read that could
    not be written.
    """

    async def arrives(file: File) -> None:
        while not await has(file):
            try:
                size = await save(file)
            except Busy:
                if not outcome.met:
                    say("another download writes into this directory; waiting for the files that it fetches")
                outcome.met = True
                await asyncio.sleep(_EVERY)
            else:
                outcome.bytes += size
                outcome.saved += 1
                return
        outcome.present += 1
        advance(file.size)

    async def worker() -> None:
        async for file in files:
            try:
                await arrives(file)
            except Changed:
                outcome.failed.append((file.name, "it is written at this moment; get it again"))
            except Failure as failure:
                outcome.failed.append((file.name, str(failure)))
            except OSError as error:
                reason = error.strerror or "it cannot be written"
                outcome.failed.append((file.name, reason))
                if error.errno in _FULL:
                    async for other in files:
                        outcome.failed.append((other.name, f"{reason}, so it was not read"))

    await asyncio.gather(*(worker() for _ in range(PARALLEL)))
