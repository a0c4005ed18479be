"""The HTTP API of a running Slipway, from the outside."""

import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import aiohttp

from cli.failure import Failure

#: Three parts with dots between, as no function key has them.
_TOKEN = re.compile(r"eyJ[\w-]+\.[\w-]+\.[\w-]+", re.ASCII)
_PATIENCE = aiohttp.ClientTimeout(total=60)


@dataclass(frozen=True)
class LogPart:
    """A part of a log; read on at `next` while `more`."""

    data: bytes
    next: int
    more: bool


class Service:
    """The verbs of the API. Each raises Failure with what the service said, and its remedy."""

    def __init__(self, session: aiohttp.ClientSession, url: str) -> None:
        self._session = session
        self._url = url

    async def submit(self, document: bytes, key: str | None = None) -> dict[str, Any]:
        """Ask for a job; what became of it, a refusal included."""
        headers = {"Content-Type": "application/json"} | ({"Idempotency-Key": key} if key else {})
        return await self._json("POST", "jobs", data=document, headers=headers)

    async def rerun(self, job_id: str, receipt: bytes, key: str) -> dict[str, Any]:
        """Ask for exactly the same again."""
        headers = {"Content-Type": "application/json", "Idempotency-Key": key}
        return await self._json("POST", f"jobs/{job_id}/rerun", data=receipt, headers=headers)

    async def explain(self, document: bytes, asked: Mapping[str, str]) -> dict[str, Any]:
        """What would happen with a document; nothing does."""
        headers = {"Content-Type": "application/json"}
        return await self._json("POST", "explain", data=document, params=asked, headers=headers)

    async def jobs(self, state: str = "", limit: int = 50) -> list[dict[str, Any]]:
        """Newest first."""
        asked = {"limit": str(limit)} | ({"state": state} if state else {})
        found: list[dict[str, Any]] = (await self._json("GET", "jobs", params=asked))["jobs"]
        return found

    async def job(self, job_id: str) -> dict[str, Any]:
        """One job."""
        return await self._json("GET", f"jobs/{job_id}")

    async def cancel(self, job_id: str) -> dict[str, Any]:
        """Ask for its end."""
        return await self._json("POST", f"jobs/{job_id}/cancel")

    async def pause(self, reason: str) -> dict[str, Any]:
        """Stop submissions."""
        return await self._json("POST", "pause", params={"reason": reason})

    async def resume(self) -> dict[str, Any]:
        """Let them go on."""
        return await self._json("POST", "resume")

    async def audit(self) -> dict[str, Any]:
        """Every difference between drops, ledger, clusters and deliveries."""
        return await self._json("GET", "audit")

    async def clusters(self) -> list[dict[str, Any]]:
        """Every cluster as it is now."""
        found: list[dict[str, Any]] = (await self._json("GET", "clusters"))["clusters"]
        return found

    async def files(self, job_id: str, directory: str) -> list[dict[str, Any]]:
        """The files of one output directory."""
        asked = {"directory": directory}
        found: list[dict[str, Any]] = (await self._json("GET", f"jobs/{job_id}/files", params=asked))["files"]
        return found

    async def log(self, job_id: str, offset: int = 0, file: str = "") -> LogPart:
        """A part of a log, by default of the job's standard output."""
        asked = {"offset": str(offset)} | ({"file": file} if file else {})
        async with self._answer("GET", f"jobs/{job_id}/log", params=asked) as answer:
            headers = answer.headers
            more = headers["Slipway-More"] == "true"
            return LogPart(await answer.read(), int(headers["Slipway-Next-Offset"]), more)

    async def events(self, job_id: str) -> list[dict[str, Any]]:
        """The events of a job, each with its tries."""
        found: list[dict[str, Any]] = (await self._json("GET", f"jobs/{job_id}/events"))["events"]
        return found

    async def redeliver(self, what: str) -> list[str]:
        """Send an event (evt_…) or all of a job's again; their ids."""
        path = f"events/{what}/redeliver" if what.startswith("evt_") else f"jobs/{what}/events/redeliver"
        again: list[str] = (await self._json("POST", path))["events"]
        return again

    async def test_receiver(self, url: str, secret: str) -> dict[str, Any]:
        """Send a test to an address; what it answered."""
        return await self._json("POST", "receivers/test", json={"url": url, "secret": secret})

    async def disabled_receivers(self) -> list[dict[str, Any]]:
        """Addresses that get no more events."""
        found: list[dict[str, Any]] = (await self._json("GET", "receivers/disabled"))["receivers"]
        return found

    async def dead(self) -> list[dict[str, Any]]:
        """What no try could process or deliver."""
        found: list[dict[str, Any]] = (await self._json("GET", "dead"))["dead"]
        return found

    async def redrive(self, identity: str) -> str:
        """Send it on its way again; whether it is a message or an event."""
        return str((await self._json("POST", f"dead/{identity}/redrive"))["kind"])

    async def _json(self, method: str, path: str, **options: Any) -> dict[str, Any]:
        async with self._answer(method, path, **options) as answer:
            body: dict[str, Any] = await answer.json()
            return body

    @asynccontextmanager
    async def _answer(self, method: str, path: str, **options: Any) -> AsyncIterator[aiohttp.ClientResponse]:
        try:
            async with self._session.request(method, f"{self._url}/api/{path}", **options) as answer:
                if answer.status >= 400:
                    raise Failure(await _refusal(answer))
                yield answer
        except (aiohttp.ClientError, TimeoutError, aiohttp.InvalidURL) as error:
            raise Failure(
                f"no answer from {self._url}: {type(error).__name__}; "
                "is it running (`slipway up`), and does --url name it?"
            ) from error


@asynccontextmanager
async def service(url: str, key: str = "") -> AsyncIterator[Service]:
    """The API at a base URL, with a function key or an access token where one is needed."""
    headers: Mapping[str, str] = {}
    if key:
        headers = {"Authorization": f"Bearer {key}"} if _TOKEN.fullmatch(key) else {"x-functions-key": key}
    async with aiohttp.ClientSession(headers=headers, timeout=_PATIENCE) as session:
        yield Service(session, url.rstrip("/"))


async def _refusal(answer: aiohttp.ClientResponse) -> str:
    """A problem document in lines for a person; what is not one, by its status."""
    if answer.status == 401:
        return "refused (401): a function key or an access token is needed; give it with --key or SLIPWAY_KEY"
    try:
        problem = await answer.json(content_type=None)
        said = f"{problem['detail']}; {problem['remedy']}"
        errors = problem.get("errors", [])
    except (ValueError, KeyError, TypeError):
        return f"the service answered {answer.status} {answer.reason}"
    return "\n".join([said, *(_line(error) for error in errors)])


def _line(problem: Mapping[str, Any]) -> str:
    where = problem.get("pointer") or "the document"
    told = f"  {problem.get('severity')} {problem.get('code')} {where}: {problem.get('message')}"
    remedy = problem.get("remedy")
    return f"{told}\n      {remedy}" if remedy else told
