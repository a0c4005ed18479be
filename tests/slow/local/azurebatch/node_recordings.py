"""The recordings of Microsoft's client for Node.js, of March 2020: each call, and what was answered."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tests.slow.local.azurebatch.test_replay import FOLDER

OLD = FOLDER / "node-batch" / "test" / "recordings" / "batchservice-tests"
_CALL = re.compile(
    r"\.(get|post|put|patch|delete|head)\('([^']*)'(?:, '\*')?\)\s*"
    r"\.reply\((\d+), (\"(?:[^\"\\]|\\.)*\")(?:, (\{.*?\}))?\)",
    re.DOTALL,
)
_HEADER = re.compile(r"^[\s{]*'?([a-z-]+)'?:(?=\s)", re.MULTILINE)
#: Headers that clients read; the others are of the server that sends them.
READ = frozenset(
    {"etag", "last-modified", "location", "dataserviceid", "dataserviceversion", "request-id", "content-type"}
    | {"ocp-creation-time", "ocp-batch-file-isdirectory", "ocp-batch-file-url"}
)


@dataclass(frozen=True)
class Old:
    """A call as it is named here, and what was answered."""

    call: str
    status: int
    headers: frozenset[str]
    body: Any

    @property
    def name(self) -> str:
        return f"{self.call} {self.status}"


def document(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def recorded() -> Iterator[Old]:
    for file in sorted(OLD.glob("*.nock.js")):
        for method, url, status, text, headers in _CALL.findall(file.read_text()):
            path = re.sub(r"api-version=[^&]*&?", "", re.sub(r"tvmps_\w+", "NODE", url))
            path = re.sub(r"(\$skiptoken)=.*", r"\1=", path).rstrip("?&")
            names = frozenset(_HEADER.findall(headers)) & READ
            yield Old(f"{method.upper()} {path}", int(status), names, document(json.loads(text)))
