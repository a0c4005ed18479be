"""A list as the server prints it: one row for each object, with names and words only. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from shared.core.errors import Transient

#: The Accept header. A server that cannot print rows sends objects, which are refused.
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"


class Row(NamedTuple):
    """One object: column → text, and its metadata if requested."""

    words: Mapping[str, str]
    metadata: Mapping[str, Any]

    @property
    def name(self) -> str:
        """The name, which every table has."""
        return self.words.get("Name", "")


def rows_of(page: Mapping[str, Any]) -> Iterator[Row]:
    """The rows of a page, by the names of its columns. Raises Transient if it has none."""
    columns, rows = page.get("columnDefinitions"), page.get("rows")
    if page.get("kind") != "Table" or not isinstance(columns, list):
        raise Transient("Kubernetes sent no table where one was asked for")
    names = [str(column.get("name")) for column in columns]
    for row in rows or ():
        cells = row.get("cells")
        if not isinstance(cells, list) or len(cells) != len(names):
            raise Transient("Kubernetes sent a table that cannot be read")
        metadata = (row.get("object") or {}).get("metadata") or {}
        yield Row(dict(zip(names, map(str, cells), strict=True)), metadata)
