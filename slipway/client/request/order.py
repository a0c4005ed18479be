"""The jobs that a new one waits for: what `--after` and `--after-failure` add to its envelope."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from shared.jobspec import is_bare_job
from slipway.client.jobs.naming import job_id
from slipway.client.service import Service
from slipway.failure import Failure


@dataclass(frozen=True)
class Order:
    """Jobs that have to succeed first, and jobs that have to end without success first."""

    after: Sequence[str] = ()
    after_failure: Sequence[str] = ()

    async def ids(self, api: Service) -> "Order":
        """The same with ids. A job may be named as for any command. Raises Failure."""
        after = [await job_id(api, job) for job in self.after]
        return Order(after, [await job_id(api, job) for job in self.after_failure])

    @property
    def members(self) -> dict[str, list[str]]:
        """The members for the envelope; empty if there are none."""
        members = {"after": list(self.after), "afterFailure": list(self.after_failure)}
        return {name: jobs for name, jobs in members.items() if jobs}


def in_order(document: Mapping[str, Any], order: Order) -> dict[str, Any]:
    """An envelope, or a job.json in an envelope, that waits for these jobs, too."""
    if not order.members:
        return dict(document)
    envelope = {"spec": document} if is_bare_job(document) else document
    return {**envelope, **joined(envelope, order.members)}


def joined(envelope: Mapping[str, Any], members: Mapping[str, list[str]]) -> dict[str, Any]:
    """The members, after the jobs that the envelope already names."""
    return {name: list(dict.fromkeys([*_jobs(envelope, name), *jobs])) for name, jobs in members.items()}


def text_in_order(text: bytes, order: Order) -> bytes:
    """The same for the text of a document; its lines stay where they are.

    Raises Failure if it is not such a document, or already names jobs.
    """
    if not order.members:
        return text
    try:
        document = json.loads(text.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise Failure("the document is not a JSON object; correct it: slipway validate FILE")
    if "specversion" in document or document.keys() & order.members.keys():
        raise Failure("the document is an event, or names jobs to wait for; add the jobs there")
    members = json.dumps(order.members, ensure_ascii=False).encode()[1:-1]
    begin = text.index(b"{")
    if is_bare_job(document):
        return b"{" + members + b', "spec": ' + text[begin:].rstrip() + b"}"
    return b"{" + members + b", " + text[begin + 1 :]


def _jobs(envelope: Mapping[str, Any], name: str) -> list[Any]:
    """The envelope's list of this name. Raises Failure if it is not a list."""
    jobs = envelope.get(name, [])
    if not isinstance(jobs, list):
        raise Failure(f'"{name}" has to be a list of jobs')
    return jobs
