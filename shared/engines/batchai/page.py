"""A page of a list of jobs. Of the 1.9 KB of a job, only what `translation` reads becomes objects."""

from __future__ import annotations

import json
from typing import Any

from pydantic import GetCoreSchemaHandler, TypeAdapter
from pydantic_core import CoreSchema, core_schema
from typing_extensions import TypedDict

from shared.engines.batchai.code import TOKEN


class _Info(TypedDict, total=False):
    errors: Any
    exitCode: Any
    startTime: Any
    endTime: Any


class _Variable(TypedDict, total=False):
    name: Any
    value: Any


class _Nothing(TypedDict):
    """An object without its members."""


class _FirstVariable:
    """A list of variables of which only the first is read: 21 of them cost more than the rest of the job."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        rest = handler.generate_schema(_Nothing)
        return core_schema.tuple_schema([handler.generate_schema(_Variable), rest], variadic_item_index=1)


class _Properties(TypedDict, total=False):
    nodeCount: Any
    executionState: Any
    executionStateTransitionTime: Any
    provisioningState: Any
    jobOutputDirectoryPathSegment: Any
    executionInfo: _Info | None
    #: our jobs have the token of their attempt in the first one
    environmentVariables: _FirstVariable | None


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

    A page that pydantic refuses, or with a job whose first variable is not our token, is read by the standard
    library: pydantic accepts no lone surrogate, and the text of one job must not hide the others; the order
    of variables is the service's.
    """
    try:
        page = _PAGE.validate_json(body)
    except ValueError:
        return json.loads(body)
    return page if all(map(_is_read, page.get("value", ()))) else json.loads(body)


def _is_read(job: _Job) -> bool:
    """Whether the job's token was read, if it has one."""
    properties = job.get("properties")
    variables: Any = properties and properties.get("environmentVariables")
    return not variables or variables[0].get("name") == TOKEN
