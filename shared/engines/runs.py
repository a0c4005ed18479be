"""The run and the attempt of a record. A job can write it, so invalid names do not count. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from shared.core.job import Target

Record = Mapping[str, Any]
#: Marks a record without the proof that the program on the nodes wrote it: it says only where files are.
UNPROVEN = "unproven"


class Run(NamedTuple):
    """The attempt and the run that wrote an output."""

    target: Target
    name: str


def written_by(target: Target, record: Record) -> Run:
    """The attempt and the run that wrote the output: an earlier attempt may answer for this one.

    The run is "" if a job has put something else in the place of the record.
    """
    answers = record.get("answers")
    name, run = (answers.get("name"), answers.get("run")) if isinstance(answers, dict) else (None, None)
    if not isinstance(name, str) or not isinstance(run, str) or not is_folder(run):
        return Run(target, str(record.get("run", "")))
    job, _, attempt = name.rpartition("-")
    if job != target.name.rpartition("-")[0] or not attempt.isdecimal():
        return Run(target, str(record.get("run", "")))
    return Run(target.model_copy(update={"name": name}), run)


def is_folder(name: object) -> bool:
    """Whether it is the name of one folder or file."""
    return isinstance(name, str) and "/" not in name and name not in ("", ".", "..")
