"""`slipway validate`: its options. Its code is imported when it is called."""

from importlib import import_module
from typing import Annotated, Literal

import typer

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
    run = import_module("slipway.commands.validate.validate").run
    output = "json" if as_json else output
    raise typer.Exit(run(files, output=output, fix=fix, diff=diff, rules_url=rules_url, **ignores))
