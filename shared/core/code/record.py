"""The code of a job: one immutable archive, recorded with the job, and how a node gets it. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, TypeAlias

from shared.core.relations.contents import FrozenModel

#: How the archive came: sent by a client, frozen from a drop, or from a folder that a request names.
Origin: TypeAlias = Literal["upload", "drop", "folder"]
#: The names that archives have.
_BLOB = re.compile(r"[^/]+/[0-9a-f]{64}", re.ASCII)
#: The place `at` of an archive that is unpacked into the working directory of a run.
WORK = "work"


class Code(FrozenModel):
    """The archive that a job runs, by the digest of its bytes: every attempt runs these, on every cluster."""

    #: its folder in the container of snapshots: only requests of this scope may name it by its digest
    scope: str
    #: 64 lower-case hexadecimal digits
    sha256: str
    bytes: int
    #: None for one that a client sent: it is counted when it is listed
    files: int | None = None
    #: where a node unpacks it: `work`, or `scripts/<folder>` below the mount root
    at: str = WORK
    origin: Origin = "upload"

    @property
    def blob(self) -> str:
        """Its name in the container of snapshots."""
        return f"{self.scope}/{self.sha256}"


def is_of_code(blob: str) -> bool:
    """Whether a blob has the name of an archive: another one is not the app's, and it leaves that alone."""
    return _BLOB.fullmatch(blob) is not None


@dataclass(frozen=True)
class CodeSource:
    """What a node needs for the code of an attempt: the address of this one blob, and what to check."""

    address: str = field(repr=False)
    sha256: str
    bytes: int
    at: str


def source_of(code: Code, address: str) -> CodeSource:
    """What a node needs for this code, with an address that reads it."""
    return CodeSource(address, code.sha256, code.bytes, code.at)


@dataclass(frozen=True)
class SignedPlace:
    """An address that reads or takes one archive until then."""

    address: str = field(repr=False)
    expires: datetime
