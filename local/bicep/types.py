"""The types of Azure's resources, as `azmcp bicepschema get` prints them: one file per resource type."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

#: Words of the type language itself; every other word is an object's name, or a text that a value may be.
PLAIN: Mapping[str, tuple[str, ...]] = {"string": ("text",), "int": ("int",), "bool": ("bool",)}


@dataclass(frozen=True)
class Member:
    """A member of an object: its type, an expression of names, texts, `|` and `[]`."""

    type: str
    is_required: bool
    is_read_only: bool


@dataclass(frozen=True)
class ObjectType:
    """An object type; one with a discriminator has a variant for each value of that member."""

    name: str
    members: Mapping[str, Member]
    #: the type of other members; "" if there are none
    others: str = ""
    discriminator: str = ""
    variants: Mapping[str, ObjectType] = field(default_factory=dict)


class Schema(NamedTuple):
    """One resource type: its newest version here, its body, and the object types that the body refers to."""

    name: str
    body: ObjectType
    objects: Mapping[str, ObjectType]


class Types:
    """The types in a folder, each read when it is first requested."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._schemas: dict[str, Schema | None] = {}

    def get(self, kind: str) -> Schema | None:
        """The schema of a resource type such as `Microsoft.Web/sites`; None if it is not here."""
        key = kind.lower()
        if key not in self._schemas:
            file = self._folder / file_name(kind)
            self._schemas[key] = schema(json.loads(file.read_text("utf-8"))) if file.is_file() else None
        return self._schemas[key]


def file_name(kind: str) -> str:
    """The file name of a resource type's schema."""
    return f"{kind.replace('/', '_').lower()}.json"


def schema(answer: Mapping[str, Any]) -> Schema:
    """The answer of the program as a schema. Raises KeyError or StopIteration if it is not one."""
    rows = answer["results"]["BicepSchemaResult"]
    resource = next(row for row in rows if row["$type"] == "Resource")
    objects = {row["name"]: _object(row) for row in rows if row["$type"].endswith("Object")}
    return Schema(resource["name"], _object(resource["bodyType"]), objects)


def _object(row: Mapping[str, Any]) -> ObjectType:
    members = {one["name"]: _member(one) for one in row.get("properties") or row.get("baseProperties") or ()}
    variants = {}
    for one in row.get("elements") or ():
        variant = _object(one)
        word = variant.members.get(row["discriminator"])
        if word is not None:
            variants[word.type] = variant
    return ObjectType(
        row.get("name") or "object",
        members,
        row.get("additionalPropertiesType") or "",
        row.get("discriminator") or "",
        variants,
    )


def _member(row: Mapping[str, Any]) -> Member:
    flags = [flag.strip() for flag in (row.get("flags") or "").split(",")]
    return Member(row["type"], "Required" in flags, "ReadOnly" in flags)
