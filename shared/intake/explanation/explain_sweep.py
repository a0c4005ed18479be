"""explain_sweep: what would happen to a sweep, by the answer for its first job. Records nothing."""

from __future__ import annotations

from dataclasses import replace

from shared.core.job_sweeps.record import sweep_id
from shared.core.ports import Ports
from shared.intake.candidate import Candidate
from shared.intake.desk.draft import Draft, draft_again
from shared.intake.explanation.explain import explain
from shared.intake.generations import key_holder
from shared.jobspec import JsonObject, combinations, filled, text_of

_SAME_KEY = (
    "another request of the same caller with this Idempotency-Key joins the sweep; "
    "with another document it is refused"
)


async def explain_sweep(ports: Ports, draft: Draft, *, keyed: bool = True, live: bool = True) -> JsonObject:
    """The answer for the first of its jobs, and in `sweep` how many there are.

    `keyed` and `live` are those of `explain`. The ids of the jobs are not known before there is a sweep.
    """
    candidate = draft.candidate
    envelope = candidate.request.envelope
    every = combinations(envelope.sweep or {})
    total, values = len(every), every[0]
    parallel = min(envelope.parallel or total, total)
    key = candidate.place.key
    identity = sweep_id(key) if keyed and live else None
    existing = await ports.job_sweeps.get(identity) if identity else None
    first = await draft_again(ports, _first(candidate, values, total), live=live)
    body = await explain(ports, first, keyed=False, live=live)
    shown = ", ".join(f"{name}={text_of(value)}" for name, value in values.items())
    jobs = f"{total} jobs, at most {parallel} at once" if total > 1 else "1 job"
    summary = f"A sweep of {jobs}; this is the first, with {shown}. {body['summary']}"
    if keyed:
        body["job"]["duplicates"] = _SAME_KEY
    members: JsonObject = {"jobs": total, "parallel": parallel, "values": values, "existing": None}
    if existing is not None and existing.sweep.payload == candidate.request.payload:
        members["existing"] = existing.sweep.id
        summary = f"Nothing would run: it would join the sweep {existing.sweep.id}."
        body["verdict"] = "duplicate"
    elif existing is not None:
        summary = f"It would be refused: its idempotency key belongs to the sweep {existing.sweep.id}."
        body["verdict"] = "refused"
    elif identity and (holder := (await key_holder(ports, key)).stored) is not None:
        summary = f"It would be refused: its idempotency key belongs to job {holder.job.id}."
        body["verdict"] = "refused"
    return body | {"summary": summary, "sweep": members}


def _first(candidate: Candidate, values: JsonObject, total: int) -> Candidate:
    """The first job, with the name and the experiment that it would have."""
    request = candidate.request
    envelope, document = request.envelope, request.document
    name = envelope.name or candidate.name
    number = "0" * len(str(total - 1))
    own = {"name": f"{name[: 63 - len(number)]}-{number}"} if name else {}
    own |= {"experiment": envelope.experiment or name} if name else {}
    return replace(
        candidate,
        request=replace(
            request,
            envelope=envelope.model_copy(update={**own, "sweep": None, "parallel": None}),
            document=filled(document, values) if document is not None else None,
        ),
    )
