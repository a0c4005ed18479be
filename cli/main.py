"""The `slipway` command. Each subcommand is imported when it is called, so that help and errors are quick."""

import sys
import tomllib
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from cli.failure import Failure

ROOT = Path(__file__).resolve().parents[1]

app = typer.Typer(
    name="slipway",
    help="Dispatches Batch AI job files: from a dropped script to a signed webhook.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def main() -> None:
    """Run the command line; an expected failure is one line on standard error and exit code 1."""
    try:
        app()
    except Failure as failure:
        sys.stderr.write(f"slipway: {failure}\n")
        sys.exit(1)


@app.command()
def validate(
    files: Annotated[list[str], typer.Argument(metavar="FILE…", help="job.json files; - is standard input")],
) -> None:
    """Say what is wrong with job.json, slipway.json or message files, and what to do about it."""
    raise typer.Exit(_command("validate").run(files))


@app.command()
def version() -> None:
    """Print the version."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    typer.echo(f"slipway {project['version']} (Python {sys.version.split()[0]})")


def _command(name: str) -> Any:
    return import_module(f"cli.{name}")


if __name__ == "__main__":
    main()
