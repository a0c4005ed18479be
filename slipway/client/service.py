"""The client of a running Slipway's HTTP API."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import aiohttp

from slipway.client.calls.answers import Body, Listed, settings_in
from slipway.client.calls.code import CodeCalls
from slipway.client.calls.ends import EndCalls
from slipway.client.calls.keys import key_for, keyed, new_key, repeatable
from slipway.client.calls.output import OutputCalls
from slipway.client.calls.refusal import Absent
from slipway.client.calls.waiting import WaitingCalls
from slipway.client.calls.wire import id_of, session
from slipway.client.deployment import credentials, find_deployment

if TYPE_CHECKING:
    from slipway.client import shapes

_PATIENCE = aiohttp.ClientTimeout(total=60)
#: Most jobs in one answer.
_PAGE = 200


class Service(OutputCalls, CodeCalls, EndCalls, WaitingCalls):
    """The operations of the API. Each raises Failure with the service's message and remedy.

    Each is repeated while no answer comes: what changes something has a key, or is harmless to repeat.
    """

    async def submit(
        self, document: bytes, key: str | None = None, file: str = "the document", name: str = ""
    ) -> shapes.AcceptedJob:
        """Submit a job and return the outcome. A refusal names the places in `file`.

        `name` is the job's name if the document has none, and `key` its key; without one it gets a new key.
        """
        answer: shapes.AcceptedJob = await self._submit("jobs", document, key, file, name)
        return answer

    async def submit_sweep(
        self, document: bytes, key: str | None = None, file: str = "the document", name: str = ""
    ) -> shapes.AcceptedSweep:
        """Submit a sweep and return it, as `submit` does."""
        answer: shapes.AcceptedSweep = await self._submit("sweeps", document, key, file, name)
        return answer

    async def _submit(self, path: str, document: bytes, key: str | None, file: str, name: str) -> Any:
        key, query = key_for(document, key or ""), {"name": name} if name else {}
        async with repeatable(key):
            headers, how = keyed(key), {"file": file, "submits": True}
            return await self._json("POST", path, data=document, headers=headers, params=query, **how)

    async def sweep(self, sweep_id: str) -> shapes.SweepDetail:
        """A sweep by its id. Raises Failure."""
        answer: shapes.SweepDetail = await self._json("GET", f"sweeps/{id_of(sweep_id)}")
        return answer

    async def rerun(
        self, job_id: str, receipt: bytes, key: str, *, resumes: bool = False
    ) -> shapes.AcceptedJob:
        """Run exactly the same again, from the beginning or from what the job saved."""
        path, query = f"jobs/{id_of(job_id)}/rerun", {"resume": "true"} if resumes else {}
        async with repeatable(key):
            answer: shapes.AcceptedJob = await self._json(
                "POST", path, submits=True, params=query, data=receipt, headers=keyed(key)
            )
            return answer

    async def explain(
        self, document: bytes, parameters: Mapping[str, str], key: str = ""
    ) -> shapes.Explanation:
        """What would happen to a document, sent with this idempotency key, without running it."""
        headers = keyed(key)
        answer: shapes.Explanation = await self._json(
            "POST", "explain", data=document, params=parameters, headers=headers
        )
        return answer

    async def jobs(self, conditions: Mapping[str, str] | None = None, limit: int = 50) -> Listed:
        """The newest jobs that meet the conditions, in as many pages as needed."""
        return await self._listed(conditions or {}, limit, whole=True)

    async def search(self, conditions: Mapping[str, str], limit: int) -> Listed:
        """The same, but what a search did not find within the bounds of one request is not looked for."""
        return await self._listed(conditions, limit, whole=False)

    async def _listed(self, conditions: Mapping[str, str], limit: int, *, whole: bool) -> Listed:
        jobs: list[dict[str, Any]] = []
        query = dict(conditions)
        following: str | None = None
        while len(jobs) < limit:
            query["limit"] = str(min(limit - len(jobs), _PAGE))
            page = await self._json("GET", "jobs", params=query)
            jobs += page["jobs"]
            following, searched_to = page.get("next"), page.get("searchedTo")
            if following and searched_to and not whole:
                return Listed(jobs, following, str(searched_to))
            if not following:
                break
            query["after"] = following
        return Listed(jobs, following)

    async def job(self, job_id: str) -> shapes.JobDetail:
        """A job by its id. Raises Failure."""
        answer: shapes.JobDetail = await self._json("GET", f"jobs/{id_of(job_id)}")
        return answer

    async def entry(self, job_id: str, rank: int, public_key: str = "") -> shapes.JobEntry:
        """Where the process of a rank runs now, with a certificate if the key gets one. Raises Failure."""
        document = {"rank": rank, **({"publicKey": public_key} if public_key else {})}
        body, headers = json.dumps(document), {"Content-Type": "application/json"}
        answer: shapes.JobEntry = await self._json(
            "POST", f"jobs/{id_of(job_id)}/entry", data=body, headers=headers
        )
        return answer

    async def pause(self, reason: str) -> shapes.PauseState:
        """Stop submissions to all clusters until `resume`. Raises Failure."""
        answer: shapes.PauseState = await self._json(
            "POST", "pause", params={"reason": reason} if reason else {}
        )
        return answer

    async def resume(self) -> shapes.PauseState:
        """Resume submissions after `pause`. Raises Failure."""
        answer: shapes.PauseState = await self._json("POST", "resume")
        return answer

    async def teams(self) -> shapes.TeamsDocument:
        """The document of teams and its version. Raises Failure."""
        answer: shapes.TeamsDocument = await self._json("GET", "teams")
        return answer

    async def usage(self, by: str = "") -> shapes.TeamsUsage:
        """The caller's teams with their quotas and their jobs' usage; `by` owner or experiment, too."""
        answer: shapes.TeamsUsage = await self._json("GET", "usage", params={"by": by} if by else {})
        return answer

    async def overview(self, parameters: Mapping[str, str]) -> shapes.Overview:
        """What runs, waits and failed, what is free, and what was used. Raises Failure."""
        answer: shapes.Overview = await self._json("GET", "overview", params=parameters)
        return answer

    async def put_teams(
        self, document: bytes, version: str, *, dry_run: bool = False, file: str = "the document"
    ) -> shapes.ChangedTeams:
        """Replace a version ("": any) of the document; returns the changes. A refusal names `file`."""
        query = ({"version": version} if version else {}) | ({"dryRun": "true"} if dry_run else {})
        headers = {"Content-Type": "application/json"}
        answer: shapes.ChangedTeams = await self._json(
            "PUT", "teams", file=file, data=document, params=query, headers=headers
        )
        return answer

    async def caller_id(self) -> str | None:
        """The caller's id; None for an unnamed function key."""
        identity: shapes.Identity = await self._json("GET", "me")
        return identity.get("id")

    async def settings(self) -> dict[str, str]:
        """The settings with which a client sends files there."""
        return settings_in(await self._json("GET", "settings"))

    async def version(self) -> str:
        """The version of Slipway that answers. Raises Failure, as for a wrong key."""
        return str(Body(Body(await self._json("GET", "openapi.json"))["info"])["version"])

    async def audit(self) -> shapes.AuditReport:
        """Every difference between drops, ledger, clusters and deliveries."""
        answer: shapes.AuditReport = await self._json("GET", "audit")
        return answer

    async def trail(self, conditions: Mapping[str, str]) -> shapes.Trail:
        """A page of the matching acts, newest first. Raises Failure."""
        answer: shapes.Trail = await self._json("GET", "trail", params=conditions)
        return answer

    async def clusters(self) -> list[shapes.ClusterState | shapes.SilentCluster]:
        """Every cluster in its current state."""
        return list((await self._json("GET", "clusters"))["clusters"])

    async def events(self, job_id: str) -> list[shapes.JobEvent]:
        """The events of a job, each with its tries."""
        return list((await self._json("GET", f"jobs/{id_of(job_id)}/events"))["events"])

    async def redeliver(self, what: str) -> list[str]:
        """Send an event (evt_…), or all events of a job, again; returns their ids."""
        kind = "events/{}/redeliver" if what.startswith("evt_") else "jobs/{}/events/redeliver"
        return list((await self._json("POST", kind.format(id_of(what))))["events"])

    async def test_receiver(self, url: str, secret: str) -> shapes.ReceiverTested:
        """Send a test to an address; returns its response. A repetition sends the same event."""
        body = json.dumps({"url": url, "secret": secret})
        answer: shapes.ReceiverTested = await self._json(
            "POST", "receivers/test", data=body, headers=keyed(new_key())
        )
        return answer

    async def disabled_receivers(self) -> list[shapes.DisabledReceiver]:
        """Addresses to which no more events are sent."""
        return list((await self._json("GET", "receivers/disabled"))["receivers"])

    async def dead(self) -> list[shapes.DeadOne]:
        """The dead letters."""
        return list((await self._json("GET", "dead"))["dead"])

    async def redrive(self, identity: str) -> str:
        """Send a dead letter again; returns whether it is a message or an event, or "gone".

        It is gone where the answer of the first try was lost, and the message was handled before the second.
        """
        path = f"dead/{id_of(identity, 'slipway dead list')}/redrive"
        try:
            return str((await self._json("POST", path))["kind"])
        except Absent as absent:
            if not absent.repeated:
                raise
            return "gone"


@asynccontextmanager
async def service(url: str, key: str = "", *, met: bool = False) -> AsyncIterator[Service]:
    """The API at a base URL, with a function key or an access token; without a URL that of `find_deployment`.

    `met`: it has answered before, so that it is waited for where nothing listens any more. Raises Failure.
    """
    deployment = await find_deployment(url, key.strip())
    headers = credentials(deployment.key)
    async with session(deployment.url, headers=headers, timeout=_PATIENCE) as http:
        yield Service(http, deployment.url, met=met)
