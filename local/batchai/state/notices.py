"""Notices on a storage queue about ended jobs, in place of the events of a deployment.

A message is a CloudEvent that names jobs by a variable of their environment. The first end is reported at
once; those that come soon after it share the next message. A notice may be lost: the sweeper finds the end.
"""

from __future__ import annotations

import asyncio
import json
import logging
import uuid
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from local.batchai.state.models import Job

if TYPE_CHECKING:
    from azure.storage.queue.aio import QueueClient

_log = logging.getLogger(__name__)
#: Names in one message, which holds 48 KiB.
_MOST = 500
#: Seconds between two messages: jobs that end meanwhile share the next.
_PAUSE = 0.2
TYPE = "io.slipway.jobs.ended.v1"


@dataclass(frozen=True, kw_only=True)
class NoticeSettings:
    """The queue for notices, and the variable of a job's environment that names the job in them."""

    queue: str
    variable: str
    connection_string: str = field(repr=False)


class Notices:
    """The sender; one for an emulator."""

    def __init__(self, settings: NoticeSettings) -> None:
        self._settings = settings
        self._waiting: list[str] = []
        self._sending: asyncio.Task[None] | None = None
        self._client: QueueClient | None = None

    def job_ended(self, job: Job) -> None:
        """A job has ended; one without the variable needs no notice."""
        variables = job.document.get("environmentVariables") or ()
        texts = (v.get("value") for v in variables if v.get("name") == self._settings.variable)
        if name := next(texts, None):
            self._waiting.append(str(name))
            if self._sending is None or self._sending.done():
                self._sending = asyncio.create_task(self._send())

    async def close(self) -> None:
        """Send the waiting messages, and close the connection."""
        if self._sending is not None:
            await self._sending
        if self._client is not None:
            await self._client.close()

    async def _send(self) -> None:
        from azure.core.exceptions import AzureError  # the SDK is slow to load, and for this alone

        while self._waiting:
            names, self._waiting = self._waiting[:_MOST], self._waiting[_MOST:]
            event = {
                "specversion": "1.0",
                "type": TYPE,
                "source": "urn:batchai",
                "id": str(uuid.uuid4()),
                "data": {"jobs": names},
            }
            try:
                await self._queue().send_message(json.dumps(event), time_to_live=-1)
            except AzureError as error:
                _log.warning("%d ends are not reported: %s", len(names), type(error).__name__)
            await asyncio.sleep(_PAUSE)

    def _queue(self) -> QueueClient:
        from azure.storage.queue import TextBase64EncodePolicy
        from azure.storage.queue.aio import QueueClient

        if self._client is None:
            self._client = QueueClient.from_connection_string(
                self._settings.connection_string,
                self._settings.queue,
                message_encode_policy=TextBase64EncodePolicy(),
                retry_total=2,
            )
        return self._client
