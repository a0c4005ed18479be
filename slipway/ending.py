"""How a command ends: its exit code, and the error that it prints, for a person or for a program."""

import os
import sys
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress

from slipway.failure import INTERNAL, Failure
from slipway.terminal.screen import put_json, say

#: The exit code of a command that was stopped since no one reads on: what a shell says of SIGPIPE.
READER_GONE = 141


def exit_code(command: Callable[..., object], words: Sequence[str]) -> int:
    """Run the command line, and return its exit code; an expected failure is one line on standard error.

    With `--json` among its words, it is a JSON object on standard output as well, and its kind chooses the
    code. A reader that closes the pipe (`| head -1`) stops a command; the code of one that has ended stays.
    """
    out, as_json = sys.stdout, wants_json(words)
    try:
        code = _code_of(command, out, as_json=as_json)
        if out:
            try:
                out.flush()
            except BrokenPipeError:
                _abandon_output()
    except BrokenPipeError:
        _abandon_output()
        code = READER_GONE
    except OSError as error:
        failure = Failure(f"{error.filename or 'the output'}: {error.strerror or error}")
        with suppress(OSError):
            say(str(failure))
        code = _printed(failure) if as_json else failure.exit_code
        _abandon_output()
    return code


def wants_json(words: Sequence[str]) -> bool:
    """Whether a command line asks for JSON; what follows `--` belongs to a script."""
    own = words[: words.index("--")] if "--" in words else words
    return "--json" in own


def _code_of(command: Callable[..., object], out: object, *, as_json: bool) -> int:
    try:
        # Otherwise typer itself prints what is wrong with the words, and ends the process.
        returned = command(standalone_mode=False) if as_json else command()
    except Failure as failure:
        with suppress(BrokenPipeError):
            say(str(failure))
        return _printed(failure) if as_json else failure.exit_code
    except SystemExit as end:
        if sys.stdout is not out:  # typer has met the closed pipe, and put another output there
            raise BrokenPipeError from end
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except OSError:
        raise
    except Exception:
        if not as_json:
            raise
        traceback.print_exc()  # a program that reads standard output learns of every end
        return _printed(
            Failure("a defect stopped the command; report it with the traceback on standard error", INTERNAL)
        )
    return returned if isinstance(returned, int) else 0


def _printed(failure: Failure) -> int:
    with suppress(OSError):
        put_json({"error": failure.for_programs()}, indent=None)
    return failure.kind.exit_code


def _abandon_output() -> None:
    """What could not be written is not tried again by the interpreter's last flush."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(nowhere, stream)
