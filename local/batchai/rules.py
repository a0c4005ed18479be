"""What a job or a cluster has to satisfy beyond its shape, with the place of every violation. Pure."""

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from local.batchai.errors import ArmError, invalid
from local.batchai.layout import STDOUTERR
from local.batchai.shapes import seconds
from local.batchai.toolkits import LAUNCHES, TYPES

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SHARED_STORE = ("azureFileShares", "azureBlobFileSystems")
WEEK = 7 * 86400.0


def job_problems(document: Mapping[str, Any], containers: str) -> list[ArmError]:
    """Every reason why a job with these properties cannot be created."""
    at = "/properties"
    return [
        *_toolkit(document, at),
        *_container(document, at, containers),
        *_mounts(document.get("mountVolumes", {}), f"{at}/mountVolumes"),
        *_directories(document, at),
        *_variables(document, at),
        *_constraints(document, at),
    ]


def cluster_problems(document: Mapping[str, Any]) -> list[ArmError]:
    """Every reason why a cluster with these properties cannot be created."""
    at = "/properties"
    setup = document.get("nodeSetup", {})
    problems = [
        *scale_problems(document.get("scaleSettings", {}), f"{at}/scaleSettings"),
        *_mounts(setup.get("mountVolumes", {}), f"{at}/nodeSetup/mountVolumes"),
        *_variables(setup.get("setupTask", {}), f"{at}/nodeSetup/setupTask"),
    ]
    user = document["userAccountSettings"]
    if not user.get("adminUserSshPublicKey") and not user.get("adminUserPassword"):
        problems.append(
            invalid("Give adminUserSshPublicKey or adminUserPassword.", f"{at}/userAccountSettings")
        )
    return problems


def scale_problems(scale: Mapping[str, Any], at: str) -> Iterator[ArmError]:
    """Every reason why a cluster cannot scale like this."""
    if len(scale) > 1:
        yield invalid("Give either manual or autoScale, not both.", at)
    if auto := scale.get("autoScale"):
        least, most = auto["minimumNodeCount"], auto["maximumNodeCount"]
        if most < max(least, 1):
            yield invalid(
                "maximumNodeCount must be positive and not below minimumNodeCount.", f"{at}/autoScale"
            )
        elif not least <= auto.get("initialNodeCount", least) <= most:
            yield invalid("Must lie between minimum and maximum.", f"{at}/autoScale/initialNodeCount")
        if most > 100:
            yield invalid("A cluster has at most 100 nodes.", f"{at}/autoScale/maximumNodeCount")
    if scale.get("manual", {}).get("targetNodeCount", 0) > 100:
        yield invalid("A cluster has at most 100 nodes.", f"{at}/manual/targetNodeCount")


def _toolkit(document: Mapping[str, Any], at: str) -> Iterator[ArmError]:
    blocks = [name for name in TYPES if name in document]
    if len(blocks) != 1:
        given = ", ".join(blocks) or "none"
        yield invalid(f"Exactly one toolkit block is needed; given: {given}.", at)
        return
    (block,) = blocks
    if block not in LAUNCHES:
        yield invalid(
            f"This emulator does not launch {TYPES[block]} jobs yet; it knows {', '.join(LAUNCHES)}.",
            f"{at}/{block}",
            "ToolkitNotSupported",
        )
    elif block == "customToolkitSettings" and not document[block].get("commandLine"):
        yield invalid("A custom toolkit job needs a command line.", f"{at}/{block}/commandLine")
    elif str(document[block].get("communicationBackend", "gloo")).lower() not in ("gloo", "tcp"):
        yield invalid(
            "This emulator launches pyTorch jobs with the backends gloo and tcp.",
            f"{at}/{block}/communicationBackend",
            "ToolkitNotSupported",
        )


def _container(document: Mapping[str, Any], at: str, containers: str) -> Iterator[ArmError]:
    settings = document.get("containerSettings")
    if not settings:
        return
    if containers == "refuse":
        yield invalid(
            "There is no container engine here. Remove containerSettings, or start the emulator with "
            "--containers ignore to run such jobs on the host.",
            f"{at}/containerSettings",
            "ContainersNotSupported",
        )
    credentials = settings["imageSourceRegistry"].get("credentials")
    if credentials is not None and ("password" in credentials) == ("passwordSecretReference" in credentials):
        yield invalid(
            "Give either password or passwordSecretReference.",
            f"{at}/containerSettings/imageSourceRegistry/credentials",
        )


def _mounts(mounts: Mapping[str, Any], at: str) -> Iterator[ArmError]:
    for kind in ("fileServers", "unmanagedFileSystems"):
        if mounts.get(kind):
            yield invalid(f"This emulator does not mount {kind} yet.", f"{at}/{kind}", "MountNotSupported")
    taken: set[PurePosixPath] = set()
    for kind in _SHARED_STORE:
        for index, mount in enumerate(mounts.get(kind, ())):
            place = f"{at}/{kind}/{index}"
            yield from _key(mount["credentials"], f"{place}/credentials")
            path = PurePosixPath(mount["relativeMountPath"])
            if path.is_absolute() or ".." in path.parts or not path.parts:
                yield invalid("Must be a relative path without '..'.", f"{place}/relativeMountPath")
            elif any(path == other or path in other.parents or other in path.parents for other in taken):
                yield invalid("Another volume is mounted there.", f"{place}/relativeMountPath")
            taken.add(path)


def _key(credentials: Mapping[str, Any], at: str) -> Iterator[ArmError]:
    if "accountKeySecretReference" in credentials:
        yield invalid(
            "This emulator has no key vault; give accountKey.",
            f"{at}/accountKeySecretReference",
            "KeyVaultNotSupported",
        )
    elif not credentials.get("accountKey"):
        yield invalid("The key of the storage account is required.", f"{at}/accountKey", "MissingProperty")


def _directories(document: Mapping[str, Any], at: str) -> Iterator[ArmError]:
    for kind in ("inputDirectories", "outputDirectories"):
        seen = {STDOUTERR} if kind == "outputDirectories" else set()
        for index, directory in enumerate(document.get(kind, ())):
            name = directory["id"]
            if not _IDENTIFIER.fullmatch(name):
                yield invalid("Must be usable in the name of a variable.", f"{at}/{kind}/{index}/id")
            elif name in seen:
                yield invalid(f"{name!r} is given twice.", f"{at}/{kind}/{index}/id")
            seen.add(name)
            suffix = PurePosixPath(directory.get("pathSuffix", ""))
            if suffix.is_absolute() or ".." in suffix.parts:
                yield invalid("Must be a relative path without '..'.", f"{at}/{kind}/{index}/pathSuffix")


def _variables(document: Mapping[str, Any], at: str) -> Iterator[ArmError]:
    seen: set[str] = set()
    for kind in ("environmentVariables", "secrets"):
        for index, variable in enumerate(document.get(kind, ())):
            place = f"{at}/{kind}/{index}"
            if not _IDENTIFIER.fullmatch(variable["name"]):
                yield invalid("Is not the name of a variable.", f"{place}/name")
            elif variable["name"] in seen:
                yield invalid("Is defined twice.", f"{place}/name")
            seen.add(variable["name"])
            if "valueSecretReference" in variable:
                yield invalid(
                    "This emulator has no key vault; give value.",
                    f"{place}/valueSecretReference",
                    "KeyVaultNotSupported",
                )
            elif "value" not in variable:
                yield invalid("The value is required.", f"{place}/value", "MissingProperty")


def _constraints(document: Mapping[str, Any], at: str) -> Iterator[ArmError]:
    text = document.get("constraints", {}).get("maxWallClockTime")
    if text is None:
        return
    length = seconds(text)
    if length is None:
        yield invalid(
            "Must be an ISO 8601 duration of weeks, days, hours, minutes and seconds, such as PT36H.",
            f"{at}/constraints/maxWallClockTime",
        )
    elif not 0 < length <= WEEK:
        yield invalid("Must be positive and at most P7D.", f"{at}/constraints/maxWallClockTime")
