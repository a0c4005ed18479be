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
from slipway.client.entry.run import path_of, person_at
from slipway.client.entry.tools import Person, command, forwarding
from slipway.client.jobs.words import ENDED, ended_as
from slipway.client.service import Service
from slipway.commands.asking import asking_about
from slipway.failure import Failure
from slipway.terminal.screen import put, say

#: Seconds between two looks at the job, and before a tool that has ended is started again.
_LOOK_EVERY, _RETRY_AFTER = 5.0, 2.0
#: A tool that runs for so many seconds has worked; so many times in a row it may fail.
_STEADY, _MOST_FAILURES = 10.0, 5


def run(job: str, texts: Sequence[str], rank: int, url: str, key: str) -> int:
    """Forward ports of a job until it has ended: then 0. Raises Failure."""
    ports = parsed_ports(texts)

    async def ask(api: Service, job_id: str) -> int:
        place = place_of(await api.entry(job_id, rank))
        person = await person_at(place, url, key)
        listeners = {remote: listener(local) for remote, local in ports.items()}
        local_ports = {remote: own.getsockname()[1] for remote, own in listeners.items()}
        try:
            async with _forwarded(place, person, listeners, local_ports) as tool:
                pairs = local_ports.items()
                put(*(f"http://127.0.0.1:{local} is port {remote} of {job_id}" for remote, local in pairs))
                say(await _until_end(api, place, tool))
        finally:
            for own in listeners.values():
                own.close()
        return 0

    return asking_about(job, ask, url, key)


@asynccontextmanager
async def _forwarded(
    place: Place, person: Person, listeners: Mapping[int, socket], local_ports: Mapping[int, int]
) -> AsyncIterator[asyncio.Task[None] | None]:
    """The ports are open meanwhile: by a tool at the same ones, or at our own listeners."""
    if words := forwarding(place, local_ports, person):
        path_of(words[0])
        for own in listeners.values():
            own.close()
        tool = asyncio.create_task(_restarted(words))
        try:
            yield tool
        finally:
            tool.cancel()
            await asyncio.wait({tool})
        return
    async with AsyncExitStack() as servers:
        for remote, own in listeners.items():
            words = command(place, relaying(remote), person, terminal=False)
            await servers.enter_async_context(await serve(own, words))
        yield None


async def _restarted(words: Sequence[str]) -> None:
    """Run a tool, and again when it ends, as where nothing listens yet. Raises Failure if it cannot run."""
    clock, failures, code = asyncio.get_running_loop().time, 0, None
    while failures < _MOST_FAILURES:
        began = clock()
        nothing = asyncio.subprocess.DEVNULL
        process = await asyncio.create_subprocess_exec(*words, stdin=nothing, stdout=nothing)
        try:
            code = await process.wait()
        finally:
            with suppress(ProcessLookupError):
                process.terminate()
        failures = 0 if clock() - began > _STEADY else failures + 1
        await asyncio.sleep(_RETRY_AFTER)
    raise Failure(f"{words[0]} ends at once, again and again, with exit code {code}; its own words are above")


async def _until_end(api: Service, place: Place, tool: asyncio.Task[None] | None) -> str:
    """What became of the job. Raises Failure if the tool cannot run."""
    end = asyncio.create_task(_end(api, place))
    try:
        await asyncio.wait({end, tool} if tool else {end}, return_when=asyncio.FIRST_COMPLETED)
        if tool is not None and tool.done():
            tool.result()
        return await end
    finally:
        end.cancel()


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
