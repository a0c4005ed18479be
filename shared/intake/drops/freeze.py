"""freeze: one archive of a dropped folder, of the versions that were listed: its job runs that, and no edit.

The request stays out of it: `job.json`, `slipway.json`, hidden files, and folders below that are drops of
their own. A job file that mounts the container of drops itself runs what lies there when an attempt starts.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from shared.core.code.record import Code
from shared.core.each import each
from shared.core.errors import Misuse
from shared.core.ports import Blob, Ports
from shared.core.refusals import refused
from shared.core.relations.contents import LEFT_OUT
from shared.intake.candidate import Candidate
from shared.intake.drops.contents import EVER, Whole, contents_of
from shared.intake.drops.files_of_run import MOST_BYTES, files_of, flaw_in
from shared.intake.drops.left_out import left_out
from shared.intake.drops.needed_scripts import names_in
from shared.intake.drops.plan import Plan
from shared.jobspec import (
    DROP_MOUNT,
    JsonObject,
    Problem,
    has_errors,
    mounts_drops,
)
from shared.snapshots.pack import order, packed_whole

#: The folder of these archives, which no caller can name.
SCOPE = "drops"


class Freezer:
    """The files of one folder, as they were listed; runs that bring the same are frozen once."""

    def __init__(self, ports: Ports, files: Whole, runs: Sequence[Plan]) -> None:
        self._ports, self._files = ports, files
        listed = {blob.name: blob for one in runs for blob in (*one.files, *one.rivals)}
        listed |= {blob.name: blob for blob in files.blobs}
        #: the youngest Last-Modified of all that concerns the runs
        self.newest = max((blob.modified for blob in listed.values()), default=EVER)
        of_runs = {blob.name for one in runs for blob in one.own_files}
        #: the files whose change starts no other run
        self.helpers = [blob for name, blob in listed.items() if name not in of_runs]
        #: what stands in the memo of a run that was refused for its files, under the name that no file has
        self.judged = {"": f"{contents_of(files.blobs).digest}{'+' * files.cut}"}
        self._codes = dict[tuple[str, ...], asyncio.Task[Code | None]]()

    def foreseen(self, plan: Plan, candidate: Candidate) -> Candidate:
        """The candidate with what its code would be, without a digest. Reads and writes nothing."""
        if is_live(self._ports, candidate.request.document):
            return candidate
        own = files_of(plan, self._files)
        place, files, beside = own
        needs = candidate.request.envelope.needs
        if refusal := flaw_in(plan, own, needs, cut=self._files.cut):
            return self._refused(candidate, refusal)
        size = sum(blob.size for blob in files.values())
        code = Code(scope=SCOPE, sha256="", bytes=size, files=len(files), at=place, origin="drop")
        if text := left_out(plan.folder, self._files.others, beside):
            warned = (*candidate.request.problems, refused(LEFT_OUT, "", text))
            candidate = replace(candidate, request=replace(candidate.request, problems=warned))
        if candidate.drop is not None:
            drop = candidate.drop.model_copy(update={"newest": self.newest})
            candidate = replace(candidate, drop=drop)
        return _with_code(candidate, code)

    async def freeze(
        self, plan: Plan, candidate: Candidate, contents: Mapping[str, bytes]
    ) -> Candidate | None:
        """The candidate with its code, which is stored then. None when a file changed since it was listed.

        `contents`: of files that were read. Raises Unavailable. Costs a request for each other file, and one
        to store the archive.
        """
        candidate = self.foreseen(plan, candidate)
        code = candidate.request.code
        if code is None or has_errors(candidate.request.problems):
            return candidate
        files = files_of(plan, self._files).files
        names = tuple(sorted(files, key=order))
        if names not in self._codes:
            self._codes[names] = asyncio.create_task(stored(self._ports, code, files, contents))
        try:
            frozen = await self._codes[names]
        except Misuse as error:
            return self._refused(candidate, refused("SW107", "", str(error), error.remedy))
        return _with_code(candidate, frozen) if frozen is not None else None

    def _refused(self, candidate: Candidate, problem: Problem) -> Candidate:
        """The candidate with a problem of its files: once any of them changes, it is judged again."""
        request, drop = candidate.request, candidate.drop
        request = replace(request, code=None, problems=(*request.problems, problem))
        if drop is not None:
            drop = drop.model_copy(update={"etags": {**drop.etags, **self.judged}})
        return replace(candidate, request=request, drop=drop)


async def stored(
    ports: Ports, code: Code, files: Mapping[str, Blob], contents: Mapping[str, bytes] = MappingProxyType({})
) -> Code | None:
    """The code with the archive of these files, which is stored then; None if one changed since their list.

    `contents`: of blobs that were read. Raises Misuse for a file that cannot be read, and Unavailable.
    """

    async def read(name: str) -> bytes | None:
        blob = files[name]
        if blob.name in contents:
            return contents[blob.name]
        content = await ports.drops.read(blob.name, etag=blob.etag, limit=MOST_BYTES)
        return content.data if content is not None else None

    names = sorted(files, key=order)
    read_files = [data for data in await each(names, read) if data is not None]
    if len(read_files) < len(names):
        return None
    archive = await asyncio.to_thread(packed_whole, dict(zip(names, read_files, strict=True)))
    code = code.model_copy(update=archive.packed._asdict())
    await ports.snapshots.put(code.blob, archive.data)
    return code


def foreseen_alone(ports: Ports, candidate: Candidate) -> Candidate:
    """The candidate of a document that is about to be dropped, with the place of its code. Pure.

    Its folder is not listed, and need not be there yet.
    """
    request, folder = candidate.request, candidate.folder or ""
    if not request.readable or is_live(ports, request.document):
        return candidate
    names = names_in(ports, request.document, f"{folder}/").needed
    elsewhere = any(not name.startswith(f"{folder}/") for name in names)
    at = DROP_MOUNT if elsewhere else f"{DROP_MOUNT}/{folder}"
    return _with_code(candidate, Code(scope=SCOPE, sha256="", bytes=0, at=at, origin="drop"))


def is_live(ports: Ports, document: JsonObject | None) -> bool:
    """Whether there is nothing to freeze: no job, or one that mounts what it runs itself."""
    return document is None or mounts_drops(document, ports.policy.completion)


def _with_code(candidate: Candidate, code: Code) -> Candidate:
    return replace(candidate, request=replace(candidate.request, code=code))
