"""`slipway up` and `slipway demo`: the whole system on this machine."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from slipway.commands.clone import CLUSTERS, USUAL, module_of_clone

app = typer.Typer()


def _known_cluster(name: str) -> str:
    """A word of the registry of local clusters."""
    if CLUSTERS and name not in CLUSTERS:
        raise typer.BadParameter(f"{name!r} is not one of {', '.join(CLUSTERS)}.")
    return name


Cluster = Annotated[
    str,
    typer.Option(
        metavar="|".join(CLUSTERS) or "NAME",
        callback=_known_cluster,
        help=f"{', or '.join(kind.words for kind in CLUSTERS.values()) or 'a cluster'}, on this machine",
    ),
]


@app.command(short_help="Run the whole system on this machine, with four jobs.")
def demo(cluster: Cluster = USUAL) -> None:
    """Run the whole system on this machine, send four jobs through it, and verify their webhooks."""
    raise typer.Exit(_stack("demo").run(cluster))


AllowedHosts = Annotated[
    list[str] | None, typer.Option(metavar="NAME", help="host name by which a browser reaches this machine")
]


@app.command(short_help="Run the whole system on this machine until Ctrl-C.")
def up(
    port: Annotated[
        int, typer.Option(help="port of the HTTP API; 0 picks a free one, here and below")
    ] = 7071,
    storage_port: Annotated[
        int, typer.Option(help="port of the blob service; queues and tables take the next two")
    ] = 10000,
    emulator_port: Annotated[int, typer.Option(help="port of the cluster's API")] = 7080,
    receiver_port: Annotated[int, typer.Option(help="port of the webhook receiver")] = 7090,
    any_ports: Annotated[
        bool, typer.Option("--any-ports", help="use a free port instead of one that is taken")
    ] = False,
    max_nodes: Annotated[int, typer.Option(help="most nodes of the cluster, when it is created", min=1)] = 2,
    data: Annotated[
        Path | None, typer.Option(help="data directory  [default: .local/up, or up-CLUSTER]")
    ] = None,
    cluster: Cluster = USUAL,
    settings: Annotated[
        Path | None,
        typer.Option(help="JSON file: settings of existing clusters of your own"),
    ] = None,
    containers: Annotated[
        Literal["auto", "host", "require"] | None,
        typer.Option(help="emulator: run jobs with an image in Docker or Podman  [default: auto]"),
    ] = None,
    secrets_file: Annotated[
        Path | None, typer.Option(help="emulator: JSON file, URL of a Key Vault secret → its value")
    ] = None,
    unmanaged_mounts: Annotated[
        Path | None, typer.Option(help="emulator: JSON file, mount command → directory")
    ] = None,
    allow_host: AllowedHosts = None,
    function_app: Annotated[
        bool, typer.Option("--app/--no-app", help="run the function app, or leave it to a host of your own")
    ] = True,
    example: Annotated[
        bool, typer.Option("--example", help="run examples/digits on a stack without jobs, for a first look")
    ] = False,
) -> None:
    """Run the whole system on this machine until Ctrl-C; the next `up` continues with its data."""
    command, of_ports = _stack("up"), _stack("ports")
    ports = of_ports.ports_from(storage_port, port, emulator_port, receiver_port)
    ports = of_ports.usable_ports(ports) if any_ports else ports
    emulator = command.emulator_arguments(containers, secrets_file, unmanaged_mounts)
    names = command.host_names(allow_host or [])
    extra = {"app": function_app, "example": example}
    raise typer.Exit(command.run(data, ports, max_nodes, cluster, emulator, names, settings, **extra))


def _stack(name: str) -> Any:
    return module_of_clone(f"slipway.stack.{name}")
