"""The client of a running Slipway's HTTP API."""

import base64
import hashlib
import json
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import quote

import aiohttp

from slipway.client.answers import (
    AddressPage,
    Body,
    FileChunk,
    FilePage,
    Listed,
    LogChunk,
    address_page,
    following,
    listed,
    log_chunk,
    range_of,
    settings_in,
)
from slipway.client.deployment import find_deployment
from slipway.client.keys import key_for, keyed, new_key, repeatable
from slipway.client.refusal import Unanswered
from slipway.client.wire import Wire, session
from slipway.failure import Failure

#: A token has three parts with dots between them; no function key does.
_TOKEN = re.compile(r"eyJ[\w-]+\.[\w-]+\.[\w-]+", re.ASCII)
_PATIENCE = aiohttp.ClientTimeout(total=60)
#: Most jobs in one answer.
_PAGE = 200
#: Ids that are safe in a path: none leads to another path.
_ID = re.compile(r"[\w-]{1,100}", re.ASCII)


class Service:
    """The operations of the API. Each raises Failure with the service's message and remedy.

    Each is repeated while no answer comes: what changes something has a key, or is harmless to repeat.
    """

    def __init__(self, http: aiohttp.ClientSession, url: str, *, met: bool = False) -> None:
        self._url, self._wire = url, Wire(http, url, met=met)

    async def submit(
        self, document: bytes, key: str | None = None, file: str = "the document", name: str = ""
    ) -> dict[str, Any]:
        """Submit a job and return the outcome. A refusal names the places in `file`.

        `name` is the job's name if the document has none, and `key` its key; without one it gets a new key.
        """
        return await self._submit("jobs", document, key, file, name)

    async def submit_sweep(
        self, document: bytes, key: str | None = None, file: str = "the document", name: str = ""
    ) -> dict[str, Any]:
        """Submit a sweep and return it, as `submit` does."""
        return await self._submit("sweeps", document, key, file, name)

    async def _submit(
        self, path: str, document: bytes, key: str | None, file: str, name: str
    ) -> dict[str, Any]:
        key, query = key_for(document, key or ""), {"name": name} if name else {}
        async with repeatable(key):
            return await self._json("POST", path, file=file, data=document, headers=keyed(key), params=query)

    async def sweep(self, sweep_id: str) -> dict[str, Any]:
        """A sweep by its id. Raises Failure."""
        return await self._json("GET", f"sweeps/{_id(sweep_id)}")

    async def cancel_sweep(self, sweep_id: str) -> dict[str, Any]:
        """Cancel every job of a sweep. Raises Failure."""
        return await self._json("POST", f"sweeps/{_id(sweep_id)}/cancel")

    async def rerun(self, job_id: str, receipt: bytes, key: str) -> dict[str, Any]:
        """Run exactly the same again."""
        async with repeatable(key):
            return await self._json("POST", f"jobs/{_id(job_id)}/rerun", data=receipt, headers=keyed(key))

    async def explain(self, document: bytes, parameters: Mapping[str, str]) -> dict[str, Any]:
        """What would happen to a document, without running it."""
        headers = {"Content-Type": "application/json"}
        return await self._json("POST", "explain", data=document, params=parameters, headers=headers)

    async def jobs(self, conditions: Mapping[str, str] | None = None, limit: int = 50) -> Listed:
        """The newest jobs that meet the conditions, in as many pages as needed."""
        jobs: list[dict[str, Any]] = []
        query = dict(conditions or {})
        following: str | None = None
        while len(jobs) < limit:
            query["limit"] = str(min(limit - len(jobs), _PAGE))
            page = await self._json("GET", "jobs", params=query)
            jobs += page["jobs"]
            following = page.get("next")
            if not following:
                break
            query["after"] = following
        return Listed(jobs, following)

    async def job(self, job_id: str) -> dict[str, Any]:
        """A job by its id. Raises Failure."""
        return await self._json("GET", f"jobs/{_id(job_id)}")

    async def cancel(self, job_id: str) -> dict[str, Any]:
        """Cancel a job and return it as it is now. Raises Failure."""
        return await self._json("POST", f"jobs/{_id(job_id)}/cancel")

    async def pause(self, reason: str) -> dict[str, Any]:
        """Stop submissions to all clusters until `resume`. Raises Failure."""
        return await self._json("POST", "pause", params={"reason": reason} if reason else {})

    async def resume(self) -> dict[str, Any]:
        """Resume submissions after `pause`. Raises Failure."""
        return await self._json("POST", "resume")

    async def teams(self) -> dict[str, Any]:
        """The document of teams and its version. Raises Failure."""
        return await self._json("GET", "teams")

    async def usage(self) -> dict[str, Any]:
        """The caller's teams with their quotas and their jobs' usage. Raises Failure."""
        return await self._json("GET", "usage")

    async def put_teams(
        self, document: bytes, version: str, *, dry_run: bool = False, file: str = "the document"
    ) -> dict[str, Any]:
        """Replace a version ("": any) of the document; returns the changes. A refusal names `file`."""
        query = ({"version": version} if version else {}) | ({"dryRun": "true"} if dry_run else {})
        headers = {"Content-Type": "application/json"}
        return await self._json("PUT", "teams", file=file, data=document, params=query, headers=headers)

    async def caller_id(self) -> str | None:
        """The caller's id; None for an unnamed function key."""
        return (await self._json("GET", "me")).get("id")

    async def settings(self) -> dict[str, str]:
        """The settings with which a client sends files there."""
        return settings_in(await self._json("GET", "settings"))

    async def version(self) -> str:
        """The version of Slipway that answers. Raises Failure, as for a wrong key."""
        return str(Body(Body(await self._json("GET", "openapi.json"))["info"])["version"])

    async def audit(self) -> dict[str, Any]:
        """Every difference between drops, ledger, clusters and deliveries."""
        return await self._json("GET", "audit")

    async def trail(self, conditions: Mapping[str, str]) -> dict[str, Any]:
        """A page of the matching acts, newest first. Raises Failure."""
        return await self._json("GET", "trail", params=conditions)

    async def clusters(self) -> list[dict[str, Any]]:
        """Every cluster in its current state."""
        return list((await self._json("GET", "clusters"))["clusters"])

    async def files(self, job_id: str, directory: str, path: str = ".") -> list[dict[str, Any]]:
        """The files of one output directory, or of a folder in it, fetched page by page."""
        files, page = list[dict[str, Any]](), await self.files_page(job_id, directory, path)
        while page.next:
            files, page = (
                files + page.files,
                await self.files_page(job_id, directory, path, page.next),
            )
        return files + page.files

    async def files_page(self, job_id: str, directory: str, path: str, after: str = "") -> FilePage:
        """One page of these files: the one at the `next` of an earlier page."""
        query = {"directory": directory, "path": path} | ({"after": after} if after else {})
        answer = await self._json("GET", f"jobs/{_id(job_id)}/files", params=query)
        return FilePage(listed(answer["files"], f"{directory}/{path}"), following(answer, after))

    async def addresses(self, job_id: str, directory: str, path: str, after: str = "") -> AddressPage | None:
        """Addresses of a folder's files in storage, without this API; None if the directory has none."""
        query = {"directory": directory, "path": path} | ({"after": after} if after else {})
        answer = await self._json("GET", f"jobs/{_id(job_id)}/addresses", params=query)
        return address_page(answer, after, secure=self._url.startswith("https://"))

    async def receipt(self, job_id: str) -> bytes:
        """The bytes of the job's receipt.json, as stored."""
        return await self._wire.ask("GET", f"jobs/{_id(job_id)}/receipt", _whole)

    async def outputs(self, job_id: str) -> list[str]:
        """The ids of a job's output directories."""
        return [one["id"] for one in (await self._json("GET", f"jobs/{_id(job_id)}/outputs"))["outputs"]]

    async def content(
        self, job_id: str, directory: str, path: str, first: int = 0, last: int | None = None, tag: str = ""
    ) -> FileChunk:
        """As much of a file from `first` on as one answer holds. Raises Changed if its tag differs.

        If `last` is less than `first`, no range is requested, because an empty file has none.
        """
        headers = {"If-Match": tag} if tag else {}
        if last is None or last >= first:
            headers["Range"] = f"bytes={first}-{'' if last is None else last}"
        address = f"{quote(directory, safe='')}/{quote(path, safe='/')}"

        async def read(answer: aiohttp.ClientResponse) -> FileChunk:
            data = await answer.read()
            digest = base64.b64encode(hashlib.sha256(data).digest()).decode()
            if answer.headers.get("Content-Digest", f"sha-256=:{digest}:") != f"sha-256=:{digest}:":
                raise Unanswered("the bytes that arrived are not those that were sent")
            begins, size = range_of(answer, len(data))
            if begins != first:
                raise Failure(f"{path}: bytes from {first:,} on were asked for, and the service sent others")
            return FileChunk(data, size, answer.headers.get("ETag", ""))

        return await self._wire.ask("GET", f"jobs/{_id(job_id)}/files/{address}", read, headers=headers)

    async def log(self, job_id: str, offset: int = 0, file: str = "") -> LogChunk:
        """A chunk of a log, by default of the job's standard output."""
        query = {"offset": str(offset)} | ({"file": file} if file else {})
        return await self._wire.ask("GET", f"jobs/{_id(job_id)}/log", log_chunk, params=query)

    async def errors(self, job_id: str) -> dict[str, Any]:
        """The last lines of standard error of some of the job's processes, and how many more there are."""
        return await self._json("GET", f"jobs/{_id(job_id)}/errors")

    async def metrics(self, job_id: str, after: str = "") -> dict[str, Any]:
        """The metrics that a job reported after the `next` of an earlier answer."""
        query = {"points": "2000"} | ({"after": after} if after else {})
        return await self._json("GET", f"jobs/{_id(job_id)}/metrics", params=query)

    async def events(self, job_id: str) -> list[dict[str, Any]]:
        """The events of a job, each with its tries."""
        return list((await self._json("GET", f"jobs/{_id(job_id)}/events"))["events"])

    async def redeliver(self, what: str) -> list[str]:
        """Send an event (evt_…), or all events of a job, again; returns their ids."""
        kind = "events/{}/redeliver" if what.startswith("evt_") else "jobs/{}/events/redeliver"
        return list((await self._json("POST", kind.format(_id(what))))["events"])

    async def test_receiver(self, url: str, secret: str) -> dict[str, Any]:
        """Send a test to an address; returns its response. A repetition sends the same event."""
        body = json.dumps({"url": url, "secret": secret})
        return await self._json("POST", "receivers/test", data=body, headers=keyed(new_key()))

    async def disabled_receivers(self) -> list[dict[str, Any]]:
        """Addresses to which no more events are sent."""
        return list((await self._json("GET", "receivers/disabled"))["receivers"])

    async def dead(self) -> list[dict[str, Any]]:
        """The dead letters."""
        return list((await self._json("GET", "dead"))["dead"])

    async def redrive(self, identity: str) -> str:
        """Send a dead letter again; returns whether it is a message or an event."""
        return str((await self._json("POST", f"dead/{_id(identity, 'slipway dead list')}/redrive"))["kind"])

    async def _json(self, method: str, path: str, **options: Any) -> dict[str, Any]:
        async def read(answer: aiohttp.ClientResponse) -> dict[str, Any]:
            body = await answer.json()
            if not isinstance(body, dict):
                raise Failure(f"{self._url} answers, but not as Slipway's API does; does --url name it?")
            return Body(body)

        return await self._wire.ask(method, path, read, **options)


async def _whole(answer: aiohttp.ClientResponse) -> bytes:
    return await answer.read()


@asynccontextmanager
async def service(url: str, key: str = "", *, met: bool = False) -> AsyncIterator[Service]:
    """The API at a base URL, with a function key or an access token; without a URL that of `find_deployment`.

    `met`: it has answered before, so that it is waited for where nothing listens any more. Raises Failure.
    """
    headers: Mapping[str, str] = {}
    deployment = await find_deployment(url, key.strip())
    if key := deployment.key:
        if not key.isprintable():
            raise Failure("the key has control characters in it; give it with --key or SLIPWAY_KEY as it is")
        headers = {"Authorization": f"Bearer {key}"} if _TOKEN.fullmatch(key) else {"x-functions-key": key}
    async with session(deployment.url, headers=headers, timeout=_PATIENCE) as http:
        yield Service(http, deployment.url, met=met)


def _id(text: str, listed: str = "slipway jobs") -> str:
    if not _ID.fullmatch(text):
        raise Failure(f"{text[:80]!r} is not an id; `{listed}` shows them")
    return text
