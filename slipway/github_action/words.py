"""The words of the commands that the action runs."""

import sys
from collections.abc import Mapping

#: The command of this installation. No module in the workflow's folder takes the place of one of its own.
SLIPWAY = (sys.executable, "-P", "-m", "slipway.entry")


def words(inputs: Mapping[str, str], *more: str) -> list[str]:
    """The words of the command: each line of an input is one, and none is read by a shell.

    `more` are further options, which count more than those of the input.
    """
    options, arguments = _lines(inputs.get("INPUT_OPTIONS", "")), _lines(inputs.get("INPUT_ARGUMENTS", ""))
    own = ["run", "--json", "--to", inputs["INPUT_TO"], *options, *more]
    return [*own, "--", inputs["INPUT_PATH"], *arguments]


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]
