"""output: reads the files that a job wrote. Read-only."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, NamedTuple

from shared.core.caller import KEY_HOLDER, Caller
from shared.core.engine import Engine, FileChunk, FilePage, OutputFile
from shared.core.errors import Misuse, NotAFile, NotFound, Rejected
from shared.core.job import Job, Stored, Target
from shared.core.ports import Ports
from shared.core.relations.contents import SAVED, saved_id
from shared.core.visible import escaped
from shared.delivery import receipt
from shared.jobspec import character_flaw
from shared.operate.files.attempts import attempt_of, target_of
from shared.operate.files.in_time import answered, has_files, logs_of

#: The most bytes of a log in one answer.
LOG_CHUNK = 1 << 18
#: The most bytes of a file in one answer. The worker holds several whole answers in memory.
MOST_BYTES = 8 << 20
#: The most characters of a `next`. Clusters and storage derive it from names.
_LONGEST_AFTER = 4_000
#: How many pages of the parent folder are searched for a folder that lists empty.
_PAGES = 50
#: The log of a job on one node; and as many files in a list may be the first of many more.
_USUAL, MOST = "stdout.txt", 50_000
#: The most characters of a path in messages.
_SHOWN = 200
#: Characters that no request and no answer has in such a text.
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_DIRECTORY = re.compile(r"\w{1,64}", re.ASCII)


@dataclass(frozen=True)
class Span:
    """A range of bytes, both ends included.

    Without `first`: the last `last` bytes; without `last`: to the end.
    """

    first: int | None
    last: int | None


async def outputs(
    ports: Ports, job_id: str, who: Caller = KEY_HOLDER, attempt: str = ""
) -> list[dict[str, Any]]:
    """The output directories of a job. Raises Misuse (404, 409) before the job reached its cluster.

    Among them is what it saved for a next attempt, once there is something, and the cluster shows that.
    """
    stored = await attempt_of(ports, job_id, attempt, who)
    target, document = target_of(stored), await ports.ledger.spec(job_id) or {}
    directories = receipt.outputs(stored.job, document)
    name = saved_id(document.get("properties") or {})
    if await has_files(ports, target, name):
        directories.append({"id": name, "path": f"${SAVED}", "files": receipt.address(stored.job, name)})
    return directories


async def files(
    ports: Ports, job_id: str, directory: str, path: str, after: str = "", who: Caller = KEY_HOLDER,
    attempt: str = "",
) -> FilePage:  # fmt: skip
    """One page of an output directory. Raises Misuse (404; 409 before the job reached its cluster)."""
    check_after(after)
    stored = await stored_of(ports, job_id, directory, path, who, attempt)
    target = target_of(stored)
    engine = ports.engines.get(target.engine)
    try:
        try:
            page = await engine.page(target, directory, path, after)
        except NotFound:
            await _check_folder(engine, target, directory, path)
            raise
        if not (page.files or page.next or after):
            await _check_folder(engine, target, directory, path)
        return page
    except (NotFound, Rejected) as error:
        raise await refusal(ports, stored, directory, str(error)) from error


async def _check_folder(engine: Engine, target: Target, directory: str, path: str) -> None:
    """Raise NotFound, or Misuse for a file: some engines list a missing folder as an empty one."""
    levels = [level for level in path.split("/") if level not in ("", ".")]
    if not levels:
        return
    above, after = "/".join(levels[:-1]) or ".", ""
    for _ in range(_PAGES):
        page = await engine.page(target, directory, above, after)
        if any(file.name == levels[-1] and file.size is not None for file in page.files):
            raise Misuse(
                f"{directory}/{'/'.join(levels)} is a file, not a folder",
                status=404,
                remedy="read it, or list the folder that it is in: …/files",
            )
        if any(file.name == levels[-1] or file.left_out for file in page.files):
            return
        if not (after := page.next):
            raise NotFound(f"there is no folder {directory}/{'/'.join(levels)}")


async def content(
    ports: Ports, job_id: str, directory: str, path: str, span: Span | None = None, who: Caller = KEY_HOLDER,
    most: int = MOST_BYTES, attempt: str = "",
) -> FileChunk:  # fmt: skip
    """A job's file, or as much of the span as fits into one answer; no bytes if it contains none.

    Raises Misuse: 400, 404, 409; 413 for a whole file that is too large for one answer.
    """
    stored = await stored_of(ports, job_id, directory, path, who, attempt)
    if not any(level not in ("", ".") for level in path.split("/")):
        raise Misuse("no file is named", remedy="list the files: …/files")
    if path.endswith("/"):
        raise Misuse(
            f"{directory}/{path} ends with a slash, as the path of no file does",
            status=404,
            remedy="ask for a file without it, or for what a directory holds: …/files",
        )
    target = target_of(stored)
    engine = ports.engines.get(target.engine)
    try:
        if span is None:
            chunk = await answered(ports, engine.read(target, directory, path, 0, most))
            if chunk.size > len(chunk.data):
                raise Misuse(
                    f"the file has {chunk.size:,} bytes, and one answer has at most {most:,}",
                    status=413,
                    remedy="read it in parts: `slipway download` does, or send Range: bytes=0-",
                )
            return chunk
        if span.first is None:
            size = (await answered(ports, engine.read(target, directory, path, 0, 1))).size
            span = Span(max(0, size - (span.last or 0)), None)
        first = span.first or 0
        limit = most if span.last is None else min(most, span.last - first + 1)
        return await answered(ports, engine.read(target, directory, path, first, limit))
    except NotAFile as error:
        raise _of_directory(error) from error
    except (NotFound, Rejected) as error:
        raise await refusal(ports, stored, directory, str(error)) from error


def check_after(after: str) -> None:
    """Raise Misuse (400) for a text that is not the `next` of a list."""
    if len(after) > _LONGEST_AFTER or _CONTROL.search(after):
        raise Misuse("after is not the `next` of an earlier answer", remedy="begin without it")


async def stored_of(
    ports: Ports, job_id: str, directory: str, path: str, who: Caller, attempt: str = ""
) -> Stored:
    """The job whose file is requested, in that attempt. Raises Misuse: 400, 404."""
    check_path(path)
    if not _DIRECTORY.fullmatch(directory):
        raise Misuse("directory is not the id of an output directory", remedy="use stdouterr, or such an id")
    return await attempt_of(ports, job_id, attempt, who)


async def refusal(ports: Ports, stored: Stored, directory: str, reason: str) -> Misuse:
    """Why there is no such file, with the directories that exist. "Yet" only while the job may write."""
    if stored.job.archived:
        return forgotten(stored.job)
    document = await ports.ledger.spec(stored.job.id)
    ids = [one["id"] for one in receipt.outputs(stored.job, document or {})]
    ids_of_all = [*ids, saved_id((document or {}).get("properties") or {})]
    if document is not None and directory not in ids_of_all:
        reason = f'no output directory "{directory}"'
    elif not stored.job.state.terminal:
        reason += " yet"
    return Misuse(reason, status=404, remedy=f"this job has {', '.join(ids)}")


def _of_directory(error: NotAFile) -> Misuse:
    return Misuse(str(error), status=404, remedy="name a file in it; this lists them: …/files")


def forgotten(archived: Job) -> Misuse:
    """The answer if the cluster no longer has the files of a job."""
    return Misuse(
        f"the job is archived, and {archived.cluster} has forgotten it",
        status=404,
        remedy="what it wrote is where its job file says: in its own shares and containers",
    )


class LogChunk(NamedTuple):
    """A chunk of a log, the name of its file, and whether more may come."""

    file: str
    chunk: FileChunk
    more: bool


async def log(
    ports: Ports, job_id: str, file: str | None, offset: str, who: Caller = KEY_HOLDER, attempt: str = ""
) -> LogChunk:
    """A chunk of a log, its file's name, and whether more may come. Empty until the file exists."""
    if file is not None:
        check_path(file)
    stored = await attempt_of(ports, job_id, attempt, who)
    target = target_of(stored)
    start = int(offset) if offset.isascii() and offset.isdigit() and len(offset) < 16 else -1
    if start < 0:
        raise Misuse("offset must be a number of bytes", remedy="start at 0, continue at Slipway-Next-Offset")
    engine = ports.engines.get(target.engine)
    try:
        name = file or _first_log(await logs_of(ports, target))
        chunk = await answered(ports, engine.read(target, "stdouterr", name, start, LOG_CHUNK))
    except NotAFile as error:
        raise _of_directory(error) from error
    except NotFound as error:
        if stored.job.archived:
            raise forgotten(stored.job) from error
        if stored.job.state.terminal:
            raise Misuse(str(error), status=404, remedy="list the files: …/files") from error
        return LogChunk(file or "", FileChunk(b"", start, start), True)
    return LogChunk(name, chunk, bool(chunk.data) or not stored.job.state.terminal)


def check_path(path: str) -> None:
    """Raise Misuse (400) for a path that leaves its directory, or cannot be the name of a file."""
    if path.startswith("/") or ".." in path.split("/"):
        raise Misuse("the path leads out of the output directory", remedy="e.g. models/best, without ..")
    if flaw := character_flaw(path):
        raise Misuse(
            f"the path {escaped(path)[:_SHOWN]} {flaw}",
            remedy="let the job give the file another name, or copy it from where it was written",
        )


def _first_log(files: tuple[OutputFile, ...] | None) -> str:
    if files is None or len(files) >= MOST:
        return _USUAL  # not among the first names, perhaps
    return first_log(sorted(f.name for f in files if f.size is not None))


def first_log(names: list[str]) -> str:
    """The one to show first, of the names in their order. Raises NotFound where none is a standard output."""
    for start in ("stdout.txt", "stdout-0", "stdout-wk-0", "stdout"):
        match = next((n for n in names if n.startswith(start) and "job_prep" not in n), None)
        if match:
            return match
    raise NotFound("the job has written no log")
