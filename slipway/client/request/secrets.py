"""Variables and secrets of a job by their names: values from the caller's environment, or asked for."""

import getpass
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from shared.intake.drops.folder import JOB_FILE
from shared.jobspec import Defaults, complete, redact
from slipway.failure import USAGE, Failure
from slipway.terminal.screen import at_terminal, say


def asked_at_terminal(name: str) -> str | None:
    """A value that a person enters without an echo; None where there is no terminal."""
    if not at_terminal():
        return None
    try:
        return getpass.getpass(f"{name}: ", sys.stderr)
    except EOFError:
        return ""


def variables(pairs: Sequence[str], caller: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The variables of --env: NAME=VALUE, or NAME for the caller's value. Raises Failure."""
    environment = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not name.isidentifier():
            raise Failure(f"--env {name}: is not the name of a variable; write NAME=VALUE, or NAME", USAGE)
        if not equals and name not in caller:
            raise Failure(f"--env {name}: the variable is not set here; set it, or write {name}=VALUE", USAGE)
        environment[name] = value if equals else caller[name]
    return environment


def secret_values(
    names: Sequence[str],
    caller: Mapping[str, str] = os.environ,
    ask: Callable[[str], str | None] = asked_at_terminal,
) -> dict[str, str]:
    """The values of --secret NAME: the caller's variable, or what a person enters. Raises Failure."""
    values = {}
    for name in names:
        if "=" in name:
            raise Failure(
                f"--secret {name.partition('=')[0]}: give only the name, since the words of a command can be "
                "read by others on this machine; the value is that of your variable, or is asked for"
            )
        if not name.isidentifier():
            raise Failure(f"--secret {name}: is not the name of a variable; use letters, digits and _", USAGE)
        value = caller.get(name) or ask(name)
        if value is None:
            raise Failure(
                f"--secret {name}: the variable is not set here, and there is no terminal to ask at; "
                f"set it: read -rs {name}; export {name}"
            )
        if not value:
            raise Failure(f"--secret {name}: the value is empty; enter it, or set the variable {name}")
        values[name] = value
    return values


def holds_secrets(file: Path) -> bool:
    """Whether a job.json has what looks like a secret; False if there is none, or it cannot be read."""
    try:
        document = json.loads(file.read_bytes().decode("utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return False
    job = document.get("spec", document) if isinstance(document, dict) else document
    completed = complete(job, Defaults()).document  # without the placeholder of the account's key
    return bool(redact(completed) != completed)


def refuse_secrets(folder: Path, *, force: bool = False) -> None:
    """Raise Failure for a job.json with what looks like a secret; with `force` it is a warning.

    In the drop container it would stay as it is.
    """
    if not holds_secrets(file := folder / JOB_FILE):
        return
    text = (
        f"{file.name} holds what looks like a secret, which stays in the drop container as it is, for all "
        "who may read there"
    )
    if not force:
        raise Failure(
            f"nothing was uploaded: {text}; take it out, and give it at each run: slipway run --secret NAME; "
            "or name a secret of a Key Vault in `secrets`; --force of `slipway drop` uploads it all the same"
        )
    say(f"{text}; take it out, and give it at each run: slipway run --secret NAME")
