"""The `slipway` command. Each subcommand is imported when it is called, so that help and errors are quick."""

import os
import sys
import tomllib
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from cli.dead_commands import app as dead
from cli.events_commands import app as events
from cli.failure import Failure
from cli.job_commands import app as jobs
from cli.options import LOCAL, Json, Key, SettingsFile, Url

ROOT = Path(__file__).resolve().parents[1]

Cluster = Annotated[
    Literal["emulator", "slurm"], typer.Option(help="the Batch AI emulator, or a real Slurm on this machine")
]
app = typer.Typer(
    name="slipway",
    help="Dispatches Batch AI job files: from a dropped script to a signed webhook.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


app.add_typer(jobs)
app.add_typer(events)
app.add_typer(dead)


def main() -> None:
    """Run the command line; an expected failure is one line on standard error and exit code 1."""
    # What the terminal's encoding does not have is written as standard error writes it, not refused.
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        try:
            app()
        finally:
            if sys.stdout:
                sys.stdout.flush()
    except Failure as failure:
        sys.stderr.write(f"slipway: {failure}\n")
        sys.exit(1)
    except OSError as error:
        if not isinstance(error, BrokenPipeError):  # whoever reads us has read enough
            sys.stderr.write(f"slipway: {error.filename or 'the output'}: {error.strerror or error}\n")
        # What could not be written is not tried again by the interpreter's last flush.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.exit(1)


@app.command(short_help="Say what is wrong with job files, and what to do about it.")
def validate(
    files: Annotated[list[str], typer.Argument(metavar="FILE…", help="job.json files; - is standard input")],
    output: Annotated[
        Literal["text", "json", "sarif"], typer.Option("--format", help="for people, programs, or editors")
    ] = "text",
    fix: Annotated[bool, typer.Option("--fix", help="write the certain fixes, and show them")] = False,
    rules_url: Annotated[
        str, typer.Option(help="address of docs/rules, for links", envvar="SLIPWAY_RULES_URL")
    ] = "",
) -> None:
    """Say what is wrong with job.json, slipway.json or message files, and what to do about it."""
    raise typer.Exit(_command("validate").run(files, output=output, fix=fix, rules_url=rules_url))


@app.command(short_help="Run the whole system here, and four jobs through it.")
def demo(cluster: Cluster = "emulator") -> None:
    """Run the whole system here and send four jobs through it, to the verified webhooks."""
    raise typer.Exit(_command("demo").run(cluster))


@app.command(short_help="Run the whole system here until Ctrl-C.")
def up(
    port: Annotated[int, typer.Option(help="of the HTTP API; 0 is any free one, here and below")] = 7071,
    storage_port: Annotated[int, typer.Option(help="of blobs; queues and tables take the next two")] = 10000,
    emulator_port: Annotated[int, typer.Option(help="of the Batch AI emulator, or of slurmrestd")] = 7080,
    subscriber_port: Annotated[int, typer.Option(help="of the webhook receiver")] = 7090,
    max_nodes: Annotated[int, typer.Option(help="of the cluster, when it is made", min=1)] = 2,
    data: Annotated[
        Path | None, typer.Option(help="where it stores everything  [default: .local/up, or up-slurm]")
    ] = None,
    cluster: Cluster = "emulator",
    containers: Annotated[
        Literal["auto", "host", "require"] | None,
        typer.Option(help="emulator: jobs with an image in Docker or Podman  [default: auto]"),
    ] = None,
    secrets_file: Annotated[
        Path | None, typer.Option(help="emulator: JSON of addresses of Key Vault secrets and their values")
    ] = None,
    unmanaged_mounts: Annotated[
        Path | None, typer.Option(help="emulator: JSON of mount commands and directories")
    ] = None,
) -> None:
    """Run the whole system here until Ctrl-C; the next time it goes on where it was."""
    command = _command("up")
    ports = command.ports_from(storage_port, port, emulator_port, subscriber_port)
    emulator = command.emulator_arguments(containers, secrets_file, unmanaged_mounts)
    raise typer.Exit(command.run(data, ports, max_nodes, cluster, emulator))


@app.command(short_help="Create what a deployment needs and does not have.")
def setup(
    settings: SettingsFile = None,
    location: Annotated[str, typer.Option()] = "eastus",
    vm_size: Annotated[str, typer.Option()] = "Standard_NC6",
    priority: Annotated[str, typer.Option(help="lowpriority or dedicated")] = "lowpriority",
    min_nodes: Annotated[int, typer.Option()] = 0,
    max_nodes: Annotated[int, typer.Option()] = 1,
    share: Annotated[str, typer.Option(help="file share for logs, and its mount")] = "logs",
    scripts_dir: Annotated[str, typer.Option(help="directory in the share")] = "scripts",
    data_container: Annotated[str, typer.Option(help="blob container for data, and its mount")] = "datalake",
    ssh_key: Annotated[Path | None, typer.Option(help="public key of the nodes' administrator")] = None,
    cluster_file: Annotated[Path | None, typer.Option(help="a cluster.json, instead of the options")] = None,
) -> None:
    """Create what a deployment needs and does not have: storage, workspace, a cluster that scales."""
    plan = import_module("cli.provision").Plan(
        location, vm_size, priority, min_nodes, max_nodes, share, scripts_dir, data_container
    )
    raise typer.Exit(_command("setup").run(settings, plan, ssh_key, cluster_file))


@app.command()
def drop(
    folder: Annotated[Path, typer.Argument(help="with a script and a job.json")],
    to: Annotated[str, typer.Option(help="folder in the drop container  [default: the same name]")] = "",
    settings: SettingsFile = None,
) -> None:
    """Upload a folder to the drop container, its job.json last."""
    raise typer.Exit(_command("drop").run(folder, to, settings))


@app.command()
def enqueue(
    file: Annotated[Path, typer.Argument(help="a job message or a job.json")], settings: SettingsFile = None
) -> None:
    """Put a job message on the queue."""
    raise typer.Exit(_command("enqueue").run(file, settings))


@app.command()
def nodes(
    cluster: Annotated[str, typer.Argument(help="only this one", show_default=False)] = "",
    as_json: Json = False,
    url: Url = LOCAL,
    key: Key = "",
) -> None:
    """Show the clusters, and what their nodes do now."""
    raise typer.Exit(_command("nodes").run(cluster, url, key, as_json=as_json))


@app.command(short_help="Compare drops, ledger, clusters and deliveries.")
def audit(
    as_json: Json = False,
    url: Url = LOCAL,
    key: Key = "",
) -> None:
    """Compare drops, ledger, clusters and deliveries; exit code 1 when they differ, 3 when one is silent."""
    raise typer.Exit(_command("audit").run(url, key, as_json=as_json))


@app.command(short_help="Say what would happen with a job. Nothing runs.")
def explain(
    file: Annotated[Path, typer.Argument(help="a job.json with its folder, a message, or a folder to drop")],
    as_json: Json = False,
    url: Annotated[str, typer.Option(help="of a function app that is asked", show_default=False)] = "",
    key: Key = "",
    settings: SettingsFile = None,
) -> None:
    """Say what would happen with a job: cluster, environment, request, wait, price. Nothing runs."""
    raise typer.Exit(_command("explain").run(file, url, key, settings, as_json=as_json))


@app.command(short_help="Take a low-priority node of the emulator away.")
def preempt(
    node: Annotated[str, typer.Argument(help="its id or address; without one, show the nodes")] = "",
    cluster: Annotated[str, typer.Option(help="look at the nodes of this cluster only")] = "",
    emulator: Annotated[
        str, typer.Option(help="its address  [default: SLIPWAY_BATCHAI_URL]", show_default=False)
    ] = "",
    settings: SettingsFile = None,
) -> None:
    """Take a low-priority node of the local emulator away: its job goes back to the queue."""
    raise typer.Exit(_command("preempt").run(node, cluster, emulator, settings))


@app.command("az-env", short_help="Print what a shell needs so that the Azure CLI talks to it.")
def az_env(
    data: Annotated[Path | None, typer.Option(help="of the running `up`  [default: .local/up]")] = None,
) -> None:
    """Print what a shell needs so that the Azure CLI talks to the stack: eval "$(slipway az-env)"."""
    raise typer.Exit(_command("az_env").run(data))


@app.command()
def version() -> None:
    """Print the version."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    typer.echo(f"slipway {project['version']} (Python {sys.version.split()[0]})")


def _command(name: str) -> Any:
    return import_module(f"cli.{name}")


if __name__ == "__main__":
    main()
