"""The queue listener against a real queue: renewal, wake-up, poison without loss."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from datetime import timedelta

import pytest
import pytest_asyncio
from azure.core.exceptions import ResourceNotFoundError
from azure.storage.queue import QueueMessage

from local.host.deletion import Deletion
from local.host.storage import Accounts, queue_key
from local.host.triggers.listener import ListenerOptions, Outcome, QueueListener
from local.host.wakeups import Wakeups
from tests.contract.host.world import PATIENCE, Storage, eventually

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest_asyncio.fixture(loop_scope="session")
async def storage(storage: Storage) -> Storage:
    """That of the package, without the queues of other tests."""
    for name in ("jobs", "jobs-poison"):
        with suppress(ResourceNotFoundError):
            await storage.queues.get_queue_client(name).delete_queue()
    return storage


def _options(
    *, poll: float = 0.2, batch: int = 4, threshold: int = 4, hidden: float = 600
) -> ListenerOptions:
    return ListenerOptions(
        batch=batch, threshold=threshold, slowest_poll=poll, retry_delay=0, tries=2, hidden=hidden, outage=24
    )


@asynccontextmanager
async def _listening(
    storage: Storage,
    options: ListenerOptions,
    work: Callable[[QueueMessage], Awaitable[Outcome]],
    wakeups: Wakeups | None = None,
    *,
    has_poison: bool = True,
    grace: float = 5,
) -> AsyncIterator[QueueListener]:
    queue, poison = (storage.queues.get_queue_client(n) for n in ("jobs", "jobs-poison"))
    accounts = Accounts({})
    listener = QueueListener(
        queue,
        poison if has_poison else None,
        Deletion(queue, accounts.http),
        options,
        work,
        wakeups or Wakeups(),
    )
    task = asyncio.create_task(listener.run())
    try:
        yield listener
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        await listener.drain(grace)
        await accounts.close()


async def test_a_message_that_takes_longer_than_its_visibility_runs_once(storage: Storage) -> None:
    runs: list[int | None] = []
    done = asyncio.Event()

    async def work(message: QueueMessage) -> Outcome:
        runs.append(message.dequeue_count)
        await asyncio.sleep(3)  # more than the visibility of 2 s, which the queue itself counts
        done.set()
        return Outcome.DONE

    await storage.send("jobs", "long")
    async with _listening(storage, _options(hidden=2), work), asyncio.timeout(PATIENCE):
        await done.wait()

    assert runs == [1]
    assert await storage.peek("jobs") == []


async def test_a_sender_in_the_host_wakes_a_listener_that_waits_long(storage: Storage) -> None:
    wakeups, result = Wakeups(), asyncio.Event()

    async def work(_: QueueMessage) -> Outcome:
        result.set()
        return Outcome.DONE

    await storage.send("jobs")
    async with _listening(storage, _options(poll=3600), work, wakeups), asyncio.timeout(PATIENCE):
        await storage.send("jobs", "first")
        wakeups.notify(queue_key(storage.queues.get_queue_client("jobs")))
        await result.wait()


async def test_no_more_run_at_once_than_a_batch_over_the_threshold(storage: Storage) -> None:
    running, most, finished = 0, 0, 0

    async def work(message: QueueMessage) -> Outcome:
        nonlocal running, most, finished
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.1 if message.content == "0" else 0.3)  # long enough to overlap, if they may
        running -= 1
        finished += 1
        return Outcome.DONE

    await storage.send("jobs", *(str(n) for n in range(9)))
    async with _listening(storage, _options(batch=2, threshold=1), work):

        async def all_done() -> bool:
            return finished == 9

        await eventually(all_done, lambda: f"9 messages, {finished} done, {most} at once")

    assert 1 < most <= 3


async def test_a_queue_that_does_not_exist_yet_is_polled_until_it_does(storage: Storage) -> None:
    result = asyncio.Event()

    async def work(_: QueueMessage) -> Outcome:
        result.set()
        return Outcome.DONE

    async with _listening(storage, _options(), work), asyncio.timeout(PATIENCE):
        await storage.send("jobs", "first")
        await result.wait()


async def test_a_message_whose_tries_all_crashed_is_poisoned_without_running(storage: Storage) -> None:
    await storage.send("jobs", "crasher")
    queue = storage.queues.get_queue_client("jobs")
    for _ in range(2):  # received, and never finished: what a crash of the whole host leaves
        async for message in queue.receive_messages(max_messages=1):
            await queue.update_message(message, visibility_timeout=0)
    runs: list[str] = []

    async def work(message: QueueMessage) -> Outcome:
        runs.append(message.content)
        return Outcome.DONE

    async with _listening(storage, _options(), work):
        assert await storage.take("jobs-poison", lambda _: True) == ["crasher"]

    assert runs == []


async def test_what_a_stop_interrupts_stays_hidden(storage: Storage) -> None:
    began = asyncio.Event()

    async def work(_: QueueMessage) -> Outcome:
        began.set()
        await asyncio.sleep(3600)
        return Outcome.DONE

    await storage.send("jobs", "long")
    async with _listening(storage, _options(), work, grace=0), asyncio.timeout(PATIENCE):
        await began.wait()

    assert await _remaining(storage) == (1, [])


async def test_a_message_lives_a_week_in_the_poison_queue(storage: Storage) -> None:
    async def work(_: QueueMessage) -> Outcome:
        return Outcome.HOPELESS

    await storage.queues.get_queue_client("jobs").create_queue()
    await storage.queues.get_queue_client("jobs").send_message("for ever", time_to_live=-1)
    async with _listening(storage, _options(), work), asyncio.timeout(PATIENCE):
        await eventually(lambda: _is_poison(storage), lambda: "the message in its poison queue")

    (message,) = await storage.queues.get_queue_client("jobs-poison").peek_messages()
    assert message.expires_on is not None
    assert message.inserted_on is not None
    assert message.expires_on - message.inserted_on == timedelta(days=7)


async def _is_poison(storage: Storage) -> bool:
    return bool(await storage.peek("jobs-poison"))


async def test_what_fails_in_a_queue_without_a_poison_queue_stays_hidden_after_each_try(
    storage: Storage,
) -> None:
    tries: list[int | None] = []

    async def work(message: QueueMessage) -> Outcome:
        tries.append(message.dequeue_count)
        return Outcome.FAILED

    await storage.send("jobs", "poison")
    async with _listening(storage, _options(hidden=1), work, has_poison=False):

        async def tried() -> bool:
            return len(tries) == 4

        await eventually(tried, lambda: f"more tries than host.json allows elsewhere: {tries}")

    assert tries == [1, 2, 3, 4]


async def _remaining(storage: Storage) -> tuple[int | None, list[str]]:
    """How many messages the queue has, and the visible ones."""
    properties = await storage.queues.get_queue_client("jobs").get_queue_properties()
    return properties.approximate_message_count, await storage.peek("jobs")
