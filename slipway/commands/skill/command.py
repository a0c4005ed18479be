"""`slipway skill`. Its text is imported when it is called."""

import typer

app = typer.Typer()


@app.command(short_help="Print how a coding agent runs jobs.")
def skill() -> None:
    """Print how a coding agent runs jobs with this version, as a skill: keep it as slipway/SKILL.md there.

    It has the commands in their order, what to do in each state of a job, and what each error means.
    """
    from slipway.commands.skill.skill import text
    from slipway.terminal.screen import put

    put(*text().splitlines())
