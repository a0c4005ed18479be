"""`slipway setup`: the resources that a deployment lacks."""

from pathlib import Path
from typing import Annotated

import typer

from slipway.commands.clone import module_of_clone
from slipway.commands.options import JsonLines, SettingsFile

app = typer.Typer()


@app.command(short_help="Create the resources that a deployment lacks.")
def setup(
    settings: SettingsFile = None,
    location: Annotated[str, typer.Option(help="Azure region of the cluster")] = "eastus",
    vm_size: Annotated[
        str,
        typer.Option(
            help="VM size of a node, Standard_NC4as_T4_v3 on Azure Batch and Standard_NC6 on Batch AI"
        ),
    ] = "",
    priority: Annotated[
        str, typer.Option(help="priority of the VMs, lowpriority or dedicated")
    ] = "lowpriority",
    min_nodes: Annotated[int, typer.Option(help="fewest nodes of the cluster")] = 0,
    max_nodes: Annotated[int, typer.Option(help="most nodes of the cluster")] = 1,
    share: Annotated[str, typer.Option(help="file share for logs, mounted under its name")] = "logs",
    scripts_dir: Annotated[str, typer.Option(help="directory of scripts in that share")] = "scripts",
    data_container: Annotated[
        str, typer.Option(help="blob container for data, mounted under its name")
    ] = "datalake",
    ssh_key: Annotated[Path | None, typer.Option(help="public key of the nodes' administrator")] = None,
    cluster_file: Annotated[
        Path | None, typer.Option(help="a cluster.json to use instead of these options")
    ] = None,
    as_json: JsonLines = False,
) -> None:
    """Create the resources that a deployment lacks: storage, workspace, autoscaling cluster."""
    plan = module_of_clone("slipway.stack.provision").Plan(
        location, vm_size, priority, min_nodes, max_nodes, share, scripts_dir, data_container
    )
    command = module_of_clone("slipway.stack.setup")
    raise typer.Exit(command.run(settings, plan, ssh_key, cluster_file, as_json=as_json))
