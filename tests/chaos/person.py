"""A person whose commands reach the app through a gateway: the code of the client itself, under faults."""

from __future__ import annotations

import asyncio
import json
import random
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from aiohttp import web

from shared.settings import Settings
from slipway import AsyncClient, AsyncJob
from slipway.client.calls.keys import new_key
from slipway.client.calls.patience import Patience, patience
from slipway.client.calls.refusal import Unanswered
from slipway.commands.enqueue.enqueue import enqueue
from slipway.commands.enqueue.keyed_message import keyed_message
from tests.chaos.proxy import Proxy

#: Seconds without an answer: workers are killed all the time, and the machine is busy.
_PATIENCE = 900.0
#: Seconds until a call is made again that the client has given up.
_AGAIN = 0.5
#: One of so many submissions is waited for.
_FOLLOWED = 4
_KEY = re.compile(r"--idempotency-key (\S+)")
_PAGE = "<html><h1>{}</h1>Application Gateway</html>"
#: What a gateway answers by itself, before or after the app did the work; and the host while the app starts.
_GATEWAY, _HOST = (502, 503, 504, 500, 403), 404


class Gateway(Proxy):
    """Stands before the app, and answers in HTML what the app does not answer."""

    def page(self, fault: str) -> web.Response:
        """A page that is not of the API."""
        if fault == "throttled":
            return web.Response(status=429, text=_PAGE.format(429), headers={"Retry-After": "1"})
        if fault == "refused" and self._dice.random() < 0.2:
            return web.Response(status=_HOST)
        status = self._dice.choice(_GATEWAY)
        return web.Response(status=status, text=_PAGE.format(status), content_type="text/html")


class Person:
    """Submits and enqueues without a key of its own making, and waits for the end of some jobs."""

    def __init__(
        self,
        url: str,
        settings: Mapping[str, str],
        dice: random.Random,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._client, self._settings, self._dice = AsyncClient(url), Settings(settings), dice
        self._sleep = sleep
        self._patience = Patience(_PATIENCE, tell=lambda _: None)
        self._followed: dict[str, asyncio.Task[str]] = {}

    async def submit(self, document: dict[str, Any]) -> None:
        """As `Client.submit` and `slipway submit` do, and again with the key that they name."""
        key = ""
        with patience(self._patience):
            while True:
                try:
                    job = await self._client.submit(document, idempotency_key=key)
                    break
                except Unanswered as error:  # a host that ended is away for longer than a call is repeated
                    key = next(iter(_KEY.findall(str(error))), key)
                    await self._sleep(_AGAIN)
            if self._dice.randrange(_FOLLOWED) == 0:
                self._followed[str(document["name"])] = asyncio.create_task(self.end_of(job))

    async def enqueue(self, document: dict[str, Any]) -> None:
        """As `slipway enqueue` does, and again with the key that it names where no answer came."""
        message = keyed_message(json.dumps(document).encode(), new_key())
        while True:
            try:
                await enqueue(self._settings, message.body, message.key)
                return
            except Unanswered:
                await self._sleep(_AGAIN)

    async def end_of(self, job: AsyncJob) -> str:
        """The state in which it ends, however long the app is away."""
        while True:
            try:
                return (await job.wait()).state
            except Unanswered:  # as in `submit`
                await self._sleep(_AGAIN)

    async def untold(self) -> list[str]:
        """The waits that have ended otherwise than with the end of the job, or go on."""
        result = []
        for name, task in self._followed.items():
            if not task.done():
                result.append(f"the wait for {name} goes on")
            elif (error := task.exception()) is not None:
                result.append(f"the wait for {name} ended: {error}")
            elif task.result() != "succeeded":
                result.append(f"the wait for {name} ended with {task.result()}")
        return result

    def leave(self) -> None:
        """End the waits."""
        for task in self._followed.values():
            task.cancel()
