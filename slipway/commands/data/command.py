"""`slipway data …`: the commands' options. Their code is imported when they are called."""

from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from slipway.commands.help_groups import teaching
from slipway.commands.options import Json, SettingsFile, Utc

app = typer.Typer(
    name="data",
    help="Copy files to and from the data that jobs mount.",
    no_args_is_help=True,
    cls=teaching("ls"),
)

Container = Annotated[str, typer.Option(help="blob container, which the clusters mount under its name")]
_USUAL = "datalake"


@app.command()
def put(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH…", help="files and folders")],
    to: Annotated[str, typer.Option(help="folder in the container  [default: its root]")] = "",
    container: Container = _USUAL,
    as_json: Json = False,
    settings: SettingsFile = None,
) -> None:
    """Upload files and folders under their names. Files that are there with the same content are not sent.

    An interrupted upload continues where it stopped.
    """
    raise typer.Exit(_command("put").run(paths, to, container, settings, as_json=as_json))


@app.command("ls")
def ls(
    folder: Annotated[str, typer.Argument(help="a folder; the root without it", show_default=False)] = "",
    tree: Annotated[bool, typer.Option("--tree", help="all files below it, with their whole names")] = False,
    container: Container = _USUAL,
    utc: Utc = False,
    as_json: Json = False,
    settings: SettingsFile = None,
) -> None:
    """List the files and folders of a folder."""
    raise typer.Exit(
        _command("listing").run(folder, container, settings, tree=tree, utc=utc, as_json=as_json)
    )


@app.command()
def get(
    names: Annotated[
        list[str],
        typer.Argument(metavar="NAME…", help="files and folders as `ls --tree` names them; * and ? match"),
    ],
    to: Annotated[Path, typer.Option(help="the directory to save them in")] = Path(),
    container: Container = _USUAL,
    as_json: Json = False,
    settings: SettingsFile = None,
) -> None:
    """Download files and folders under their whole names. Files with the same content are left alone.

    Others of the same name are replaced. An interrupted download continues where it stopped.
    """
    raise typer.Exit(_command("get").run(names, to, container, settings, as_json=as_json))


@app.command()
def rm(
    names: Annotated[
        list[str],
        typer.Argument(metavar="NAME…", help="files and folders as `ls --tree` names them; * and ? match"),
    ],
    older: Annotated[
        str, typer.Option(metavar="AGE", help="only what has not changed for so long: 12h, 180d")
    ] = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="list what would go; remove nothing")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="remove all that fit, without being asked")] = False,
    container: Container = _USUAL,
    as_json: Json = False,
    settings: SettingsFile = None,
) -> None:
    """Remove files and folders for good. A file that changes meanwhile stays."""
    run = _command("rm").run
    raise typer.Exit(run(names, older, container, settings, dry_run=dry_run, yes=yes, as_json=as_json))


def _command(name: str) -> Any:
    return import_module(f"slipway.commands.data.{name}")
