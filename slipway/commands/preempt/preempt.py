"""`slipway preempt`: take a low-priority node of the emulator away, as a region may do at any time."""

import asyncio
import os
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import aiohttp

from shared.configured import ConfiguredEngines
from shared.connections.limits import ANSWER_LIMITS
from shared.core.errors import Misconfigured
from shared.engines.registry import ENGINES
from shared.settings import Settings
from slipway.client.calls.patience import patiently
from slipway.client.calls.refusal import Unanswered, Unreached
from slipway.client.calls.unreachable import is_final, is_foreign, is_unsent, why
from slipway.commands.asking import show
from slipway.failure import UNKNOWN, Failure
from slipway.settings import load
from slipway.terminal.screen import table

_PATIENCE = aiohttp.ClientTimeout(total=30)
#: Which setting holds its address.
_SETTING = next(entry.address for entry in ENGINES.values() if entry.is_emulated)
Node = Mapping[str, Any]


class _Refused(Failure):
    """The emulator answers that it cannot."""


def run(node: str, cluster: str, url: str, settings_file: Path | None, *, as_json: bool = False) -> int:
    """Preempt a node; without one, show all nodes. Raises Failure."""
    settings = Settings({_SETTING: url}) if url else load(settings_file, os.environ).settings
    return asyncio.run(_run(node, cluster, _emulator(settings).rstrip("/"), as_json=as_json))


def _emulator(settings: Settings) -> str:
    """The address of the emulator that the settings name. Raises Failure."""
    try:
        url = ConfiguredEngines(settings).emulator()
    except Misconfigured as error:
        raise Failure(str(error)) from error
    if not url:
        raise Failure(f"only an emulator preempts on demand: give its address with --emulator or {_SETTING}")
    return url


async def _run(node_name: str, cluster: str, base: str, *, as_json: bool) -> int:
    async with aiohttp.ClientSession(timeout=_PATIENCE, **ANSWER_LIMITS) as session:
        all_nodes: list[Node] = (await _ask(session, "GET", f"{base}/emulator/nodes"))["value"]
        nodes = of_cluster(cluster, all_nodes)
        if not node_name:
            show(nodes, rows, as_json=as_json)
            return 0
        node = select_node(node_name, nodes)
        await _preempt(session, f"{base}/emulator/nodes/{node['id']}/preempt")
    done = f"{node['id']} of {_cluster(node)} is preempted; {_consequence(node)}"
    show({"preempted": node}, lambda _: [done], as_json=as_json)
    return 0


def of_cluster(node_name: str, nodes: Sequence[Node]) -> list[Node]:
    """The nodes of that cluster, or all without one. Raises Failure with the clusters that have nodes."""
    matches = [node for node in nodes if not node_name or _cluster(node).lower() == node_name.lower()]
    if node_name and nodes and not matches:
        names = ", ".join(sorted({_cluster(node) for node in nodes}))
        raise Failure(f"no cluster {node_name} has nodes now; nodes are of: {names}", UNKNOWN)
    return matches


def select_node(node_name: str, nodes: Sequence[Node]) -> Node:
    """The node with that id or address. Raises Failure with the existing nodes."""
    for node in nodes:
        if node_name in (node["id"], node["address"]):
            return node
    raise Failure("\n".join([f"there is no node {node_name}; nodes are:", *rows(nodes)]), UNKNOWN)


def rows(nodes: Sequence[Node]) -> list[str]:
    """Nodes as a table, with the job that each one runs."""
    if not nodes:
        return ["there are no nodes now: a cluster that scales from zero has some while jobs run"]
    head = ("node", "address", "cluster", "priority", "state", "job")
    return table([head, *(_row(node) for node in nodes)])


def _row(node: Node) -> tuple[str, ...]:
    return (
        node["id"],
        node["address"],
        _cluster(node),
        node["vmPriority"],
        node["state"],
        _name(node["job"] or ""),
    )


def _consequence(node: Node) -> str:
    if node["job"]:
        return f"its job {_name(node['job'])} goes back to the queue"
    return "no job ran on it"


def _cluster(node: Node) -> str:
    return _name(node["cluster"])


def _name(resource_id: str) -> str:
    return resource_id.rpartition("/")[2]


async def _preempt(session: aiohttp.ClientSession, url: str) -> None:
    """Preempt a node that is there; after a lost answer, it may have left before the second try."""
    tries = 0

    async def attempt() -> None:
        nonlocal tries
        tries += 1
        try:
            await _request(session, "POST", url)
        except _Refused:
            if tries == 1:
                raise

    await patiently(attempt)


async def _ask(session: aiohttp.ClientSession, method: str, url: str) -> Any:
    return await patiently(partial(_request, session, method, url))


async def _request(session: aiohttp.ClientSession, method: str, url: str) -> Any:
    try:
        async with session.request(method, url) as answer:
            body = await answer.json(content_type=None)
            refusal = body["error"]["message"] if answer.status >= 400 else ""
    except (aiohttp.ClientError, aiohttp.InvalidURL, TimeoutError, ValueError, KeyError, TypeError) as error:
        kind = Unreached if is_final(error) or is_unsent(error) or is_foreign(error) else Unanswered
        raise kind(
            f"no emulator answers at {url}: {why(error)}",
            f"is one running (`slipway up`), and does --emulator or {_SETTING} name it?",
        ) from error
    if refusal:
        raise _Refused(refusal)
    return body
