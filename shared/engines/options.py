"""The options of clusters in SLIPWAY_CLUSTERS, read for any engine: every mistake is named. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any, TypeVar
from urllib.parse import urlsplit

from shared.core.errors import Misconfigured
from shared.core.facts import Packages

_C = TypeVar("_C")


def each_cluster(document: Any, setting: str) -> Iterator[tuple[str, Any, str]]:
    """Name, options and path of each cluster of a JSON object. Raises Misconfigured."""
    if not isinstance(document, dict):
        raise Misconfigured(f"{setting} must be an object: name of a cluster → its options")
    for name, options in document.items():
        yield name, options, f"{setting}: {name}"


def checked(
    options: Any, place: str, kinds: Mapping[str, str], *, needed: Sequence[str] = ()
) -> Mapping[str, Any]:
    """The options of one cluster, each known and of its kind. Raises Misconfigured.

    `kinds`: option → its type, as a field of a dataclass is annotated (`str`, `Sequence[str]`).
    `needed`: those that must be there.
    """
    if not isinstance(options, dict):
        raise Misconfigured(f"{place} must be an object of options")
    unknown = [option for option in options if option not in kinds]
    if unknown:
        raise Misconfigured(f"{place}: there is no option {unknown[0]!r}; there are {', '.join(kinds)}")
    for option in needed:
        if not options.get(option):
            raise Misconfigured(f"{place}: {option} is missing")
    for option, value in options.items():
        if not _fits(value, kinds[option]):
            raise Misconfigured(f"{place}: {option} has the wrong type: {kinds[option]} is needed")
    return options


def cluster_of(kind: type[_C], name: str, options: Any, place: str, *, needed: Sequence[str]) -> _C:
    """A cluster, whose options are the fields of its dataclass in camelCase. Raises Misconfigured."""
    dataclass: Any = kind
    members = {camel(one.name): one for one in fields(dataclass) if one.name != "name"}
    kinds = {option: str(one.type) for option, one in members.items()}
    values = checked(options, place, kinds, needed=needed)
    cluster: _C = dataclass(name, **{members[option].name: value for option, value in values.items()})
    return cluster


def packages_of(options: Mapping[str, str], place: str) -> Packages:
    """The option `packages`. Raises Misconfigured."""
    place = f"{place}: packages"
    packages = Packages(**checked(options, place, {one.name: "str" for one in fields(Packages)}))
    for name, address in (("index", packages.index), ("proxy", packages.proxy)):
        parts = urlsplit(address)
        is_address = parts.scheme in ("https", "http") and not any(c in address for c in " \t\n$")
        if address and not is_address:
            raise Misconfigured(
                f"{place}: {name} must be an address, such as https://pypi.example.org/simple"
            )
        if "@" in parts.netloc:
            text = "is shown, so it cannot hold a password: jobs bring one as the secret PIP_INDEX_URL"
            raise Misconfigured(f"{place}: {name} {text}")
    if packages.keep and (not packages.keep.startswith("/") or any(c in packages.keep for c in "\t\n$")):
        raise Misconfigured(f"{place}: keep: {packages.keep!r} is not an absolute path")
    return packages


def camel(name: str) -> str:
    """The option of a field: camelCase for snake_case."""
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def _fits(value: Any, kind: str) -> bool:
    if kind == "Mapping[str, Any]":
        return isinstance(value, dict)
    if kind.startswith("Sequence"):
        return isinstance(value, list) and all(isinstance(one, str) for one in value)
    if kind.startswith("Mapping"):
        inside = (str, int) if "int" in kind else (str,)
        return isinstance(value, dict) and all(type(one) in inside for one in value.values())
    kinds = {"str": (str,), "int": (int,), "bool": (bool,), "float": (int, float)}
    return type(value) in kinds[kind]
