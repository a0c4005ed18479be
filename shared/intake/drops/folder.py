"""A folder of the drop container: which file is the job, which the script, and what is still missing."""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from shared.core.errors import Misuse
from shared.core.pacing.off_loop import off_loop
from shared.core.ports import IN_ARCHIVE, OUT_OF_ARCHIVE, Blob, Drops, Ports
from shared.core.refusals import refused
from shared.core.relations.contents import LEFT_OUT
from shared.intake.drops.left_out import some_of
from shared.intake.drops.needed_files import what_it_needs
from shared.intake.drops.needed_scripts import alike, exact, named_alike, scripts_of, usable_above
from shared.intake.drops.plan import Decided, JobFile, Plan, Plans
from shared.intake.message import Request, read_request
from shared.jobspec import Envelope, Problem, is_ignored, is_left_over, name_flaw, script_pattern
from shared.lifecycle.current_teams import readable_beside

JOB_FILE = "job.json"
ENVELOPE_FILE = "slipway.json"
#: How many levels up a template is searched for.
_LEVELS = 8
_ANY_SCRIPT = "*.py"
#: Pages of the list of all folders below one that are read at most.
PAGES_BELOW = 5


async def plans(ports: Ports, folder: str, blobs: Sequence[Blob], *, deeper: bool = False) -> Plans:
    """The plans for a folder.

    `folder` ends with a slash or is empty; `blobs` are the files directly in it; `deeper`: there are folders
    below it.
    """
    own = next((one for one in blobs if one.name == f"{folder}{JOB_FILE}"), None)
    blob = own or await _job_above(ports, folder)
    if blob is not None and blob.archived:
        return _archived([blob])
    job = await read_job(ports, blob) if blob is not None else None
    if job is None:
        hint = alike(f"{folder}{JOB_FILE}", (one.name for one in blobs))
        return Plans(waits=f"there is no {JOB_FILE} in this folder, and no template above it{hint}")
    runs = await _plans(ports, folder, blobs, job, deeper=deeper)
    archived = {blob.name: blob for plan in runs.runs for blob in plan.files if blob.archived}
    if archived:
        return _archived(list(archived.values()))
    envelope = runs.runs[0].envelope if runs.runs else None
    if envelope is None:
        return runs
    waits, around = await what_it_needs(ports, folder, envelope, blobs)
    if waits:
        return replace(runs, runs=(), waits=waits)
    return replace(runs, runs=tuple(replace(plan, around=around) for plan in runs.runs))


def _archived(blobs: Sequence[Blob]) -> Plans:
    names = ", ".join(blob.name for blob in blobs)
    return Plans(waits=f"cannot run: {names} {IN_ARCHIVE}; {OUT_OF_ARCHIVE}", archived=tuple(blobs))


async def _plans(ports: Ports, folder: str, blobs: Sequence[Blob], job: JobFile, *, deeper: bool) -> Plans:
    envelope = next((b for b in blobs if PurePosixPath(b.name).name == ENVELOPE_FILE), None)
    pattern = script_pattern(job.document)
    if pattern is not None and parent(job.blob.name) == folder:
        return await _beside_template(ports, job.blob, blobs, pattern, deeper=deeper)
    if pattern is not None:
        above = await _script_above(ports, folder, job.blob.name, pattern)
        if above is not None:
            return Plans(decided=Decided(job.blob, above))  # helpers below a folder that runs
        return _of_template(folder, blobs, job, envelope, pattern)
    if parent(job.blob.name) != folder:
        return Plans()  # helpers below a job's own folder
    scripts, absent, of_others = await scripts_of(ports, job.document, folder, blobs)
    if absent:
        hint = await named_alike(ports, absent[0], folder, blobs)
        return Plans(waits=f"waits for {', '.join(absent)}, which {job.blob.name} names{hint}")
    text = f"left out: files in folders of other teams ({some_of(of_others)})"
    problems = (refused(LEFT_OUT, "", text),) if of_others else ()
    return Plans((Plan(folder, job, scripts, envelope, problems=problems),))


def waiting_path(folder: str) -> str:
    """The key of an incomplete folder in the ledger's cache."""
    return f"{folder}|waiting"


def unusable(name: str) -> bool:
    """Whether a blob was meant as a drop, and has a name that Slipway refuses: `name_flaw` says why."""
    return bool(name_flaw(name)) and not is_left_over(name)


def parent(name: str) -> str:
    """The folder of a blob name, with its slash; "" at the top."""
    head, slash, _ = name.rpartition("/")
    return head + slash


def _of_template(
    folder: str, blobs: Sequence[Blob], job: JobFile, envelope: Blob | None, pattern: str
) -> Plans:
    scripts = [b for b in blobs if fnmatch.fnmatchcase(PurePosixPath(b.name).name, pattern)]
    if not scripts:
        return Plans(waits=f"waits for a script that matches {pattern!r}, which {job.blob.name} asks for")
    problems, rivals = tuple[Problem, ...](), tuple[Blob, ...]()
    if len(scripts) > 1 and pattern == _ANY_SCRIPT:
        # Running a helper module as a job would be worse than an error.
        names = ", ".join(PurePosixPath(b.name).name for b in scripts)
        problems = (
            refused(
                "SW105",
                "",
                f"{len(scripts)} files of the folder match {pattern!r}: {names}",
                f"say in {job.blob.name} which one runs, e.g. <SLIPWAY_SCRIPT:train*.py>, "
                "or put the helpers into a folder of their own",
            ),
        )
        scripts, rivals = scripts[:1], tuple(scripts)
    runs = (Plan(folder, job, (b,), envelope, b, problems, rivals) for b in scripts)
    return Plans(tuple(runs), decided=Decided(job.blob, rivals[0]) if rivals else None)


async def _is_used(ports: Ports, folder: str, pattern: str) -> bool:
    """Whether a folder below has a script for a template; so it is said where they are too many to tell.

    Another team's does not count.
    """
    is_readable, after = await readable_beside(ports, folder), ""
    for _ in range(PAGES_BELOW):
        page = await ports.drops.page(folder, after=after)
        below = [blob.name for blob in page.blobs if "/" in blob.name[len(folder) :]]
        scripts = (name for name in below if fnmatch.fnmatchcase(PurePosixPath(name).name, pattern))
        if any(is_readable(name) and not is_ignored(name) for name in scripts):
            return True
        if not (after := page.next):
            return False
    return True


async def _beside_template(
    ports: Ports, template: Blob, blobs: Sequence[Blob], pattern: str, *, deeper: bool
) -> Plans:
    """A template never runs itself: why the files beside it do not run, and where they would.

    What does not match is a helper where a folder below has a script; elsewhere it may be the script.
    """
    names = [PurePosixPath(blob.name).name for blob in blobs if blob.name != template.name]
    names = [name for name in names if name != ENVELOPE_FILE]
    if scripts := [name for name in names if fnmatch.fnmatchcase(name, pattern)]:
        place = f"{parent(template.name)}{PurePosixPath(scripts[0]).stem}/{scripts[0]}"
        remedy = f"put the script into a folder below, for example {place}"
    elif names and not (deeper and await _is_used(ports, parent(template.name), pattern)):
        remedy = f"give the script a name that matches {pattern!r}, and put it into a folder below"
    else:
        return Plans()
    shown = scripts or names
    others = f"{len(shown) - 1} others" if len(shown) > 2 else (*shown, "")[1]
    which = f"{shown[0]} and {others} do" if others else f"{shown[0]} does"
    it, condition = "them" if others else "it", "" if scripts else f" that match {pattern!r}"
    waits = (
        f"{which} not run: {template.name} beside {it} is a template, which runs scripts of the folders "
        f"below{condition}, never itself; {remedy}, or name it in job.json in place of <SLIPWAY_SCRIPT>"
    )
    return Plans(waits=waits, of_template=True)


async def _script_above(ports: Ports, folder: str, template: str, pattern: str) -> Blob | None:
    """A script of its own that a folder of the team between this one and the template's has."""
    is_readable, above = await readable_beside(ports, folder), parent(folder.rstrip("/"))
    while len(above) > len(parent(template)):
        script = await _script_in(ports.drops, above, pattern) if is_readable(above) else None
        if script is not None:
            return script
        above = parent(above.rstrip("/"))
    return None


async def _script_in(drops: Drops, folder: str, pattern: str) -> Blob | None:
    after, more = "", True
    while more:
        page = await drops.page(folder, deep=False, after=after)
        scripts = (b for b in page.blobs if fnmatch.fnmatchcase(PurePosixPath(b.name).name, pattern))
        if (script := next(scripts, None)) is not None:
            return script
        after, more = page.next, bool(page.next)
    return None


async def job_blob(ports: Ports, folder: str) -> Blob | None:
    """The job.json of the folder, or of the nearest folder above it whose job.json may make its jobs."""
    return await exact(ports, f"{folder}{JOB_FILE}") or await _job_above(ports, folder)


async def _job_above(ports: Ports, folder: str) -> Blob | None:
    """The nearest above; none in a folder of another team makes its jobs, or stands in the way of one."""
    above, blob = folder, None
    while blob is None and above:
        blob = await _nearest(ports, parent(above.rstrip("/")))
        if blob is None:
            return None
        above = parent(blob.name)
        blob = blob if (await usable_above(ports, folder))(above) else None
    return blob


async def _nearest(ports: Ports, folder: str) -> Blob | None:
    for _ in range(_LEVELS):
        blob = await exact(ports, f"{folder}{JOB_FILE}")
        if blob is not None or not folder:
            return blob
        folder = parent(folder.rstrip("/"))
    return None


async def read_job(ports: Ports, blob: Blob) -> JobFile | None:
    """The job.json in this blob; None if it has changed since it was listed."""
    try:
        content = await ports.drops.read(blob.name, etag=blob.etag, limit=ports.policy.max_document)
    except Misuse as error:
        # Its ETag belongs to content that was not read.
        too_large = refused("SW107", "", str(error), error.remedy)
        return JobFile(blob, blob.etag.encode(), Request(Envelope(), None, "", problems=(too_large,)))
    if content is None:
        return None
    request = await off_loop(len(content[0]), read_request, content[0], ports.policy.limits, blob.name)
    return JobFile(blob, content[0], request)
