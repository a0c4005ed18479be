"""`slipway validate` and `slipway init`: their options. Their code is imported when they are called."""

from importlib import import_module
from pathlib import Path
from typing import Annotated, Literal

import typer

from slipway.options import Json

app = typer.Typer()


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
    run = import_module("slipway.commands.document.validate").run
    output = "json" if as_json else output
    raise typer.Exit(run(files, output=output, fix=fix, diff=diff, rules_url=rules_url, **ignores))


@app.command(short_help="Write a script and a job.json to begin with.")
def init(
    template: Annotated[
        str,
        typer.Argument(
            metavar="[TEMPLATE]", help="python, pytorch-distributed, tensorflow, horovod or sweep"
        ),
    ] = "python",
    to: Annotated[
        Path | None, typer.Option(help="folder to write  [default: one named after the template]")
    ] = None,
    as_json: Json = False,
) -> None:
    """Write a folder with a script, a job.json and what the script needs; replaces no file."""
    raise typer.Exit(import_module("slipway.commands.document.init").run(template, to, as_json=as_json))
