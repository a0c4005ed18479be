"""`slipway forward`: ports of a running job on this machine."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from socket import socket

from slipway.client.calls.refusal import Unanswered
from slipway.client.entry.places import Place, place_of
from slipway.client.entry.ports import listener, parsed_ports
from slipway.client.entry.relay import relaying, serve
from slipway.client.entry.run import path_of, person_of
from slipway.client.entry.tools import command, forwarding
from slipway.client.jobs.words import ENDED, ended_as
from slipway.client.service import Service
from slipway.commands.asking import asking_about
from slipway.terminal.screen import put, say

#: Seconds between two looks at the job, and before a tool that has ended is started again.
_LOOK_EVERY, _RETRY_AFTER = 5.0, 2.0


def run(job: str, texts: Sequence[str], rank: int, url: str, key: str) -> int:
    """Forward ports of a job until it has ended: then 0. Raises Failure."""
    ports = parsed_ports(texts)

    async def ask(api: Service, job_id: str) -> int:
        place = place_of(await api.entry(job_id, rank))
        listeners = {remote: listener(local) for remote, local in ports.items()}
        local_ports = {remote: own.getsockname()[1] for remote, own in listeners.items()}
        try:
            async with _forwarded(place, listeners, local_ports):
                pairs = local_ports.items()
                put(*(f"http://127.0.0.1:{local} is port {remote} of {job_id}" for remote, local in pairs))
                say(await _end(api, place))
        finally:
            for own in listeners.values():
                own.close()
        return 0

    return asking_about(job, ask, url, key)


@asynccontextmanager
async def _forwarded(
    place: Place, listeners: Mapping[int, socket], local_ports: Mapping[int, int]
) -> AsyncIterator[None]:
    """The ports are open meanwhile: by the tool at the same ones, or at our own listeners."""
    person = person_of(place)
    if words := forwarding(place, local_ports, person):
        for own in listeners.values():
            own.close()
        tool = asyncio.create_task(_restarted(words))
        try:
            yield
        finally:
            tool.cancel()
            with suppress(asyncio.CancelledError):
                await tool
        return
    async with AsyncExitStack() as servers:
        for remote, own in listeners.items():
            words = command(place, relaying(remote), person, terminal=False)
            await servers.enter_async_context(await serve(own, words))
        yield


async def _restarted(words: Sequence[str]) -> None:
    """Run a tool, and again whenever it ends: it gives up where nothing listens yet."""
    path_of(words[0])
    while True:
        process = await asyncio.create_subprocess_exec(*words, stdin=asyncio.subprocess.DEVNULL)
        try:
            await process.wait()
        finally:
            with suppress(ProcessLookupError):
                process.terminate()
        await asyncio.sleep(_RETRY_AFTER)


async def _end(api: Service, place: Place) -> str:
    """What became of the job, once that attempt does not run any more."""
    while True:
        await asyncio.sleep(_LOOK_EVERY)
        with suppress(Unanswered):
            job = await api.job(place.job)
            if job["state"] in ENDED:
                return ended_as(job)
            if job["attempt"] != place.attempt:
                return f"{place.job} runs again, as attempt {job['attempt']}: forward its ports anew"
