"""The resources of a job on its cluster: how much of each node, and which nodes. Pure.

The engine decides which of them a cluster allows.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field, ValidationError

from shared.jobspec.format.base import Model, Text
from shared.jobspec.problems.codes import problem
from shared.jobspec.problems.problem import Problem
from shared.jobspec.text.tree import JsonObject, Node, quote, step

_MEMORY = re.compile(r"([1-9][0-9]{0,6})([MGT])", re.ASCII)
_MEBIBYTES = {"M": 1, "G": 1024, "T": 1024 * 1024}
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@-]{0,127}", re.ASCII)
#: Features of nodes with the signs that join them, as schedulers write them: a100&nvlink, [rack1|rack2].
_CONSTRAINT = re.compile(r"[A-Za-z0-9_\[(][A-Za-z0-9_.:,*&|()\[\]-]{0,255}", re.ASCII)
_OPTION = re.compile(r"[a-z][a-z0-9_]{0,63}", re.ASCII)
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
#: Characters of `options`, as JSON.
_MOST_OPTIONS = 2048


class Resources(Model):
    """The resources of a job. The cluster decides about those that are not named."""

    #: whether it gets whole nodes
    exclusive: Literal[True] | None = None
    #: of each node: GPUs, their type, CPUs, memory ("16G")
    gpus: Annotated[int, Field(ge=0, le=1024)] | None = None
    gpu_type: Text | None = None
    cpus: Annotated[int, Field(ge=1, le=65_536)] | None = None
    memory: Text | None = None
    #: features that the nodes must have
    constraint: Text | None = None
    partition: Text | None = None
    account: Text | None = None
    qos: Text | None = None
    reservation: Text | None = None
    #: further members of the job, in the terms of the cluster's own interface
    options: dict[str, Any] | None = None

    def as_written(self) -> JsonObject:
        """The named resources, as they were written."""
        return self.model_dump(by_alias=True, exclude_none=True)


#: Every resource, by the name that people write.
RESOURCES = tuple(str(field.alias or name) for name, field in Resources.model_fields.items())
#: The resources with which a job shares its nodes with others.
SHARE = ("gpus", "cpus", "memory")
_NAMES = ("gpuType", "partition", "account", "qos", "reservation")


def resource_problems(document: Any) -> list[Problem]:
    """All problems of `resources`, beyond the shape, which is checked with the envelope."""
    root = Node("/resources", document)
    return [*_excluded(root), *_memory(root), *_names(root), *_options(root.member("options"))]


class ReadResources(NamedTuple):
    """Resources as written, none if their shape is wrong; and all their problems."""

    resources: JsonObject
    problems: list[Problem]


def read_resources(document: Any) -> ReadResources:
    """Resources on their own, as in a setting; and all their problems."""
    try:
        resources = Resources.model_validate(document).as_written()
    except ValidationError as error:
        from shared.jobspec.checks.shape import shape_problems  # with the models of whole documents

        problems = shape_problems(Resources, document, error)
        return ReadResources({}, [one.relocate("/resources") for one in problems])
    return ReadResources(resources, resource_problems(document))


def mebibytes(memory: str) -> int:
    """The memory that a text such as 16G stands for. Raises ValueError for any other text."""
    match = _MEMORY.fullmatch(memory)
    if match is None:
        raise ValueError(f"{memory!r} is not an amount of memory")
    return int(match[1]) * _MEBIBYTES[match[2]]


def _excluded(root: Node) -> Iterator[Problem]:
    if root.member("exclusive").is_written:
        for name in (*SHARE, "gpuType"):
            if root.member(name).is_written:
                message = f'exclusive gives whole nodes, so "{name}" has no effect'
                remedy = f'remove "{name}" or "exclusive"'
                yield problem("SW022", root.member(name).pointer, message, remedy, of_name=True)
    elif root.member("gpuType").is_written and not root.member("gpus").value:
        message = "gpuType names the type of the GPUs, but their number, gpus, is missing"
        yield problem("SW067", root.member("gpuType").pointer, message, 'add "gpus": 1')


def _memory(root: Node) -> Iterator[Problem]:
    memory = root.member("memory")
    if memory.text and not _MEMORY.fullmatch(memory.text):
        message = f"{quote(memory.text)} is not an amount of memory"
        yield problem("SW067", memory.pointer, message, 'write a whole number with M, G or T, as "16G"')


def _names(root: Node) -> Iterator[Problem]:
    for name in _NAMES:
        node = root.member(name)
        if node.text and not _NAME.fullmatch(node.text):
            message = f"{quote(node.text)} cannot be a {name}"
            yield problem("SW067", node.pointer, message, "write the name as the cluster shows it")
    constraint = root.member("constraint")
    if constraint.text and not _CONSTRAINT.fullmatch(constraint.text):
        message = f"{quote(constraint.text)} cannot be a constraint"
        yield problem("SW067", constraint.pointer, message, 'write features of nodes, as "a100&nvlink"')


def _options(options: Node) -> Iterator[Problem]:
    if not isinstance(options.value, dict):
        return
    for name in options.value:
        if not _OPTION.fullmatch(name):
            message = f"{quote(name)} cannot be the name of an option"
            yield problem("SW067", step(options.pointer, name), message, of_name=True)
    text = json.dumps(options.value, ensure_ascii=False)
    if len(text) > _MOST_OPTIONS:
        message = f"options has {len(text)} characters; {_MOST_OPTIONS} are allowed"
        yield problem("SW067", options.pointer, message, "leave out what the cluster does by itself")
    elif any(_CONTROL.search(value) for value in _texts(options.value)):
        yield problem("SW067", options.pointer, "options has control characters", "remove them")


def _texts(value: Any) -> Iterator[str]:
    """Every text in a small document, names of members included."""
    stack = [value]
    while stack:
        one = stack.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict):
            stack += [*one, *one.values()]
        elif isinstance(one, list):
            stack += one
