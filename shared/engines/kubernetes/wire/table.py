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

    def annotation(self, name: str) -> str:
        """The annotation with that name; "" without one, or where the metadata were not requested."""
        annotations = self.metadata.get("annotations")
        value = annotations.get(name) if isinstance(annotations, dict) else None
        return value if isinstance(value, str) else ""


def rows_of(page: Mapping[str, Any]) -> Iterator[Row]:
    """The rows of a page, by the names of its columns.

    A row that cannot be read is left out: its object has to be read instead. Raises Transient if no row of a
    page can be read.
    """
    columns, rows = page.get("columnDefinitions"), page.get("rows")
    if page.get("kind") != "Table" or not isinstance(columns, list):
        raise Transient("Kubernetes sent no table where one was asked for")
    if not all(isinstance(column, dict) for column in columns) or not isinstance(rows or [], list):
        raise Transient("Kubernetes sent a table that cannot be read")
    names = [str(column.get("name")) for column in columns]
    has_none = bool(rows)
    for row in rows or ():
        cells = row.get("cells") if isinstance(row, dict) else None
        if isinstance(cells, list) and len(cells) == len(names):
            has_none = False
            yield Row(dict(zip(names, map(str, cells), strict=True)), _metadata(row.get("object")))
    if has_none:
        raise Transient("Kubernetes sent a table that cannot be read")


def _metadata(subject: Any) -> Mapping[str, Any]:
    """The metadata of a row; empty where there are none, or in another form."""
    metadata = subject.get("metadata") if isinstance(subject, dict) else None
    return metadata if isinstance(metadata, dict) else {}
