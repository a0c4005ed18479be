"""The `slipway` command. Each subcommand is imported when it is called, so that help and errors are quick."""

import os
import sys
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from slipway.clone import CLUSTERS, USUAL, module_of_clone
from slipway.commands.completion_commands import app as completion
from slipway.commands.data.data_commands import app as data
from slipway.commands.dead_commands import app as dead
from slipway.commands.doctor.doctor_command import app as doctor
from slipway.commands.emulator_commands import app as emulator
from slipway.commands.events_commands import app as events
from slipway.commands.job_commands import app as jobs
from slipway.commands.output.output_commands import app as output
from slipway.commands.profile.login_commands import app as profiles
from slipway.commands.running.drop_commands import app as drops
from slipway.commands.sweeps.sweep_commands import app as sweep
from slipway.commands.teams.cost_commands import app as costs
from slipway.commands.teams.teams_commands import app as teams
from slipway.commands.teams.trail_commands import app as trail
from slipway.failure import exit_code
from slipway.help_groups import Grouped
from slipway.options import LOCAL, Json, JsonLines, Key, SettingsFile, Url
from slipway.screen import put, put_json


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
app = typer.Typer(
    name="slipway",
    cls=Grouped,
    help="Dispatches Batch AI job files: from a dropped script to a signed webhook.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


for group in (jobs, output, drops, events, dead, sweep, costs, teams, trail, data, profiles):
    app.add_typer(group)
for group in (emulator, doctor, completion):
    app.add_typer(group)


def main() -> None:
    """Run the command line; an expected failure is one line on standard error and its exit code."""
    # What the terminal's encoding does not have is written as standard error writes it, not refused.
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    sys.exit(exit_code(app))


@app.command(short_help="Check job files: report every problem with its remedy.")
def validate(
    files: Annotated[
        list[str], typer.Argument(metavar="FILE…", help="job.json files; - reads standard input")
    ],
    output: Annotated[
        Literal["text", "json", "sarif"],
        typer.Option("--format", help="for people, for programs, or for editors"),
    ] = "text",
    fix: Annotated[
        bool, typer.Option("--fix", help="apply the fixes that are certain, and show them")
    ] = False,
    diff: Annotated[
        bool, typer.Option("--diff", help="show what --fix would change, without changing it")
    ] = False,
    ignore: Annotated[
        list[str] | None, typer.Option(metavar="CODE,…", help="codes of warnings and hints to leave out")
    ] = None,
    per_file_ignores: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATTERN:CODE,…",
            help="the same for some files; slipway.toml can hold it, too",
        ),
    ] = None,
    rules_url: Annotated[
        str, typer.Option(help="URL of docs/rules, for links to the rule pages", envvar="SLIPWAY_RULES_URL")
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="the same as --format json")] = False,
) -> None:
    """Check job.json, slipway.json or message files: report every problem with its place and remedy."""
    ignores = {"ignore": ignore or (), "per_file_ignores": per_file_ignores or ()}
    run = _command("document.validate").run
    output = "json" if as_json else output
    raise typer.Exit(run(files, output=output, fix=fix, diff=diff, rules_url=rules_url, **ignores))


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
    plan = _stack("provision").Plan(
        location, vm_size, priority, min_nodes, max_nodes, share, scripts_dir, data_container
    )
    raise typer.Exit(_stack("setup").run(settings, plan, ssh_key, cluster_file, as_json=as_json))


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
    raise typer.Exit(_command("nodes").run(cluster, url, key, as_json=as_json))


@app.command(short_help="Compare drops, ledger, clusters and deliveries.")
def audit(
    as_json: Json = False,
    url: Url = LOCAL,
    key: Key = "",
) -> None:
    """Compare drops, ledger, clusters and deliveries; exit code 1 if they differ, 3 if one is silent."""
    raise typer.Exit(_command("audit").run(url, key, as_json=as_json))


@app.command(short_help="Show what would happen to a job, without running it.")
def explain(
    file: Annotated[Path, typer.Argument(help="a job.json with its folder, a message, or a folder to drop")],
    as_json: Json = False,
    url: Annotated[
        str, typer.Option(help="URL of a function app to ask; offline without it", show_default=False)
    ] = "",
    key: Key = "",
    settings: SettingsFile = None,
) -> None:
    """Show what would happen to a job; exit code 1 if it would not run, and 125 where that is not known."""
    raise typer.Exit(_command("explain").run(file, url, key, settings, as_json=as_json))


def _print_version(requested: bool) -> None:
    if requested:
        version()
        raise typer.Exit


@app.callback()
def slipway(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="print the version")
    ] = False,
    profile: Annotated[
        str, typer.Option(metavar="NAME", help="profile of `slipway login`, instead of the current one")
    ] = "",
) -> None:
    """Dispatches Batch AI job files: from a dropped script to a signed webhook."""
    if profile:  # an option counts more than the environment
        os.environ["SLIPWAY_PROFILE"] = profile
        for name in ("SLIPWAY_URL", "SLIPWAY_KEY"):
            os.environ.pop(name, None)


@app.command()
def version(as_json: Json = False) -> None:
    """Print the version."""
    from shared import __version__

    python = sys.version.split()[0]
    if as_json:
        put_json({"slipway": __version__, "python": python})
    else:
        put(f"slipway {__version__} (Python {python})")


def _command(name: str) -> Any:
    return import_module(f"slipway.commands.{name}")


def _stack(name: str) -> Any:
    return module_of_clone(f"slipway.stack.{name}")


if __name__ == "__main__":
    main()
