"""`slipway ssh-config`: its options. Its code is imported when it is called."""

from importlib import import_module

import typer

from slipway.commands.options import LOCAL, JobId, Key, Rank, Url

app = typer.Typer()


@app.command("ssh-config", short_help="Make a running job a host of ssh, for editors and scp.")
def ssh_config(job: JobId, rank: Rank = 0, url: Url = LOCAL, key: Key = "") -> None:
    """Make a running job a host of ssh, for editors such as VS Code, and for scp.

    It writes a file of its own, and prints the line for ~/.ssh/config that includes it. The job needs sshd
    where it runs; no server stays there, and no port is opened.
    """
    raise typer.Exit(import_module("slipway.commands.ssh_config.ssh_config").run(job, rank, url, key))
