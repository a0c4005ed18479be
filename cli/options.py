"""Options that many commands share."""

from pathlib import Path
from typing import Annotated

import typer

#: Where the HTTP API of a local stack listens.
LOCAL = "http://127.0.0.1:7071"

Url = Annotated[str, typer.Option(help="of the function app", envvar="SLIPWAY_URL")]
Key = Annotated[
    str, typer.Option(help="function key, or access token", envvar="SLIPWAY_KEY", show_default=False)
]
JobId = Annotated[str, typer.Argument(metavar="JOB", help="its id, j_…")]
Json = Annotated[bool, typer.Option("--json", help="for machines")]
SettingsFile = Annotated[
    Path | None,
    typer.Option(
        "--settings", help="a local.settings.json  [default: the environment, else the stack of `up`]"
    ),
]
