"""`slipway nodes`: the clusters of every engine, and the current state of their nodes."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from slipway.client.service import service
from slipway.commands.asking import show
from slipway.failure import Failure
from slipway.terminal.screen import table

Cluster = Mapping[str, Any]


def run(cluster: str, url: str, key: str, *, as_json: bool) -> int:
    """Show one cluster, or all; 1 when one of them cannot be queried. Raises Failure."""
    return asyncio.run(_run(cluster, url, key, as_json=as_json))


async def _run(name: str, url: str, key: str, *, as_json: bool) -> int:
    async with service(url, key) as api:
        clusters = await api.clusters()
    shown = select_clusters(name, clusters)
    show(shown, lines, as_json=as_json)
    return 1 if any("error" in cluster for cluster in shown) else 0


def select_clusters(name: str, clusters: Sequence[Cluster]) -> Sequence[Cluster]:
    """The cluster of that name, or all without one. Raises Failure with the existing names."""
    shown = [cluster for cluster in clusters if name in ("", cluster["name"])]
    if name and not shown:
        names = ", ".join(cluster["name"] for cluster in clusters)
        raise Failure(f"there is no cluster {name}; clusters are: {names}")
    return shown


def lines(clusters: Sequence[Cluster]) -> list[str]:
    """The clusters as a table, their nodes as another one, and their problems."""
    well = [cluster for cluster in clusters if "error" not in cluster]
    result = table([("cluster", "engine", "state", "nodes", "size"), *map(_cluster, well)]) if well else []
    nodes = [(node["name"], one["name"], node["state"]) for one in well for node in one["members"]]
    if nodes:
        result += ["", *table([("node", "cluster", "state"), *nodes])]
    result += [f"{one['name']}: {error}" for one in well for error in one["errors"]]
    result += [f"{one['name']} cannot be queried: {one['error']}" for one in clusters if "error" in one]
    return result


def _cluster(cluster: Cluster) -> tuple[str, ...]:
    doing = ", ".join(f"{number} {state}" for state, number in cluster["counts"].items() if number)
    most = "" if cluster["maximum"] is None else f" of at most {cluster['maximum']}"
    return (
        cluster["name"],
        cluster["engine"],
        cluster["state"],
        f"{cluster['nodes']}{most}" + (f": {doing}" if doing else ""),
        " ".join(part for part in (cluster["size"], cluster["priority"]) if part),
    )
