"""`slipway mcp`. The server is imported when it is called."""

import typer

from slipway.failure import Failure

app = typer.Typer()


@app.command(short_help="Serve tools for coding agents over standard input (MCP).")
def mcp() -> None:
    """Serve the commands of `slipway skill` as tools of the Model Context Protocol, over standard input.

    A client starts it in the folder of your work, which is not your home: no tool sends or writes files
    outside of it, nor what a link in it leads to there. It uses the profile of `slipway login`, or
    SLIPWAY_URL and SLIPWAY_KEY. It needs the extra `mcp` of this package.
    """
    try:
        from slipway.commands.mcp.server import run
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("mcp", "mcp_types", "jsonschema"):
            raise
        text = "the package mcp is not installed"
        remedy = "install it beside this one: pipx inject slipway-jobs mcp, or pip install mcp"
        raise Failure(f"{text}; {remedy}") from error
    run()
