"""Receives the messages of one storage queue with the rules of the Functions host.

Sources: QueueListener.cs and QueueProcessor.cs of the WebJobs queue extension.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum, auto

from azure.core.exceptions import AzureError, ResourceExistsError, ResourceNotFoundError
from azure.storage.queue import QueueMessage
from azure.storage.queue.aio import QueueClient

from local.host.deletion import Deletion
from local.host.storage import queue_key
from local.host.triggers.backoff import Backoff
from local.host.triggers.outage import Outage
from local.host.wakeups import Wakeups

_log = logging.getLogger("Host.queue")


class Outcome(Enum):
    """The outcome of a message."""

    DONE = auto()  #: delete it
    FAILED = auto()  #: try again later, or poison after the last one
    HOPELESS = auto()  #: poison at once


@dataclass(frozen=True, kw_only=True)
class ListenerOptions:
    """Times in seconds. The next batch is fetched only with at most `threshold` messages in progress.

    A queue that refuses for `outage` ends the host.
    """

    batch: int
    threshold: int
    slowest_poll: float
    retry_delay: float
    tries: int
    hidden: float
    outage: float


#: The poison queue of a message, where not all messages of a queue have the same one.
PoisonOf = Callable[[QueueMessage], Awaitable[QueueClient]]


class QueueListener:
    """Polls a queue and passes each message to `work`, which never raises."""

    def __init__(
        self,
        queue: QueueClient,
        poison: QueueClient | PoisonOf | None,
        deletion: Deletion,
        options: ListenerOptions,
        work: Callable[[QueueMessage], Awaitable[Outcome]],
        wakeups: Wakeups,
    ) -> None:
        self._queue = queue
        self._poison = poison
        self._deletion = deletion
        self._options = options
        self._work = work
        self._wakeups = wakeups
        self._wake = wakeups.event(queue_key(queue))
        self._running: set[asyncio.Task[None]] = set()
        self._freed = asyncio.Event()
        self._unreachable = False
        self._outage = Outage(queue.queue_name, options.outage)

    async def run(self) -> None:
        """Poll until cancelled; messages in progress go on, see `drain`. Raises StorageAwayError."""
        backoff = Backoff(self._options.slowest_poll)
        while True:
            if len(self._running) > self._options.threshold:
                self._freed.clear()
                await self._freed.wait()
                continue
            self._wake.clear()
            messages = await self._receive()
            for message in messages:
                task = asyncio.create_task(self._handle(message))
                self._running.add(task)
                task.add_done_callback(self._task_done)
            if messages or await self._woken(backoff.delay()):
                backoff.reset()

    async def drain(self, grace: float) -> None:
        """Let messages in progress finish for `grace` seconds; the others stay hidden, as in Azure."""
        if not self._running:
            return
        _, late = await asyncio.wait(self._running, timeout=grace)
        for task in late:
            task.cancel()
        if late:
            await asyncio.wait(late, timeout=5)

    def _task_done(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        self._freed.set()

    async def _woken(self, seconds: float) -> bool:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                return await self._wake.wait()
        return False

    async def _receive(self) -> list[QueueMessage]:
        options = self._options
        pages = self._queue.receive_messages(
            messages_per_page=options.batch, visibility_timeout=max(1, round(options.hidden))
        ).by_page()
        try:
            messages = [message async for message in await anext(pages)]
        except (ResourceNotFoundError, StopAsyncIteration):
            self._outage.note_answer()
            return []  # polled until it is created
        except AzureError as error:
            if not self._unreachable:
                _log.warning("queue %s cannot be read: %s", self._queue.queue_name, type(error).__name__)
            self._unreachable = True
            self._outage.note_failure(error)
            return []
        if self._unreachable:
            _log.info("queue %s can be read again", self._queue.queue_name)
        self._unreachable = False
        self._outage.note_answer()
        return messages

    async def _handle(self, message: QueueMessage) -> None:
        handle = _HeldMessage(self._queue, self._deletion, message, self._options.hidden)
        try:
            if self._poison is not None and (message.dequeue_count or 0) > self._options.tries:
                await self._to_poison(self._poison, handle, "its earlier tries crashed")
                return
            renewal = asyncio.create_task(handle.renew())
            try:
                outcome = await self._work(message)
            finally:
                await handle.stop(renewal)
            await self._complete(handle, outcome)
        except AzureError as error:
            _log.warning(
                "message %s of queue %s will come again: %s",
                message.id,
                self._queue.queue_name,
                type(error).__name__,
            )

    async def _complete(self, held_message: "_HeldMessage", outcome: Outcome) -> None:
        message, poison = held_message.message, self._poison
        if outcome is Outcome.DONE:
            await held_message.delete()
        elif poison is None:  # it stays hidden: QueueProcessor.CompleteProcessingMessageAsync
            why = f"has no poison queue, and comes again after at most {self._options.hidden:g} s"
            _log.error("message %s of %s %s", message.id, self._queue.queue_name, why)
        elif outcome is Outcome.HOPELESS:
            why = "it cannot be decoded as host.json's messageEncoding says"
            await self._to_poison(poison, held_message, why)
        elif (message.dequeue_count or 0) >= self._options.tries:
            await self._to_poison(poison, held_message, f"it failed {message.dequeue_count} times")
        else:
            await held_message.release(self._options.retry_delay)

    async def _to_poison(
        self, poison: QueueClient | PoisonOf, held_message: "_HeldMessage", why: str
    ) -> None:
        """Copy first, then delete: a crash in between leaves two copies, never none. One lives a week."""
        message = held_message.message
        if callable(poison):
            poison = await poison(message)
        try:
            await poison.send_message(message.content)
        except ResourceNotFoundError:
            with suppress(ResourceExistsError):
                await poison.create_queue()
            await poison.send_message(message.content)
        await held_message.delete()
        _log.error("message %s moves to the queue %s: %s", message.id, poison.queue_name, why)
        self._wakeups.notify(queue_key(poison))


class _HeldMessage:
    """A received message with its latest pop receipt, invisible to others while it is renewed."""

    def __init__(
        self, queue: QueueClient, deletion: Deletion, message: QueueMessage, visibility: float
    ) -> None:
        self.message = message
        self._queue = queue
        self._deletion = deletion
        self._hidden = visibility
        self._receipt = message.pop_receipt
        self._lock = asyncio.Lock()

    async def renew(self) -> None:
        """Renew at half-life until cancelled."""
        while True:
            await asyncio.sleep(self._hidden / 2)
            async with self._lock:
                try:
                    await self._update(self._hidden)
                except AzureError as error:
                    _log.warning("message %s could not be renewed: %s", self.message.id, type(error).__name__)

    async def stop(self, renewal: asyncio.Task[None]) -> None:
        """End `renew`, not in the middle of a request: the receipt that it returns would be lost."""
        async with self._lock:
            renewal.cancel()
        with suppress(asyncio.CancelledError):
            await renewal

    async def release(self, delay: float) -> None:
        """Make it visible again after `delay` seconds."""
        await self._update(delay)

    async def delete(self) -> None:
        """Delete the message, which has been processed."""
        await self._deletion.delete(self.message.id, self._receipt or "")

    async def _update(self, visibility: float) -> None:
        updated = await self._queue.update_message(
            self.message.id, pop_receipt=self._receipt, visibility_timeout=round(visibility)
        )
        self._receipt = updated.pop_receipt
