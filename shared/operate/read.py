"""read: what people ask of a job's files, and of clusters. Never changes anything."""

from __future__ import annotations

import asyncio
import logging
import re
from dataclasses import dataclass, replace
from typing import Any

from shared.core.caller import KEY_HOLDER, Caller
from shared.core.errors import EngineError, Misuse, NotFound
from shared.core.facts import together
from shared.core.job import JobState, Stored
from shared.core.ports import ClusterView, FileChunk, OutputFile, Ports
from shared.delivery.receipt import outputs
from shared.lifecycle.lookup import job

logger = logging.getLogger(__name__)

#: Bytes of a log in one answer.
LOG_CHUNK = 1 << 18
_DIRECTORY = re.compile(r"\w{1,64}", re.ASCII)


async def files(
    ports: Ports, job_id: str, directory: str, path: str, who: Caller = KEY_HOLDER
) -> tuple[OutputFile, ...]:
    """The files of an output directory. Raises Misuse (404, 409) before the job reached its cluster."""
    _check_path(path)
    if not _DIRECTORY.fullmatch(directory):
        raise Misuse("directory is no id of an output directory", remedy="use stdouterr, or such an id")
    stored = await job(ports, job_id, who)
    target = _target(stored)
    try:
        return await ports.engines.get(target.engine).files(target, directory, path)
    except NotFound as error:
        document = await ports.ledger.spec(job_id)
        known = [one["id"] for one in outputs(stored.job, document or {})]
        said, remedy = str(error), f"this job has {', '.join(known)}"
        if document is not None and directory not in known:
            said = f'no output directory "{directory}"'
        raise Misuse(said, status=404, remedy=remedy) from error


async def log(
    ports: Ports, job_id: str, file: str | None, offset: str, who: Caller = KEY_HOLDER
) -> tuple[str, FileChunk, bool]:
    """A part of a log, its file's name, and whether more may come. Empty while there is no such file yet."""
    if file is not None:
        _check_path(file)
    stored = await job(ports, job_id, who)
    target = _target(stored)
    start = int(offset) if offset.isascii() and offset.isdigit() and len(offset) < 16 else -1
    if start < 0:
        raise Misuse("offset must be a number of bytes", remedy="start at 0, go on at Slipway-Next-Offset")
    engine = ports.engines.get(target.engine)
    try:
        name = file or _firstlogger(await engine.files(target, "stdouterr"))
        chunk = await engine.read(target, "stdouterr", name, start, LOG_CHUNK)
    except NotFound as error:
        if stored.job.state.terminal:
            raise Misuse(str(error), status=404, remedy="list the files: …/files") from error
        return file or "", FileChunk(b"", start, start), True
    return name, chunk, bool(chunk.data) or not stored.job.state.terminal


@dataclass(frozen=True)
class ClusterAnswer:
    """A configured cluster as it is now; or, where there is no view, why it cannot be asked."""

    name: str
    view: ClusterView | None = None
    error: str = ""


async def clusters(ports: Ports) -> list[ClusterAnswer]:
    """Every configured cluster."""

    async def one(name: str) -> ClusterAnswer:
        cluster = ports.engines.clusters[name]
        try:
            engine = ports.engines.get(cluster.engine)
            view = await engine.nodes(name)
            facts = together(cluster.facts, view.facts)
            view = replace(view, facts=facts, capabilities=engine.capabilities(name, view))
            return ClusterAnswer(name, view)
        except EngineError as error:
            return ClusterAnswer(name, error=str(error))
        except Exception:  # a defect of one adapter hides no other cluster
            logger.exception("cluster %s cannot be shown", name)
            return ClusterAnswer(name, error="it cannot be asked; the log says why")

    return list(await asyncio.gather(*(one(name) for name in ports.engines.clusters)))


def _target(stored: Stored) -> Any:
    target = stored.job.target
    if target is None or stored.job.state in (JobState.REJECTED, JobState.ACCEPTED, JobState.SUBMITTING):
        raise Misuse(
            f"the job is {stored.job.state}, so no node has run it and it has no files",
            status=409,
            remedy="ask again when it is running" if not stored.job.state.terminal else "see its problems",
        )
    return target


def _check_path(path: str) -> None:
    """Raise Misuse (400) for a path that leads out of its directory, or could."""
    levels = path.split("/")
    if path.startswith("/") or ".." in levels or "\\" in path or not path.isprintable():
        raise Misuse("the path leads out of the output directory", remedy="e.g. models/best, without ..")


def _firstlogger(files: tuple[OutputFile, ...]) -> str:
    names = sorted(f.name for f in files if f.size is not None)
    for start in ("stdout.txt", "stdout-0", "stdout-wk-0", "stdout"):
        match = next((n for n in names if n.startswith(start) and "job_prep" not in n), None)
        if match:
            return match
    raise NotFound("there is no log yet")
