"""The member `code` of a message: the archive that a job runs, and where it is unpacked. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from shared.jobspec.format.base import Model
from shared.jobspec.problems.codes import problem
from shared.jobspec.problems.problem import Problem
from shared.jobspec.text.file_names import is_ignored
from shared.jobspec.text.tree import Node, quote

_SHA256 = re.compile(r"[0-9a-f]{64}", re.ASCII)
#: The working directory of a run, or a folder below the one of scripts.
_PLACE = re.compile(r"work|scripts(?:/[A-Za-z0-9_][A-Za-z0-9._ -]{0,127}){1,16}", re.ASCII)


#: The container of drops, and a folder in it.
_FOLDER = re.compile(r"[a-z0-9-]{3,63}(?:/[^/\\?#\x00-\x1f]{1,255}){1,64}")
_LONGEST = 1088


class RequestedCode(Model):
    """The code of a job: an archive that was sent before, or a folder of the container of drops."""

    #: The digest of the archive.
    sha256: str | None = None
    #: container/path of the folder.
    folder: str | None = None
    #: Where nodes unpack it.
    at: str = "work"


def code_problems(root: Node, *, drop: bool) -> Iterator[Problem]:
    """All problems of `code`, beyond its shape, which the envelope checks. `drop`: of a slipway.json."""
    code = root.member("code")
    if drop and code.is_written:
        text = "code does not belong in slipway.json: a dropped folder brings its own"
        yield problem("SW090", code.pointer, text, "remove code", of_name=True)
        return
    digest, place, folder = code.member("sha256"), code.member("at"), code.member("folder")
    if isinstance(code.value, dict) and digest.is_written == folder.is_written:
        what = (
            "sha256 and folder are both given" if folder.is_written else "neither sha256 nor folder is given"
        )
        yield problem("SW090", code.pointer, what)
    if folder.text is not None and not is_folder(folder.text):
        remedy = 'write the container of drops and a path, for example "scripts/digits"'
        yield problem("SW090", folder.pointer, f"{quote(folder.text)} is not a folder of drops", remedy)
    if digest.text is not None and not is_digest(digest.text):
        yield problem("SW090", digest.pointer, f"{quote(digest.text)} is not a SHA-256 digest")
    if place.text is not None and not _PLACE.fullmatch(place.text):
        remedy = 'write "work", or "scripts/" and the name of a folder'
        yield problem("SW090", place.pointer, f"{quote(place.text)} cannot be a place for code", remedy)


def is_folder(text: str) -> bool:
    """Whether a text is the path of a folder in a container."""
    return len(text) <= _LONGEST and bool(_FOLDER.fullmatch(text)) and not is_ignored(text)


def is_digest(text: str) -> bool:
    """Whether a text is a SHA-256 digest, as archives are named by it."""
    return _SHA256.fullmatch(text) is not None
