"""A progress bar for bytes, drawn on standard error if that is a terminal."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(frozen=True)
class Bar:
    """Counts the expected bytes, which may grow while others arrive, and the bytes that arrived."""

    expect: Callable[[int], None]
    advance: Callable[[int], None]


#: It draws nothing.
SILENT = Bar(lambda _: None, lambda _: None)


@contextmanager
def progress(total: int = 0) -> Iterator[Bar]:
    """A bar for so many expected bytes. Yields the counter."""
    if not sys.stderr.isatty():
        yield SILENT
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn, TransferSpeedColumn

    columns = (BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task, expected = progress.add_task("", total=total or None), total

        def expect(count: int) -> None:
            nonlocal expected
            expected += count
            # Not by update, which would lose the rate, and with it the estimate of the remaining time.
            one = progress.tasks[task]
            one.total, one.finished_time, one.finished_speed = expected, None, None

        yield Bar(expect, lambda count: progress.advance(task, count))
