"""The table service by REST: entity-group transactions, point reads, ranges.

Source: learn.microsoft.com/rest/api/storageservices/performing-entity-group-transactions.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime
from typing import Any
from urllib.parse import quote

from pydantic_core import from_json

from shared.adapters.storage.table import ETAG, Operation, Range, Refused, Row, VersionedRow
from shared.adapters.storage.wire.connection import Account
from shared.core.errors import Misuse, Unavailable

_JSON = "application/json;odata=nometadata"
_VERBS = {"create": "POST", "replace": "PUT", "merge": "PATCH", "upsert": "PATCH", "delete": "DELETE"}
_GUARDED = ("replace", "merge", "delete")
_STATUS = re.compile(rb"\nHTTP/1\.1 (\d{3})")
_ETAG = re.compile(rb"\n[Ee][Tt][Aa][Gg]: *([^\r\n]+)")
_CODE = re.compile(rb'"code" *: *"(\w+)"')
#: Statuses about the rows of the request, as opposed to the request itself or the state of the service.
_ABOUT_ROWS = (404, 409, 412)
_TOO_LARGE = frozenset({b"EntityTooLarge", b"PropertyValueTooLarge", b"RequestBodyTooLarge"})


class RestTable:
    """One table of an account."""

    def __init__(self, account: Account, name: str) -> None:
        self.name = name
        self._rest = account.tables

    async def make(self) -> bool:
        """Create it. Returns whether it is new."""
        body = json.dumps({"TableName": self.name}).encode()
        headers = {"Content-Type": "application/json", "Accept": _JSON, "Prefer": "return-no-content"}
        answer = await self._rest.call("POST", "/Tables", headers=headers, body=body, expected=(409,))
        return answer.status != 409

    async def get(self, partition: str, row: str) -> VersionedRow | None:
        """A point read; a missing table reads as empty."""
        path = self._path({"PartitionKey": partition, "RowKey": row})
        answer = await self._rest.call("GET", path, headers={"Accept": _JSON}, expected=(404,))
        if answer.status == 404:
            return None
        entity = from_json(answer.body)
        return VersionedRow(entity, answer.headers["etag"], datetime.fromisoformat(entity["Timestamp"]))

    async def rows(self, key_range: Range) -> list[Row]:
        """A range query, page after page."""
        query = {"$filter": _filter(key_range)}
        if key_range.select:
            query["$select"] = ",".join(key_range.select)
        if key_range.limit:
            query["$top"] = str(key_range.limit)
        entities: list[Row] = []
        async for page in self.pages(query):
            if key_range.etags:
                for row in page:
                    row[ETAG] = _etag(row["Timestamp"])
            entities += page
            if 0 < key_range.limit <= len(entities):
                return entities[: key_range.limit]
        return entities

    async def pages(self, query: Mapping[str, str]) -> AsyncIterator[list[Row]]:
        """The rows that fit a query, all of them without one, page after page; a missing table has none."""
        after: dict[str, str] = {}
        while True:
            answer = await self._rest.call(
                "GET", f"/{self.name}()", {**query, **after}, headers={"Accept": _JSON}, expected=(404,)
            )
            if answer.status == 404:
                return
            yield from_json(answer.body)["value"]
            after = {
                name: answer.headers[f"x-ms-continuation-{name.lower()}"]
                for name in ("NextPartitionKey", "NextRowKey")
                if f"x-ms-continuation-{name.lower()}" in answer.headers
            }
            if not after:
                return

    async def transact(self, operations: Sequence[Operation]) -> list[str]:
        """Send the operations as one transaction, in one POST to $batch."""
        name = os.urandom(16).hex()
        headers = {"Content-Type": f"multipart/mixed; boundary=batch_{name}", "Accept": _JSON}
        body = self._batch(operations, name)
        answer = await self._rest.call("POST", "/$batch", headers=headers, body=body)
        parts = answer.body.split(b"--changesetresponse_")[1:-1]
        statuses = [int(match[1]) if (match := _STATUS.search(part)) else 0 for part in parts]
        for status, part in zip(statuses, parts, strict=True):
            if not 200 <= status < 300:
                raise _refusal(status, part)
        if len(parts) != len(operations):
            raise Unavailable(f"storage answered {len(parts)} of {len(operations)} operations")
        return [match[1].decode() if (match := _ETAG.search(part)) else "" for part in parts]

    def _batch(self, operations: Sequence[Operation], name: str) -> bytes:
        parts = [
            f"--batch_{name}\r\nContent-Type: multipart/mixed; boundary=changeset_{name}\r\n\r\n".encode()
        ]
        for operation in operations:
            path = f"/{self.name}" if operation.verb == "create" else self._path(operation.row)
            guard = f"If-Match: {operation.etag}\r\n" if operation.verb in _GUARDED else ""
            body = b"" if operation.verb == "delete" else operation.body
            head = (
                f"--changeset_{name}\r\n"
                "Content-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n"
                f"{_VERBS[operation.verb]} {self._rest.base}{path} HTTP/1.1\r\n"
                f"Content-Type: application/json\r\nAccept: {_JSON}\r\nPrefer: return-no-content\r\n"
                f"DataServiceVersion: 3.0\r\nContent-Length: {len(body)}\r\n{guard}\r\n"
            )
            parts += [head.encode(), body, b"\r\n"]
        parts.append(f"--changeset_{name}--\r\n--batch_{name}--\r\n".encode())
        return b"".join(parts)

    def _path(self, row: Row) -> str:
        partition, key = _written(row["PartitionKey"]), _written(row["RowKey"])
        return f"/{self.name}(PartitionKey='{partition}',RowKey='{key}')"


def _written(key: str) -> str:
    """A key as an address has it. Ours mostly need no more than another bar."""
    if key.isascii() and key.replace("|", "").replace("_", "").isalnum():
        return key.replace("|", "%7C")
    return quote(key.replace("'", "''"), safe="")


def _etag(timestamp: str) -> str:
    """The version of a row in a listing without metadata, from its timestamp, as in azure-data-tables."""
    return f"W/\"datetime'{timestamp.replace(':', '%3A')}'\""


def _refusal(status: int, part: bytes) -> Exception:
    """The error for the caller, from the first part that failed."""
    code: Any = match[1] if (match := _CODE.search(part)) else b""
    if status == 413 or code in _TOO_LARGE:
        return Misuse("the record is larger than a table entity may be", status=413, remedy="shorten it")
    if status in _ABOUT_ROWS:
        return Refused(status)
    return Unavailable(f"storage answered {status} {code.decode()}".rstrip())


def _filter(key_range: Range) -> str:
    column, value = key_range.equal
    conditions = [
        _condition("PartitionKey", "eq", key_range.partition),
        _condition("RowKey", "ge", key_range.first) if key_range.first else "",
        _condition("RowKey", "lt", key_range.last) if key_range.last else "",
        _condition(column, "eq", value) if column else "",
    ]
    if key_range.due:
        any_of = [_condition("Due", "le", key_range.due)]
        any_of += [_condition("Due", "gt", key_range.beyond)] if key_range.beyond else []
        any_of += [_condition("RowKey", "lt", key_range.due_from)] if key_range.due_from else []
        conditions.append(f"({' or '.join(any_of)})")
    return " and ".join(condition for condition in conditions if condition)


def _condition(column: str, relation: str, value: str) -> str:
    return f"{column} {relation} '{value.replace(chr(39), chr(39) * 2)}'"
