"""The calls for what a job wrote."""

from __future__ import annotations

import base64
import hashlib
from copy import copy
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import quote

import aiohttp

from slipway.client.calls.answers import (
    AddressPage,
    FileChunk,
    FilePage,
    LogChunk,
    address_page,
    following,
    listed,
    log_chunk,
    range_of,
)
from slipway.client.calls.refusal import Changed, Unanswered
from slipway.client.calls.wire import Calls, id_of
from slipway.failure import NO_ANSWER, Failure

if TYPE_CHECKING:
    from slipway.client import shapes

#: The path of what a job saved for its next attempt, in the list of its output directories.
SAVED = "$SLIPWAY_SAVED"


class OutputCalls(Calls):
    """The operations for a job's files, log and metrics. Each raises Failure."""

    #: the attempt whose files and logs are read; 0 for the current one
    attempt = 0

    def at_attempt(self, attempt: int) -> Self:
        """The same operations for the files and logs of one attempt; those of the current one for 0."""
        if not attempt:
            return self
        other = copy(self)
        other.attempt = attempt
        return other

    def _query(self, **parameters: str) -> dict[str, str]:
        """The parameters that are not empty, and the attempt."""
        parameters["attempt"] = str(self.attempt or "")
        return {name: value for name, value in parameters.items() if value}

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
        query = self._query(directory=directory, path=path, after=after)
        answer = await self._json("GET", f"jobs/{id_of(job_id)}/files", params=query)
        return FilePage(listed(answer["files"], f"{directory}/{path}"), following(answer, after))

    async def addresses(self, job_id: str, directory: str, path: str, after: str = "") -> AddressPage | None:
        """Addresses of a folder's files in storage, without this API; None if the directory has none."""
        query = self._query(directory=directory, path=path, after=after)
        answer = await self._json("GET", f"jobs/{id_of(job_id)}/addresses", params=query)
        return address_page(answer, after, secure=self._url.startswith("https://"))

    async def receipt(self, job_id: str) -> bytes:
        """The bytes of the job's receipt.json, as stored."""
        return await self._wire.ask("GET", f"jobs/{id_of(job_id)}/receipt", _whole)

    async def outputs(self, job_id: str) -> list[str]:
        """The ids of a job's output directories; the last one may be that of what it saved."""
        return [one["id"] for one in await self._outputs(job_id)]

    async def results(self, job_id: str) -> list[str]:
        """The same without what it saved for a next attempt."""
        return [one["id"] for one in await self._outputs(job_id) if one["path"] != SAVED]

    async def _outputs(self, job_id: str) -> list[dict[str, Any]]:
        answer = await self._json("GET", f"jobs/{id_of(job_id)}/outputs", params=self._query())
        return list(answer["outputs"])

    async def content(
        self, job_id: str, directory: str, path: str, first: int = 0, last: int | None = None, tag: str = ""
    ) -> FileChunk:
        """As much of a file from `first` on as one answer holds.

        Raises Changed if its tag differs, or if it ends before `first`. If `last` is less than `first`, no
        range is requested, because an empty file has none.
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
            if answer.status == 200 and first:  # the whole file, as of a proxy that takes no ranges
                if first >= size:
                    raise Changed(f"{path} has {size:,} bytes, none of them from {first:,} on")
                begins, data = first, data[first : None if last is None else last + 1]
            if begins != first:
                raise Failure(
                    f"{path}: bytes from {first:,} on were asked for, and the service sent others", NO_ANSWER
                )
            return FileChunk(data, size, answer.headers.get("ETag", ""))

        path = f"jobs/{id_of(job_id)}/files/{address}"
        return await self._wire.ask("GET", path, read, headers=headers, params=self._query())

    async def log(self, job_id: str, offset: int = 0, file: str = "") -> LogChunk:
        """A chunk of a log, by default of the job's standard output."""
        query = self._query(offset=str(offset), file=file)
        return await self._wire.ask("GET", f"jobs/{id_of(job_id)}/log", log_chunk, params=query)

    async def errors(self, job_id: str) -> shapes.ErrorEnds:
        """The last lines of standard error of some of the job's processes, and how many more there are."""
        path = f"jobs/{id_of(job_id)}/errors"
        answer: shapes.ErrorEnds = await self._json("GET", path, params=self._query())
        return answer

    async def metrics(self, job_id: str, after: str = "") -> shapes.Metrics:
        """The metrics that a job reported after the `next` of an earlier answer."""
        query = self._query(points="2000", after=after)
        path = f"jobs/{id_of(job_id)}/metrics"
        answer: shapes.Metrics = await self._json("GET", path, params=query)
        return answer


async def _whole(answer: aiohttp.ClientResponse) -> bytes:
    return await answer.read()
