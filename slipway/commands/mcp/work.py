"""The folder of the work, which a client starts the server in: no tool reads or writes outside of it."""

from __future__ import annotations

import os
from pathlib import Path

from shared.core.visible import escaped
from slipway.client.request.own_job import ENVELOPE_FILE, JOB_FILE
from slipway.client.snapshot.ignore_file import NAME as IGNORE_FILE
from slipway.client.snapshot.walk import walk
from slipway.failure import Usage

#: Files of a folder that are read, and are not a part of its code.
_DOCUMENTS = (JOB_FILE, ENVELOPE_FILE, IGNORE_FILE)
_LONGEST = 200


def place(text: str) -> Path:
    """A path in the folder of the work. Raises Usage for any other."""
    folder = _work()
    try:
        path = (folder / text).resolve()
    except (OSError, ValueError) as error:
        raise Usage("a path cannot be read; name a folder of this work") from error
    if not path.is_relative_to(folder):
        raise Usage(f"{text[:_LONGEST]} is outside of {folder}; name a folder in it")
    return path


def code(text: str) -> Path:
    """The same of code that is sent. Raises Usage for a link in it to a file outside of the work.

    A person chooses to send such a file; an agent sends what others have written, and their links with it.
    """
    path, work = place(text), _work()
    if path.is_dir():
        for name in _DOCUMENTS:
            if _leads_out(path / name, work):
                raise Usage(f"{name} is a link out of {work}; put the file itself there")
        for file in walk(path).files:
            if _leads_out(file.path, work):
                remedy = f"put the file itself there, or name it in {IGNORE_FILE}"
                raise Usage(f"{escaped(file.name)} is a link out of {work}; {remedy}")
    return path


def _leads_out(path: Path, work: Path) -> bool:
    return not Path(os.path.realpath(path)).is_relative_to(work)


def _work() -> Path:
    """The folder of the work. Raises Usage for the home of a person, and what is above it."""
    folder = Path.cwd().resolve()
    try:
        above = Path.home().resolve().is_relative_to(folder)
    except RuntimeError:  # the user of a container may not have one
        above = False
    if above or folder == folder.parent:
        remedy = "let the client start this in one: sh -c 'cd FOLDER && exec slipway mcp'"
        raise Usage(f"{folder} is not a folder of work; {remedy}")
    return folder
