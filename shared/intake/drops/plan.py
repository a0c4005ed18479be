"""What a folder of the drop container asks for: its runs, each with its files."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from shared.core.ports import Blob
from shared.intake.message import Request
from shared.jobspec import JsonObject, Problem


@dataclass(frozen=True)
class JobFile:
    """One version of a job.json."""

    blob: Blob
    raw: bytes
    request: Request

    @property
    def document(self) -> JsonObject | None:
        """The job in it; None if there is none, or if it cannot be read."""
        return self.request.document if self.request.readable else None


@dataclass(frozen=True)
class Plan:
    """One run that a folder asks for. `script` is set when a template runs it."""

    folder: str
    job: JobFile
    scripts: tuple[Blob, ...]
    envelope: Blob | None
    script: Blob | None = None
    problems: tuple[Problem, ...] = ()
    #: the scripts of which the template could not choose one
    rivals: tuple[Blob, ...] = ()
    #: the text of the envelope, if it was read
    around: bytes | None = field(default=None, compare=False, repr=False)

    @property
    def files(self) -> tuple[Blob, ...]:
        """Every blob that the run depends on."""
        return (self.job.blob, *self.scripts, *([self.envelope] if self.envelope else []))

    @property
    def own_files(self) -> tuple[Blob, ...]:
        """The files whose change starts another run.

        The envelope does not, nor does a template, which folders share.
        """
        return self.scripts if self.script else (self.job.blob, *self.scripts)

    @property
    def etags(self) -> dict[str, str]:
        """The version of every blob that the run depends on."""
        return {blob.name: blob.etag for blob in self.files}

    @property
    def explains(self) -> bool:
        """Whether the metadata of the job file or of a script asks for an explanation only."""
        return any(blob.mode == "explain" for blob in (self.job.blob, *self.scripts))

    @property
    def path(self) -> str:
        """Its key in the ledger's cache."""
        return f"{self.folder}|{self.script.name if self.script else ''}"


class Decided(NamedTuple):
    """A script above its folder, or the first of several rivals, and the job.json that makes it decide.

    While both are there, other files that match the template change nothing, unless their names come first.
    """

    job: Blob
    script: Blob


@dataclass(frozen=True)
class Plans:
    """The runs that a folder asks for, or what it waits for, in a sentence.

    The folder of a template itself asks for none.
    """

    runs: tuple[Plan, ...] = ()
    waits: str = ""
    #: whether it waits as the folder of a template, beside which files lie that do not run in folders below
    of_template: bool = False
    #: the blobs that keep it from running because they cannot be read
    archived: tuple[Blob, ...] = ()
    #: the script on account of which no other one of the folder runs under this template
    decided: Decided | None = field(default=None, compare=False)
