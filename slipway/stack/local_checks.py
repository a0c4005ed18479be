"""Checks of `slipway doctor` in a clone: what the local stack needs, and what is in its way."""

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path

import psutil

from local.azurite import AzuriteError, find_node, find_script
from local.clusters.kind import Kind
from local.clusters.registry import CLUSTERS
from local.nodes.docker import answering
from local.setup.install import is_ready
from slipway.client.calls.health import health
from slipway.commands.doctor.findings import Check, Finding, Options, fail, ok, private, warn
from slipway.failure import Failure
from slipway.settings import ROOT, UP, display_path, is_locked, running_stacks
from slipway.stack.data_folder import whereabouts
from slipway.stack.ports import USUAL_PORTS, busy_ports

#: Bytes of memory that the stack and a job need.
_MEMORY = 1 << 30
#: Seconds for the program on the API's port to answer.
_PATIENCE = 5.0


async def check(_: Options) -> list[Finding]:
    """Everything local, in the order in which `slipway up` needs it."""
    return [
        await _packages(),
        await _node(),
        *await stack(),
        memory(psutil.virtual_memory().available),
        *[
            await asyncio.to_thread(programs, name, kind)
            for name, kind in CLUSTERS.items()
            if kind.needs_programs
        ],
        await _runtime(),
    ]


CHECKS: Sequence[Check] = (check,)


def memory(available: int) -> Finding:
    """Whether there is memory for a job beside the stack."""
    text = f"{available / (1 << 30):,.1f} GiB available"
    if available < _MEMORY:
        return warn("memory", text, "end what you do not need before you start the local stack")
    return ok("memory", text)


async def _packages() -> Finding:
    venv = Path(sys.prefix)
    if not venv.is_relative_to(ROOT):
        return ok("packages", f"those of {venv}, which `make` does not look after")
    if await asyncio.to_thread(is_ready, "demo", venv):
        return ok("packages", "are those that the project pins")
    return warn("packages", "are not all there, or not those that the project pins", "`make install`")


async def _node() -> Finding:
    try:
        node, script = await find_node(), find_script()
    except AzuriteError as error:
        return fail("azurite", str(error))
    return ok("azurite", f"{script.parents[2]}, run by {node}")


async def stack() -> list[Finding]:
    """Whether one runs, and its files are for their owner only, or whose its ports are."""
    secrets = [one for name in ("secrets.json", "local.settings.json") for one in private("stack", UP / name)]
    if is_locked(UP):
        return [*secrets, ok("stack", f"runs, {whereabouts(UP)}")]
    if others := [f"{whereabouts(one)} (data in {display_path(one)})" for one in running_stacks()]:
        return [*secrets, ok("stack", f"runs, {', and '.join(others)}")]
    if busy := busy_ports(USUAL_PORTS):
        if USUAL_PORTS.host in busy and await _answers(address := f"http://127.0.0.1:{USUAL_PORTS.host}"):
            return [*secrets, ok("stack", f"one with other data (`slipway up --data`) runs, at {address}")]
        numbers = ", ".join(str(port) for port in busy)
        text = f"does not run, and others use its ports {numbers}"
        return [*secrets, warn("stack", text, "`slipway up --any-ports`, or end what runs there")]
    return [*secrets, ok("stack", "does not run, and its ports are free")]


async def _answers(address: str) -> bool:
    """Whether Slipway answers at this address."""
    try:
        async with asyncio.timeout(_PATIENCE):
            await health(address)
    except (Failure, TimeoutError):
        return False
    return True


def programs(name: str, kind: Kind) -> Finding:
    """Whether local clusters find their programs; an optional cluster may be missing."""
    state = kind.installed()
    if state.trouble:
        return warn(name, f"is not whole: {state.trouble}", state.remedy)
    if not state.version:
        return ok(name, f"is not installed; {state.remedy}, if you want `slipway up --cluster {name}`")
    return ok(name, state.version)


async def _runtime() -> Finding:
    runtime = await answering()
    if runtime is None:
        return ok("containers", "neither Docker nor Podman answers, so jobs with an image run without it")
    return ok("containers", f"jobs with an image run in containers of {runtime.name}")
