"""rerun: run a job once more.

Its document comes from the ledger, and its code is the archive that it ran. A job that mounted its scripts
in place of an archive runs again only as long as they have not changed.
"""

from __future__ import annotations

import asyncio
import hashlib
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from shared.core.caller import Caller
from shared.core.errors import Misuse
from shared.core.job import Drop, Job
from shared.core.messages import digest
from shared.core.ports import Ports, Seal
from shared.intake.accept import Accepted, accept
from shared.intake.candidate import Candidate
from shared.intake.drops.folder import ENVELOPE_FILE
from shared.intake.message import Request
from shared.jobspec import Envelope, JsonObject, iso_duration, open_secrets, redact
from shared.lifecycle.current_teams import current_teams
from shared.lifecycle.lookup import archived, visible

_SEND_ANEW = "send the job again by the door that it came through"


async def rerun(
    ports: Ports, job_id: str, receipt: JsonObject | None, *, who: Caller, key: str, resumes: bool = False
) -> Accepted:
    """Accept a job once more, as a job of its own; the same `key` joins it. A receipt has to be the job's.

    An empty receipt is none. `resumes`: it goes on from what the job saved. Raises Misuse: 400 for what is
    not a receipt, 404 for an unknown job, 410 when the archive was cleared, 409 when the receipt or a script
    has changed or there is nothing to go on from, 403 where it would use secrets of a team for which the
    caller may not submit.
    """
    job, spec = await _what_ran(ports, job_id, who)
    if resumes:
        _check_saved(job)
    if receipt:
        _check_receipt(job, spec, receipt)
    drop = await _drop_again(ports, job)
    document = open_secrets(spec, lambda at, value: ports.seal.unseal(value, f"{job.key}{at}"))
    envelope = _envelope(ports.seal, job, await _team(ports, job, who))
    if document is not spec or _has_own_receivers(ports, job, envelope):
        _check_secrets(job, who)
    how = {"resumes": True} if resumes else {}
    payload = digest({"rerun": job.id, "spec": digest(redact(spec)), **how})
    candidate = Candidate(
        door="rerun",
        source=who.source,
        key=key,
        request=Request(
            envelope,
            document,
            payload,
            code=job.code,
            # Met already: it waits for nothing, and reads what the first run could read.
            dependencies=tuple(one for one in job.dependencies if one.met),
        ),
        who=who,
        drop=drop,
        rerun_of=job.id,
        resumes=job.id if resumes else "",
    )
    accepted = await accept(ports, candidate)
    notes = (*_notes_of_team(job, accepted.job, who), *_notes_of_entry(job))
    return replace(accepted, notes=(*accepted.notes, *notes))


class _Ran(NamedTuple):
    job: Job
    spec: JsonObject


async def _what_ran(ports: Ports, job_id: str, who: Caller) -> _Ran:
    """The job and its document, from the archive if it is there. Raises Misuse: 404, 409 and 410."""
    stored = await visible(ports, job_id, who)
    if stored is None:
        raise Misuse(
            f"there is no job {job_id[:80]} here", status=404, remedy="ask the deployment that ran it"
        )
    job, spec = stored.job, await ports.ledger.spec(job_id)
    if job.archived:
        line = await archived(ports.archive, job)
        job, spec = line.job.model_copy(update={"archived": job.archived}), line.spec
    if spec is None:
        raise Misuse(
            f"{job_id} was rejected, so nothing has run",
            status=409,
            remedy="correct the document and send it again",
        )
    return _Ran(job, spec)


def _check_saved(job: Job) -> None:
    """Raise Misuse if there is nothing to go on from, or it may still change."""
    if not job.state.terminal:
        text, remedy = (
            f"is {job.state}, and may still save",
            f"wait for its end, or end it: slipway cancel {job.id}",
        )
    elif job.archived:
        text, remedy = "is archived, and what it saved is removed", "run it again from the beginning"
    elif job.target is None or (job.attempt == 1 and job.started is None):
        text, remedy = "never ran, so it has saved nothing", "run it again from the beginning"
    else:
        return
    raise Misuse(f"{job.id} {text}", status=409, remedy=remedy)


def _notes_of_team(job: Job, again: Job, who: Caller) -> tuple[str, ...]:
    """That a job of another team runs as one of the caller's, who may read it and so run it."""
    if not job.team or job.team == again.team or who.acts_for(job.team):
        return ()
    what = "the document and the code are those" if job.code is not None else "the document is that"
    own = f"of the team {again.team}" if again.team else "of no team"
    return (
        f"warning: {what} of {job.id}, a job of the team {job.team}, in which you are not; "
        f"the new job, its files and its log are {own}",
    )


def _notes_of_entry(job: Job) -> tuple[str, ...]:
    """That what the job did may not be what its document says."""
    if not job.entered:
        return ()
    people = ", ".join(job.entered)
    return (
        f"warning: {job.id} was entered while it ran, by {people}: this runs its document, "
        "without what they did",
    )


def _check_receipt(job: Job, spec: JsonObject, receipt: JsonObject) -> None:
    """Raise Misuse if it is not a receipt, is another job's, or was edited."""
    if not isinstance(receipt.get("id"), str):
        raise Misuse(
            "the body is not a receipt: it has no id", remedy="send receipt.json as it is, or no body"
        )
    if receipt.get("id") != job.id:
        raise Misuse("the receipt belongs to another job", status=409, remedy="name the receipt's own job")
    accepted = receipt.get("accepted")
    written: Any = receipt.get("spec")
    expected = digest(redact(spec))
    if not isinstance(written, dict) or {written.get("sha256"), digest(accepted)} != {expected}:
        raise Misuse(
            f"the receipt of {job.id} was edited: what it accepted is not what ran",
            status=409,
            remedy="use the receipt as it is in the container of receipts; " + _SEND_ANEW + " to change it",
        )


def _check_secrets(job: Job, who: Caller) -> None:
    """Raise Misuse unless the job is the caller's, or they may submit for its team."""
    if job.source == who.source or who.acts_for(job.team):
        return
    owner = f"the team {job.team}" if job.team else "another sender"
    raise Misuse(
        f"{job.id} has secrets of {owner}, and you may not submit with them",
        status=403,
        remedy="have its sender, a member of its team or an administrator run it again, "
        "or send its document with secrets of your own",
    )


def _has_own_receivers(ports: Ports, job: Job, opened: Envelope) -> bool:
    """Whether a sealed address is the job's own, and not the deployment's for every job."""
    defaults = {one["url"] for one in ports.policy.default_notify}
    pairs = zip(job.notify, opened.notify, strict=True)
    return any(stored.sealed is not None and one.url not in defaults for stored, one in pairs)


async def _drop_again(ports: Ports, job: Job) -> Drop | None:
    """Its drop. Files that came since then are not missing from what runs again."""
    drop = await _same_scripts(ports, job.drop) if job.drop and job.code is None else job.drop
    return drop.model_copy(update={"newest": None, "late": ""}) if drop is not None else None


async def _same_scripts(ports: Ports, drop: Drop) -> Drop:
    """The drop with its current ETags.

    Raises Misuse with the name of a script that has changed or is gone.
    """
    own = {name for name in drop.files if PurePosixPath(name).name == ENVELOPE_FILE} | {drop.job_file}
    scripts = sorted(drop.files.keys() - own)  # the accepted document stands for the other two

    async def etag_of(name: str) -> str:
        content = await ports.drops.read(name, limit=ports.policy.max_script)
        path = f"{drop.container}/{name}"
        if content is None:
            raise Misuse(f"{path} is gone", status=409, remedy=f"upload it again as it was, or {_SEND_ANEW}")
        if hashlib.sha256(content.data).hexdigest() != drop.files[name]:
            raise Misuse(
                f"{path} has changed since the job ran",
                status=409,
                remedy=f"upload the version with SHA-256 {drop.files[name][:12]}…, or {_SEND_ANEW}",
            )
        return content.etag

    etags = dict(zip(scripts, await asyncio.gather(*map(etag_of, scripts)), strict=True))
    return drop.model_copy(update={"etags": etags, "files": {name: drop.files[name] for name in scripts}})


async def _team(ports: Ports, job: Job, who: Caller) -> str | None:
    """The team of the earlier job, if it still exists and the caller may act for it."""
    return job.team if who.acts_for(job.team) and job.team in (await current_teams(ports)).teams else None


def _envelope(seal: Seal, job: Job, team: str | None) -> Envelope:
    """The receivers and the name of the earlier job; sealed addresses are opened."""
    notify = []
    for receiver in job.notify:
        url = receiver.url
        if receiver.sealed is not None:
            url = seal.unseal(receiver.sealed, receiver.context)
        notify.append({"url": url, "secret": receiver.secret, "events": list(receiver.events)})
    return Envelope.model_validate(
        {
            "name": job.name,
            "experiment": job.experiment,
            "team": team,
            "labels": dict(job.labels),
            "notify": notify,
            "retry": job.retry.model_dump(),
            "resources": dict(job.resources),
            "hold": iso_duration(job.hold.length) if job.hold else None,
        }
    )
