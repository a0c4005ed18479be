"""`slipway shell`: enters a running job, and runs a command there."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from slipway.client.entry.program import entering
from slipway.client.entry.run import NOT_THERE, Visit, has_terminal, kind_of_terminal, visit
from slipway.client.entry.run import run as run_tool
from slipway.client.entry.session_key import SessionKey, session_key
from slipway.client.entry.tools import command
from slipway.client.service import Service
from slipway.commands.asking import asking_about
from slipway.failure import finding_out
from slipway.terminal.screen import put, say


def run(
    job: str, rank: int, words: Sequence[str], url: str, key: str, *, stdio: bool, print_only: bool
) -> int:
    """Run a command in a job, or a shell, to its exit code. Raises Failure, with the exit code 255."""
    with finding_out(NOT_THERE), session_key() as own:
        place, person = find(job, rank, url, key, own)
        terminal = not stdio and has_terminal()
        inner = entering(
            place.job, place.attempt, place.rank, words, term=kind_of_terminal() if terminal else ""
        )
        argv = command(place, inner, person, terminal=terminal)
        if print_only:
            put(shlex.join(argv))
            if person.session:
                say("this line is to read: its key is gone when this command has ended")
            return 0
        if terminal and not words:
            say(f"what runs here shares the memory and GPUs of {place.job}, can end it, and ends with it")
        return run_tool(argv, place, person)


def find(job: str, rank: int, url: str, key: str, own: SessionKey | None) -> Visit:
    """Where a rank of a job is, and who goes there, with the key of this session. Raises Failure."""
    answers: list[Visit] = []

    async def ask(api: Service, job_id: str) -> int:
        answers.append(await visit(api, job_id, rank, url, key, own))
        return 0

    asking_about(job, ask, url, key)
    return answers[0]
