"""part: whether a file of the drop container is part of a run, by the job.json of its folder or above it.

A file that is part of none changes nothing, so its event needs no look. Only a job.json makes it part of a
run later, and the event of that one looks at the folder.
"""

from __future__ import annotations

import fnmatch
from pathlib import PurePosixPath
from typing import NamedTuple

from shared.core.ports import Blob, Ports
from shared.intake.drops.folder import ENVELOPE_FILE, JOB_FILE, job_blob, parent, read_job
from shared.intake.drops.needed_scripts import names_in
from shared.intake.drops.plan import Decided
from shared.jobspec import script_pattern

#: Seconds for which a process remembers what a version of a job.json asks for.
_REMEMBERED = 3600.0


class _Demand(NamedTuple):
    """What a job.json asks for: scripts that match a template's pattern, or else those that it names."""

    pattern: str | None
    names: frozenset[str]


async def run_of(ports: Ports, name: str) -> str | None:
    """The key of the run that a file is part of, as the ledger remembers it; None if it is part of none.

    Costs one small request a level up to the job.json, and reads each version of it once in a process.
    """
    folder, file = parent(name), PurePosixPath(name).name
    if file == JOB_FILE:
        return f"{folder}|"
    job = await job_blob(ports, folder)
    if job is None:
        return None
    demand = await _demand_of(ports, job)
    if demand is None:
        return f"{folder}|"  # it changes at this moment
    if demand.pattern is not None and fnmatch.fnmatchcase(file, demand.pattern):
        return None if await _is_decided(ports, folder, job, name) else f"{folder}|{name}"
    if demand.pattern is None and parent(job.name) != folder:
        return None  # a helper below a job's own folder
    return f"{folder}|" if file == ENVELOPE_FILE or name in demand.names else None


def note_decided(ports: Ports, folder: str, decided: Decided) -> None:
    """Remember in this process on account of which script no other one of a folder runs."""
    ports.memo.put(_decided(folder, decided.job), ports.clock(), {"script": decided.script})


async def _is_decided(ports: Ports, folder: str, job: Blob, name: str) -> bool:
    script: Blob | None = ports.memo.latest(_decided(folder, job)).get("script")
    if script is None or (parent(script.name) == folder and name <= script.name):
        return False
    return await ports.drops.find(script.name) == script


def _decided(folder: str, job: Blob) -> str:
    return f"decided|{folder}|{job.name}|{job.etag}"


async def _demand_of(ports: Ports, job: Blob) -> _Demand | None:
    """What one version of a job.json asks for; None if it is gone."""
    key = f"demand|{job.name}|{job.etag}"

    async def read() -> _Demand | None:
        return await ports.joint.run(key, lambda: _read(ports, job))

    return await ports.memo.get(key, ports.clock(), _REMEMBERED, read)


async def _read(ports: Ports, blob: Blob) -> _Demand | None:
    job = await read_job(ports, blob)
    if job is None:
        return None
    pattern, named = script_pattern(job.document), names_in(ports, job.document, parent(blob.name))
    return _Demand(pattern, frozenset((*named.needed, *named.possible)))
