"""Nodes, processes and time."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from shared.jobspec.checks.rules.context import Context
from shared.jobspec.format.duration import (
    duration_flaw,
    iso_duration,
    meant_duration,
    parse_duration,
)
from shared.jobspec.problems.codes import problem
from shared.jobspec.problems.fix import Fix
from shared.jobspec.problems.problem import Problem
from shared.jobspec.text.tree import Node

#: The documented limit of the service: 1 to 4 GPU workers or MPI processes on a node.
_PROCESSES_PER_NODE = 4
_SHORTEST = timedelta(seconds=1)


def nodes(context: Context) -> Iterator[Problem]:
    """The number of nodes against the limit of the deployment."""
    node = context.properties.member("nodeCount")
    limit = context.limits.max_nodes
    if node.whole is not None and node.whole > limit:
        yield problem("SW013", node.pointer, f'"nodeCount" has to be at most {limit}')


def processes(context: Context) -> Iterator[Problem]:
    """Processes, workers and parameter servers against the number of nodes."""
    count = context.properties.member("nodeCount").whole
    if count is None or count < 1:
        return
    for block in context.toolkits:
        yield from _parameter_servers(block, count)
        for name in ("processCount", "workerCount"):
            node = block.member(name)
            if node.whole is not None and node.whole > count * _PROCESSES_PER_NODE:
                message = f"{name} is more than {_PROCESSES_PER_NODE} processes on each of {count} nodes"
                yield problem("SW025", node.pointer, message)
            elif node.whole is not None and 0 < node.whole < count:
                message = f"{name} leaves some of {count} nodes without a process"
                yield problem("SW025", node.pointer, message)
    yield from _distributed_arguments(context.properties.member("tensorFlowSettings"), count)


def wall_clock(context: Context) -> Iterator[Problem]:
    """The wall-clock limit: an ISO 8601 duration within the limit of the deployment."""
    node = context.properties.member("constraints", "maxWallClockTime")
    if node.text is None:
        return
    length = parse_duration(node.text)
    if length is None:
        better = meant_duration(node.text) if len(node.text) < 32 else None
        remedy, fix = (f'write "{better}"', Fix("replace", node.pointer, better)) if better else (None, None)
        flaw = duration_flaw(node.text[:64])
        if "fixed length" in flaw:
            remedy = 'write days, for example "P30D"'
        yield problem("SW050", node.pointer, f"maxWallClockTime {flaw}", remedy, fix=fix)
    elif not _SHORTEST <= length <= context.limits.max_wall_clock:
        longest = iso_duration(context.limits.max_wall_clock)
        message = f"maxWallClockTime has to be between {iso_duration(_SHORTEST)} and {longest}"
        yield problem("SW051", node.pointer, message)


def _parameter_servers(block: Node, count: int) -> Iterator[Problem]:
    node = block.member("parameterServerCount")
    if node.whole is not None and node.whole > count:
        message = f"parameterServerCount is more than the {count} nodes; a node runs one parameter server"
        yield problem("SW024", node.pointer, message)


def _distributed_arguments(block: Node, count: int) -> Iterator[Problem]:
    """Report roles of a distributed job without arguments, if only the master has some."""
    if count == 1 and (block.member("workerCount").whole or 1) == 1:
        return
    for name in ("workerCommandLineArgs", "parameterServerCommandLineArgs"):
        if block.member("masterCommandLineArgs").text and not block.member(name).is_written:
            yield problem("SW026", block.member(name).pointer, f"{name} is missing in a distributed job")
