"""`slipway nodes`: the clusters of every engine, and the current state of their nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from slipway.commands.asking import asking, show
from slipway.commands.options import LOCAL, Json, Key, Url
from slipway.failure import UNKNOWN, Failure
from slipway.terminal.screen import table

if TYPE_CHECKING:
    from slipway.client.service import Service

app = typer.Typer()

#: The state of a cluster whose nodes are not known.
_UNLISTED = "not listed"

Cluster = Mapping[str, Any]


@app.command()
def nodes(
    cluster: Annotated[
        str, typer.Argument(help="name of a cluster; all clusters without it", show_default=False)
    ] = "",
    as_json: Json = False,
    url: Url = LOCAL,
    key: Key = "",
) -> None:
    """Show the clusters and the current state of their nodes."""

    async def ask(api: Service) -> int:
        shown = select_clusters(cluster, await api.clusters())
        show(shown, lines, as_json=as_json)
        return 1 if any("error" in one for one in shown) else 0

    raise typer.Exit(asking(ask, url, key))


def select_clusters(name: str, clusters: Sequence[Cluster]) -> Sequence[Cluster]:
    """The cluster of that name, or all without one. Raises Failure with the existing names."""
    shown = [cluster for cluster in clusters if name in ("", cluster["name"])]
    if name and not shown:
        names = ", ".join(cluster["name"] for cluster in clusters)
        raise Failure(f"there is no cluster {name}; clusters are: {names}", UNKNOWN)
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


def _gpus(gpus: Mapping[str, int] | None) -> str:
    return f"; {gpus['free']} of {gpus['all']} GPUs free" if gpus else ""


def _cluster(cluster: Cluster) -> tuple[str, ...]:
    doing = ", ".join(f"{number} {state}" for state, number in cluster["counts"].items() if number)
    most = "" if cluster["maximum"] is None else f" of at most {cluster['maximum']}"
    number = "?" if cluster["state"] == _UNLISTED else cluster["nodes"]
    return (
        cluster["name"],
        cluster["engine"],
        cluster["state"],
        f"{number}{most}" + (f": {doing}" if doing else "") + _gpus(cluster.get("gpus")),
        " ".join(part for part in (cluster["size"], cluster["priority"]) if part),
    )
