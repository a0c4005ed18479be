"""Options that many commands share."""

from pathlib import Path
from typing import Annotated

import typer

#: No address: that of the profile, else of the stack of `up`.
LOCAL = ""

Url = Annotated[
    str,
    typer.Option(
        help="URL of the function app  [default: the profile, else the stack of `up`]",
        envvar="SLIPWAY_URL",
        show_default=False,
    ),
]
Key = Annotated[
    str, typer.Option(help="function key, or access token", envvar="SLIPWAY_KEY", show_default=False)
]
JobId = Annotated[
    str, typer.Argument(metavar="JOB", help="its id (or the beginning of it), its name, or last")
]
Attempt = Annotated[
    int | None, typer.Option(min=1, help="an earlier attempt of the job  [default: the last one]")
]
Rank = Annotated[int, typer.Option(min=0, help="where the process of this rank runs")]
Json = Annotated[bool, typer.Option("--json", help="print JSON")]
#: For what comes bit by bit.
JsonLines = Annotated[bool, typer.Option("--json", help="print JSON, an object on each line")]
Utc = Annotated[bool, typer.Option("--utc", help="times in UTC  [default: local time]")]
Env = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME[=VALUE]", help="environment variable of the script  [default value: yours]"),
]
Secrets = Annotated[
    list[str] | None,
    typer.Option(
        "--secret",
        metavar="NAME",
        help="the same, sealed: your variable of that name, else it asks for the value",
    ),
]
After = Annotated[
    list[str] | None,
    typer.Option(metavar="JOB", help="wait until this job has succeeded; may be given again"),
]
AfterFailure = Annotated[
    list[str] | None,
    typer.Option(metavar="JOB", help="wait until this job has ended without success; may be given again"),
]
IdempotencyKey = Annotated[
    str,
    typer.Option(
        "--idempotency-key",
        metavar="KEY",
        help="one key, one job: that of a submission whose answer was lost  [default: a new key]",
        show_default=False,
    ),
]
MaxCost = Annotated[
    float | None,
    typer.Option(
        "--max-cost",
        min=0,
        metavar="AMOUNT",
        help="send nothing that may cost more, by the prices of the deployment  [default: any amount]",
        show_default=False,
    ),
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="show files, job.json and what would happen; send nothing")
]
SettingsFile = Annotated[
    Path | None,
    typer.Option(
        "--settings", help="a local.settings.json  [default: the environment, else the stack of `up`]"
    ),
]
