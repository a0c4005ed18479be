"""The requests to one workspace, through the SDK's client, without an interpretation of the responses.

The SDK is imported at the first call, never at start.

Lists are parsed behind the SDK's pipeline without its models, which take eight times as long. Errors of the
SDK are passed on.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, quote, urlsplit

from shared.core.engine import Order
from shared.core.errors import NotFound
from shared.core.job import Target
from shared.engines.batchai.client import Workspace, address, connect
from shared.engines.batchai.errors import names_ours, names_resource, raise_for
from shared.engines.batchai.request import API, submission
from shared.engines.batchai.usage import DIRECTORY, have_reports, with_reports

#: The query parameter of a next link that holds the position in the list.
_TOKEN = "$skiptoken"  # noqa: S105 - the name of a parameter, not a secret


class Folder(NamedTuple):
    """Some entries of a folder; `next` is the `after` of those that follow, or ""."""

    entries: list[dict[str, Any]]
    next: str


class _Names(NamedTuple):
    """The names in the path of a job."""

    group: str
    workspace: str
    experiment: str
    name: str


class Calls:
    """One client, whose connections stay open, and the experiments that are known to exist."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._open: Any = None
        self._experiments: set[str] = set()

    async def close(self) -> None:
        """Close the connections; no other call is made after it."""
        if self._open is not None:
            await self._open.close()
            self._open = None

    async def ensure_experiment(self, experiment: str) -> None:
        """PUT the experiment, unless this process has done so."""
        if experiment in self._experiments:
            return
        workspace = self._workspace
        client = await self._client()
        await client.experiments.begin_create(workspace.group, workspace.name, experiment, polling=False)
        self._experiments.add(experiment)

    def forget_experiment(self, experiment: str) -> None:
        """PUT the experiment again before its next job."""
        self._experiments.discard(experiment)

    async def create(self, order: Order) -> dict[str, Any] | None:
        """The existing job when the service answered 200 with one, None for a fresh 202."""
        from azure.core.rest import HttpRequest

        body = submission(self._workspace, order)
        request = HttpRequest(body.method, body.path, json=body.body)
        answer = await (await self._client())._send_request(request, stream=False)
        raise_for(answer, 200, 202)
        text = answer.text()
        return dict(json.loads(text)) if answer.status_code == 200 and text else None

    def job_id(self, target: Target) -> str:
        """The ARM id of a job."""
        return f"{self._jobs(target.experiment)}/{target.name}"

    async def job(self, target: Target) -> dict[str, Any]:
        """The resource of a job, by a GET of its own."""
        return await self._json(self.job_id(target))

    async def terminate(self, target: Target) -> None:
        """POST terminate; does not wait for its end."""
        await (await self._client()).jobs.begin_terminate(*self._names(target), polling=False)

    async def delete(self, target: Target) -> None:
        """DELETE; does not wait for its end."""
        await (await self._client()).jobs.begin_delete(*self._names(target), polling=False)

    async def files(self, target: Target, directory: str, path: str, after: str) -> Folder:
        """Entries of one folder, with the reports of the nodes among those of standard output.

        Raises NotFound for a folder that does not exist.
        """
        if not have_reports(directory, path, after):
            return await self._files(target, directory, path, after)
        listed: Folder
        listed, reports = await asyncio.gather(
            self._files(target, directory, path, after), self._reports(target)
        )
        return listed._replace(entries=with_reports(listed.entries, reports))

    async def _reports(self, target: Target) -> list[dict[str, Any]]:
        """The reports of the job's nodes; none where the service or the job has no such directory."""
        from azure.core.exceptions import HttpResponseError

        try:
            return (await self._files(target, DIRECTORY, ".", "")).entries
        except NotFound:
            return []
        except HttpResponseError as error:
            if error.status_code in (400, 404):
                return []
            raise

    async def _files(self, target: Target, directory: str, path: str, after: str) -> Folder:
        """Entries of one folder of an output directory (listOutputFiles), and the `after` of the others.

        Raises NotFound for a folder that does not exist.
        """
        from azure.core.exceptions import ResourceNotFoundError

        query = {"outputdirectoryid": directory, "directory": path} | ({_TOKEN: after} if after else {})
        try:
            body = json.loads(await self._body(f"{self.job_id(target)}/listOutputFiles", query, "POST"))
        except ResourceNotFoundError as error:
            if names_resource(error):
                raise
            raise NotFound(f"there is no folder {directory}/{path}") from error
        following = dict(parse_qsl(urlsplit(body.get("nextLink") or "").query)).get(_TOKEN, "")
        return Folder(list(body["value"]), following if following != after else "")

    async def logins(self, target: Target) -> list[dict[str, Any]]:
        """Where the job's nodes answer ssh (listRemoteLoginInformation), the first of them first."""
        answer = json.loads(await self._body(f"{self.job_id(target)}/listRemoteLoginInformation", {}, "POST"))
        return list(answer["value"])

    async def cluster(self, name: str) -> dict[str, Any]:
        """The current resource of a cluster."""
        return await self._json(self._workspace.cluster_id(quote(name, safe="")))

    def experiments(self) -> AsyncIterator[list[dict[str, Any]]]:
        """All experiments of the workspace, page by page."""
        return self._pages(f"{self._workspace.id}/experiments")

    def jobs(
        self, experiment: str, parse: Callable[[bytes], Any] = json.loads
    ) -> AsyncIterator[list[dict[str, Any]]]:
        """All jobs of an experiment, in pages of 1000; `parse` reads a page, or the needed part of it."""
        return self._pages(self._jobs(experiment), parse)

    def _jobs(self, experiment: str) -> str:
        return f"{self._workspace.id}/experiments/{experiment}/jobs"

    async def _pages(
        self, first: str, parse: Callable[[bytes], Any] = json.loads
    ) -> AsyncIterator[list[dict[str, Any]]]:
        from azure.core.exceptions import ResourceNotFoundError

        url: str | None = first
        while url:
            try:
                page = parse(await self._body(url))
            except ResourceNotFoundError as error:
                if names_ours(error):
                    raise  # the answer shows nothing about any job
                return
            yield page["value"]
            url = page.get("nextLink")

    async def _json(self, url: str) -> dict[str, Any]:
        return dict(json.loads(await self._body(url)))

    async def _body(self, url: str, query: Mapping[str, str] | None = None, method: str = "GET") -> bytes:
        """Send a request through the SDK's pipeline (authentication, retries), without its models.

        The response is a stream, which `connect` has read to its end: the pipeline would parse any other kind
        needlessly.
        """
        from azure.core.rest import HttpRequest

        parameters = dict(query or {}) | ({} if "api-version=" in url else {"api-version": API})
        request = HttpRequest(method, address(url, parameters))
        answer = await (await self._client())._send_request(request, stream=True)
        raise_for(answer)
        return bytes(answer.content)

    def _names(self, target: Target) -> _Names:
        return _Names(self._workspace.group, self._workspace.name, target.experiment, target.name)

    async def _client(self) -> Any:
        if self._open is None:
            self._open = connect(self._workspace)
        return self._open
