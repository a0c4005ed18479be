"""A file system that hangs holds some threads of its own, and nothing else waits for it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from threading import Barrier, Event
from typing import Any

import pytest

from shared.core.errors import Busy, Transient
from shared.engines import reads
from shared.engines.reads import Reads
from tests.unit.engines.test_shared_records import TARGET, Share


@pytest.fixture
def end() -> Iterator[Event]:
    """What lets the threads go on that hang."""
    event = Event()
    yield event
    event.set()


async def hanging(some: Reads, end: Event, count: int) -> None:
    """So many calls that hang, and whose callers have gone."""
    for _ in range(count):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await some.run(end.wait)


async def test_calls_that_hang_leave_the_common_threads_alone(end: Event) -> None:
    await hanging(Reads(Busy), end, 20)
    async with asyncio.timeout(60):
        assert await asyncio.to_thread(lambda: 1) == 1
        assert await Reads(Busy).run(lambda: 2) == 2


@pytest.mark.parametrize("refusal", [Busy, Transient])
async def test_once_all_threads_hang_a_call_is_refused_at_once(
    end: Event, refusal: type[Transient], monkeypatch: pytest.MonkeyPatch
) -> None:
    some, begun = Reads(refusal), Barrier(9, timeout=5)

    def hang() -> None:
        begun.wait()
        end.wait()

    calls = [asyncio.create_task(some.run(hang)) for _ in range(8)]
    await asyncio.to_thread(begun.wait)
    monkeypatch.setattr(reads, "_STUCK", -1.0)
    with pytest.raises(refusal, match="does not answer") as raised:
        await some.run(lambda: 1)
    assert type(raised.value) is refusal

    end.set()
    await asyncio.gather(*calls)
    assert await some.run(lambda: 1) == 1


async def test_many_calls_that_end_wait_for_each_other() -> None:
    some = Reads(Busy)
    assert await asyncio.gather(*(some.run(str, number) for number in range(200))) == [*map(str, range(200))]


async def test_an_error_is_that_of_the_call_and_frees_its_thread() -> None:
    some = Reads(Busy)
    for _ in range(20):
        with pytest.raises(ZeroDivisionError):
            await some.run(divmod, 1, 0)
    assert await some.run(divmod, 7, 4) == (1, 3)


async def test_no_record_of_an_end_waits_for_files_that_hang(
    tmp_path: Any, end: Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    share = Share(tmp_path)
    share.run()
    records = share.records
    monkeypatch.setattr(records, "_list", lambda *_: end.wait())
    for _ in range(12):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await records.page(TARGET, "stdouterr", ".", "")
    async with asyncio.timeout(60):
        assert await records.find(TARGET)
        assert await records.visible()
