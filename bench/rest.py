"""The storage by raw HTTP with nothing around it: the floor under every client. SharedKey, one session."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import uuid
from collections.abc import Sequence
from datetime import UTC, datetime
from email.utils import format_datetime
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote
from xml.sax.saxutils import escape

import aiohttp

_VERSION = "2021-12-02"


class Raw:
    """One account; only what the journey needs. Any unexpected status raises."""

    def __init__(self, connection_string: str) -> None:
        parts = dict(part.partition("=")[::2] for part in connection_string.split(";") if part)
        self.account = parts["AccountName"]
        self._key = base64.b64decode(parts["AccountKey"])
        self.queue, self.table = parts["QueueEndpoint"].rstrip("/"), parts["TableEndpoint"].rstrip("/")

    async def __aenter__(self) -> Self:
        # Azurite closes an idle connection after 5 s; a request on it would be lost.
        connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=4)
        self._session = aiohttp.ClientSession(connector=connector, auto_decompress=False)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._session.close()

    async def make_queue(self, name: str) -> None:
        """Create a queue, if it is not there."""
        await self._queue("PUT", f"/{name}", "")

    async def put(self, queue: str, body: bytes) -> None:
        """Send one message, in base64 as the Functions host expects it."""
        text = base64.b64encode(body).decode()
        data = f"<QueueMessage><MessageText>{escape(text)}</MessageText></QueueMessage>"
        await self._queue("POST", f"/{queue}/messages", "messagettl:-1", data.encode(), "messagettl=-1")

    async def receive(self, queue: str) -> list[tuple[str, str]]:
        """Up to 32 messages: id and pop receipt."""
        canonical = "numofmessages:32\nvisibilitytimeout:60"
        query = canonical.replace(":", "=").replace("\n", "&")
        text = (await self._queue("GET", f"/{queue}/messages", canonical, None, query)).decode()
        parts = text.split("<QueueMessage>")[1:]
        return [(_element_text(one, "MessageId"), _element_text(one, "PopReceipt")) for one in parts]

    async def delete(self, queue: str, message: tuple[str, str]) -> None:
        """Delete one message that was received."""
        path = f"/{queue}/messages/{message[0]}"
        await self._queue(
            "DELETE", path, f"popreceipt:{message[1]}", None, f"popreceipt={quote(message[1], safe='')}"
        )

    async def make_table(self, name: str) -> None:
        """Create a table, if it is not there."""
        await self._table("POST", "/Tables", json.dumps({"TableName": name}).encode())

    async def insert(self, table: str, row: dict[str, Any]) -> str:
        """A new entity; its ETag."""
        return await self._table("POST", f"/{table}", json.dumps(row).encode())

    async def merge(self, table: str, partition: str, key: str, row: dict[str, Any], etag: str) -> str:
        """A changed entity; its ETag."""
        path = f"/{table}(PartitionKey='{partition}',RowKey='{key}')"
        return await self._table("MERGE", path, json.dumps(row).encode(), {"If-Match": etag})

    async def _queue(
        self, verb: str, path: str, canonical: str, body: bytes | None = None, query: str = ""
    ) -> bytes:
        date = format_datetime(datetime.now(UTC), usegmt=True)
        length = str(len(body)) if body else ""
        kind = "application/xml" if body else ""
        lines = [verb, "", "", length, "", kind, *[""] * 6, f"x-ms-date:{date}", f"x-ms-version:{_VERSION}"]
        resource = f"/{self.account}/{self.account}{path}" + (f"\n{canonical}" if canonical else "")
        headers = {
            "x-ms-date": date,
            "x-ms-version": _VERSION,
            "Authorization": self._signed([*lines, resource]),
        }
        if body:
            headers["Content-Type"] = kind
        from yarl import URL

        url = URL(f"{self.queue}{path}" + (f"?{query}" if query else ""), encoded=True)
        async with self._session.request(
            verb, url, data=body, headers=headers, skip_auto_headers=("Content-Type",)
        ) as answer:
            text = await answer.read()
            if answer.status >= 300:
                raise RuntimeError(f"{verb} {path}: {answer.status} {text[:300]!r}")
            return text

    async def _table(self, verb: str, path: str, body: bytes, extra: dict[str, str] | None = None) -> str:
        date = format_datetime(datetime.now(UTC), usegmt=True)
        signature = self._signed([date, f"/{self.account}/{self.account}{path}"], scheme="SharedKeyLite")
        headers = {
            "x-ms-date": date,
            "x-ms-version": "2019-02-02",
            "Authorization": signature,
            "Content-Type": "application/json",
            "Accept": "application/json;odata=nometadata",
            "Prefer": "return-no-content",
            "x-ms-client-request-id": uuid.uuid4().hex,
            **(extra or {}),
        }
        from yarl import URL

        async with self._session.request(
            verb, URL(self.table + path, encoded=True), data=body, headers=headers
        ) as answer:
            text = await answer.read()
            if answer.status >= 300:
                raise RuntimeError(f"{verb} {path}: {answer.status} {text[:300]!r}")
            return answer.headers.get("ETag", "")

    def _signed(self, lines: Sequence[str], scheme: str = "SharedKey") -> str:
        digest = hmac.new(self._key, "\n".join(lines).encode(), hashlib.sha256).digest()
        return f"{scheme} {self.account}:{base64.b64encode(digest).decode()}"


def _element_text(text: str, name: str) -> str:
    return text.partition(f"<{name}>")[2].partition(f"</{name}>")[0]
