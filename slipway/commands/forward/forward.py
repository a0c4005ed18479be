"""`slipway forward`: ports of a running job on this machine."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from socket import socket

from slipway.client.calls.refusal import Unanswered
from slipway.client.entry.places import Place
from slipway.client.entry.ports import is_open, listener, parsed_ports
from slipway.client.entry.relay import ended, relaying, serve
from slipway.client.entry.run import NOT_THERE, check_rights, path_of, visit
from slipway.client.entry.session_key import session_key
from slipway.client.entry.tools import Person, command, forwarding
from slipway.client.jobs.words import ENDED, ended_as
from slipway.client.service import Service
from slipway.commands.asking import asking_about
from slipway.commands.run.ending import endings
from slipway.failure import Failure, finding_out
from slipway.terminal.screen import put, say

#: Seconds between two looks at the job, at a port, and before a tool that has ended is started again.
_LOOK_EVERY, _PORT_EVERY, _RETRY_AFTER = 5.0, 0.1, 2.0


def run(job: str, texts: Sequence[str], rank: int, url: str, key: str) -> int:
    """Forward ports of a job until it has ended: then 0. Raises Failure, with the exit code 255."""
    ports = parsed_ports(texts)

    async def ask(api: Service, job_id: str) -> int:
        place, person = await visit(api, job_id, rank, url, key, own_key)

        async def prepare() -> None:
            if person.session and own_key:
                await own_key.renew(lambda: visit(api, job_id, rank, url, key, own_key))

        listeners = {remote: listener(local) for remote, local in ports.items()}
        local_ports = {remote: own.getsockname()[1] for remote, own in listeners.items()}
        try:
            async with _forwarded(place, person, listeners, local_ports, prepare) as tool:
                pairs = local_ports.items()
                put(*(f"http://127.0.0.1:{local} is port {remote} of {job_id}" for remote, local in pairs))
                say(await _until_end(api, place, tool))
        finally:
            for own in listeners.values():
                own.close()
        return 0

    with finding_out(NOT_THERE), session_key() as own_key, endings() as ending:
        try:
            return asking_about(job, ask, url, key)
        except KeyboardInterrupt:
            return ending.code


@asynccontextmanager
async def _forwarded(
    place: Place,
    person: Person,
    listeners: Mapping[int, socket],
    local_ports: Mapping[int, int],
    prepare: Callable[[], Awaitable[None]],
) -> AsyncIterator[asyncio.Task[None] | None]:
    """The ports are open meanwhile: by a tool at the same ones, or at our own listeners. Raises Failure.

    `prepare`: what each connection at our own needs before.
    """
    if words := forwarding(place, local_ports, person):
        path_of(words[0])
        for own in listeners.values():
            own.close()
        tool = asyncio.create_task(_kept_open(words, [*local_ports.values()]))
        try:
            await _until_open(tool, local_ports)
            yield tool
        except Failure:
            await asyncio.to_thread(check_rights, place, person, "portforward")
            raise
        finally:
            tool.cancel()
            await asyncio.wait({tool})
        return
    async with AsyncExitStack() as servers:
        for remote, own in listeners.items():
            words = command(place, relaying(remote), person, terminal=False)
            await servers.enter_async_context(serve(own, words, prepare))
        yield None


async def _kept_open(words: Sequence[str], ports: Sequence[int]) -> None:
    """Run a tool, and again when it ends, as when nothing listens in the job yet.

    Raises Failure if it ends before the ports are open: it would be refused again.
    """
    while True:
        nothing = asyncio.subprocess.DEVNULL
        # A session of its own: Ctrl-C reaches this process alone, which ends the tool.
        process = await asyncio.create_subprocess_exec(
            *words, stdin=nothing, stdout=nothing, start_new_session=True
        )
        was_open = False
        try:
            while process.returncode is None and not was_open:
                was_open = all(map(is_open, ports))
                await asyncio.sleep(_PORT_EVERY)
            code = await process.wait()
        finally:
            await ended(process)
        if not was_open:
            raise Failure(f"{words[0]} opened no port, and ended with exit code {code}")
        await asyncio.sleep(_RETRY_AFTER)


async def _until_open(tool: asyncio.Task[None], local_ports: Mapping[int, int]) -> None:
    """Wait until the ports are open. Raises Failure if the tool has ended before."""
    while not all(map(is_open, local_ports.values())):
        if tool.done():
            tool.result()
        await asyncio.sleep(_PORT_EVERY)


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
