"""A page of a list of jobs. Of the 1.9 KB of a job, only what `words` reads becomes objects."""

from __future__ import annotations

import json
from typing import Any

from pydantic import TypeAdapter
from typing_extensions import TypedDict


class _Info(TypedDict, total=False):
    errors: Any
    exitCode: Any
    startTime: Any
    endTime: Any


class _Variable(TypedDict, total=False):
    name: Any
    value: Any


class _Properties(TypedDict, total=False):
    nodeCount: Any
    executionState: Any
    executionStateTransitionTime: Any
    provisioningState: Any
    jobOutputDirectoryPathSegment: Any
    executionInfo: _Info | None
    #: the token of its attempt is among them
    environmentVariables: list[_Variable] | None


class _Job(TypedDict, total=False):
    id: Any
    name: Any
    properties: _Properties | None


class _Page(TypedDict, total=False):
    value: list[_Job]
    nextLink: str | None


_PAGE = TypeAdapter(_Page)


def page_of(body: bytes) -> Any:
    """The page. Raises ValueError for invalid JSON.

    A page that pydantic refuses is read by the standard library: pydantic accepts no lone surrogate, and the
    text of one job must not hide the others.
    """
    try:
        return _PAGE.validate_json(body)
    except ValueError:
        return json.loads(body)
