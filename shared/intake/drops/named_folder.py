"""named_folder: the code of a request that names a folder of the container of drops.

It is looked at where the request is judged, and frozen as a drop is before the request is recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple

from shared.core.caller import Caller
from shared.core.code.record import Code
from shared.core.errors import Misuse
from shared.core.ports import Blob, Ports
from shared.core.refusals import refused
from shared.core.relations.contents import LEFT_OUT
from shared.intake.candidate import ANSWERED, Candidate
from shared.intake.drops.contents import all_files, files_in, of_teams, too_many, warning_of_cold
from shared.intake.drops.files_of_run import FilesOfRun, files_of_folder, refusal_of
from shared.intake.drops.freeze import SCOPE, stored
from shared.intake.drops.left_out import left_out
from shared.jobspec import Problem
from shared.lifecycle.current_teams import current_teams


class _Listed(NamedTuple):
    """What a folder would bring, and what is said of it. With an error, `files` may lack some."""

    files: FilesOfRun
    problems: tuple[Problem, ...] = ()


class Looked(NamedTuple):
    """A candidate, and the files that its code names, as they were listed, by their names in the archive."""

    candidate: Candidate
    files: Mapping[str, Blob] = MappingProxyType({})


async def with_folder(ports: Ports, candidate: Candidate) -> Looked:
    """The candidate with what its code would be, without a digest, or problems. Costs a list or more.

    Raises Misuse (403) if the caller may not read the folder.
    """
    request = candidate.request
    named = request.envelope.code
    if named is None or named.folder is None or candidate.drop is not None:
        return Looked(candidate)
    at, place = f"{request.envelope_at}/code", named.at
    if candidate.door not in ANSWERED:
        text = "a message of the queue cannot name a folder: its sender is not known"
        return Looked(_plus(candidate, refused("SW116", at, text, "send it to POST /api/jobs")))
    readable = await _readable_to(ports, candidate.who)
    if (folder := _folder(ports, readable, named.folder)) is None:
        text = f"code can only be a folder of the container {ports.policy.drop_container}"
        return Looked(_plus(candidate, refused("SW116", at, text, "name one of its folders")))
    listed = await _listed(ports, readable, folder, place)
    files, problems = listed.files.files, (replace(one, pointer=at) for one in listed.problems)
    size = sum(blob.size for blob in files.values())
    code = Code(scope=SCOPE, sha256="", bytes=size, files=len(files), at=place, origin="folder")
    return Looked(_plus(replace(candidate, request=replace(request, code=code)), *problems), files)


async def freeze_folder(ports: Ports, candidate: Candidate, files: Mapping[str, Blob]) -> Candidate:
    """The candidate with the archive of the folder that its code names, which is stored then.

    `files`: as they were listed when it was judged. Raises Misuse (409) if one of them changed since, and
    Unavailable.
    """
    named, code = candidate.request.envelope.code, candidate.request.code
    if named is None or named.folder is None or code is None:
        return candidate
    async with ports.joint.few:
        frozen = await stored(ports, code, files)
    if frozen is None:
        text = f"the folder {named.folder[:200]} changes at this moment"
        raise Misuse(text, status=409, remedy="send the same request again once it does not")
    return replace(candidate, request=replace(candidate.request, code=frozen))


async def _readable_to(ports: Ports, who: Caller) -> Callable[[str], bool]:
    """Whether a caller may read a folder of drops: one of their teams, or any if they see every job."""
    teams = await current_teams(ports)

    def is_readable(folder: str) -> bool:
        return who.sees_all or (bool(teams.teams) and teams.of_drop(folder) in who.teams)

    return is_readable


def _folder(ports: Ports, is_readable: Callable[[str], bool], reference: str) -> str | None:
    """The folder in the container of drops, with its slash; None for another one. Raises Misuse (403)."""
    container, _, path = reference.partition("/")
    if container != ports.policy.drop_container:
        return None
    if is_readable(path):
        return f"{path}/"
    raise Misuse(
        "code names a folder of drops, which only members of its team can use",
        status=403,
        remedy="send the folder itself, with `slipway run`",
    )


async def _listed(ports: Ports, is_readable: Callable[[str], bool], folder: str, place: str) -> _Listed:
    top = await files_in(ports, folder)
    if top is None:
        return _Listed(FilesOfRun(place, {}), (refused("SW117", "", too_many(ports)),))
    every = await all_files(ports.drops, folder, top)
    whole = of_teams(every, is_readable)
    files = files_of_folder(folder, whole.blobs, place, folder)
    if not files.files and not whole.cut:
        text = "the folder that code names has no files"
        return _Listed(files, (refused("SW116", "", text, "upload them first, then send the request again"),))
    problems = [warning_of_cold(whole.blobs), refusal_of(place, files.files, cut=whole.cut)]
    if text := left_out(folder, whole.others, files.beside):
        problems.append(refused(LEFT_OUT, "", text))
    if len(whole.blobs) < len(every.blobs):
        problems.append(refused(LEFT_OUT, "", "left out: folders below that belong to other teams"))
    return _Listed(files, tuple(one for one in problems if one is not None))


def _plus(candidate: Candidate, *problems: Problem) -> Candidate:
    request = candidate.request
    return replace(candidate, request=replace(request, problems=(*request.problems, *problems)))
