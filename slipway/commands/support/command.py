"""The command `support`: its options. Its code is imported when it is called."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from slipway.commands.asking import asking_about
from slipway.commands.options import LOCAL, JobId, Json, Key, Url

if TYPE_CHECKING:
    from slipway.client.service import Service

app = typer.Typer()


@app.command(short_help="Pack what helps others to help with a job.")
def support(
    job: JobId,
    to: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="the archive  [default: support-ID.zip]", show_default=False),
    ] = None,
    as_json: Json = False,
    url: Url = LOCAL,
    key: Key = "",
) -> None:
    """Pack what helps others to help with a job into one zip file, without secrets.

    Its record, its receipt, its events with every delivery, its last lines, the health of the deployment,
    the findings of `slipway doctor`, and the versions. Values of variables are left out, and secrets are
    masked: read it all the same before you send it on, since names, commands and lines are the job's own.
    """

    async def ask(api: "Service", job_id: str) -> int:
        from slipway.commands.support.support import pack

        return await pack(api, job_id, to, url, key, as_json=as_json)

    raise typer.Exit(asking_about(job, ask, url, key))
