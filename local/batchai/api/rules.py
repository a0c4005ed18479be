"""The rules for jobs and clusters beyond their shape, with the place of every violation. Pure."""

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from local.batchai.api.shapes import seconds
from local.batchai.launch.layout import STDOUTERR
from local.batchai.launch.toolkits import TYPES, uses_python
from local.batchai.state.errors import ArmError, invalid
from local.batchai.state.sizes import size_problem

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
#: The permitted end of a variable's name: the id of a directory.
_SUFFIX = re.compile(r"[A-Za-z0-9_]+")
_SECRET_URL = re.compile(r"https://[\w.-]+/secrets/[A-Za-z0-9-]+(/[A-Za-z0-9]+)?/?")
_IMAGE = re.compile(r"[A-Za-z0-9][\w./:@%~+-]*", re.ASCII)
#: As Docker reads it: bytes, or with a unit.
_SIZE = re.compile(r"\d+(\.\d+)?\s?([bB]|[kmgtpKMGTP][iI]?[bB]?)?")
_MOUNTED = ("azureFileShares", "azureBlobFileSystems", "fileServers", "unmanagedFileSystems")
_BACKENDS = ("tcp", "gloo", "mpi")
#: The documented maximum of a cluster.
MOST_NODES = 100
WEEK = 7 * 86400.0


def job_problems(document: Mapping[str, Any], unmanaged: bool = False) -> list[ArmError]:
    """Every reason why a job with these properties cannot be created.

    `unmanaged`: whether unmanaged file systems can be mounted here, also below.
    """
    at = "/properties"
    if document["nodeCount"] > MOST_NODES:
        return [invalid(f"A cluster has at most {MOST_NODES} nodes.", f"{at}/nodeCount")]
    return [
        *_toolkit(document, at),
        *_container(document, f"{at}/containerSettings"),
        *_mounts(document.get("mountVolumes", {}), f"{at}/mountVolumes", unmanaged),
        *_directories(document, at),
        *_variables(document, at),
        *_constraints(document, at),
    ]


def cluster_problems(document: Mapping[str, Any], unmanaged: bool = False) -> list[ArmError]:
    """Every reason why a cluster with these properties cannot be created."""
    at = "/properties"
    setup = document.get("nodeSetup", {})
    problems = [
        *scale_problems(document.get("scaleSettings", {}), f"{at}/scaleSettings"),
        *_mounts(setup.get("mountVolumes", {}), f"{at}/nodeSetup/mountVolumes", unmanaged),
        *_variables(setup.get("setupTask", {}), f"{at}/nodeSetup/setupTask"),
    ]
    if problem := size_problem(document["vmSize"]):
        problems.append(invalid(problem, f"{at}/vmSize"))
    return [*problems, *_user(document["userAccountSettings"], f"{at}/userAccountSettings")]


def file_server_problems(document: Mapping[str, Any]) -> Iterator[ArmError]:
    """Every reason why a file server with these properties cannot be created."""
    if problem := size_problem(document["vmSize"], file_server=True):
        yield invalid(problem, "/properties/vmSize")
    at = "/properties/sshConfiguration"
    ssh = document["sshConfiguration"]
    yield from _user(ssh["userAccountSettings"], f"{at}/userAccountSettings")
    if len(ssh.get("publicIPsToAllow", ())) > 400:
        yield invalid("At most 400 ranges of addresses can be allowed.", f"{at}/publicIPsToAllow")


def scale_problems(scale: Mapping[str, Any], pointer: str) -> Iterator[ArmError]:
    """Every reason why a cluster cannot scale like this.

    An initial count may be outside the bounds, which then apply: the SDK sends 0 by default with any minimum.
    """
    if len(scale) > 1:
        yield invalid("Give either manual or autoScale, not both.", pointer)
    if auto := scale.get("autoScale"):
        least, most = auto["minimumNodeCount"], auto["maximumNodeCount"]
        if most < max(least, 1):
            yield invalid(
                "maximumNodeCount must be positive and not below minimumNodeCount.", f"{pointer}/autoScale"
            )
        if most > MOST_NODES:
            yield invalid(
                f"A cluster has at most {MOST_NODES} nodes.", f"{pointer}/autoScale/maximumNodeCount"
            )
    if scale.get("manual", {}).get("targetNodeCount", 0) > MOST_NODES:
        yield invalid(f"A cluster has at most {MOST_NODES} nodes.", f"{pointer}/manual/targetNodeCount")


def _user(user: Mapping[str, Any], pointer: str) -> Iterator[ArmError]:
    if not user.get("adminUserSshPublicKey") and not user.get("adminUserPassword"):
        yield invalid("Give adminUserSshPublicKey or adminUserPassword.", pointer)


def _toolkit(document: Mapping[str, Any], pointer: str) -> Iterator[ArmError]:
    blocks = [name for name in TYPES if name in document]
    if len(blocks) != 1:
        names = ", ".join(blocks) or "none"
        yield invalid(f"Exactly one toolkit block is needed; given: {names}.", pointer)
        return
    (block,) = blocks
    yield from _block(block, document[block], int(document["nodeCount"]), f"{pointer}/{block}")


def _block(name: str, block: Mapping[str, Any], nodes: int, pointer: str) -> Iterator[ArmError]:
    if name == "customToolkitSettings" and not block.get("commandLine"):
        yield invalid("A custom toolkit job needs a command line.", f"{pointer}/commandLine")
    elif name == "cntkSettings":
        yield from _cntk(block, pointer)
    elif name == "caffeSettings":
        yield from _caffe(block, pointer)
    elif name == "pyTorchSettings" and block.get("communicationBackend", "gloo").lower() not in _BACKENDS:
        yield invalid("Must be TCP, Gloo or MPI.", f"{pointer}/communicationBackend")
    elif block.get("parameterServerCount", 1) > nodes:
        yield invalid("There is at most one parameter server on a node.", f"{pointer}/parameterServerCount")


def _cntk(block: Mapping[str, Any], pointer: str) -> Iterator[ArmError]:
    if str(block.get("languageType", "python")).lower() not in ("python", "brainscript"):
        yield invalid("Must be BrainScript or Python.", f"{pointer}/languageType")
        return
    if uses_python(block):
        if "pythonScriptFilePath" not in block:
            yield invalid("A CNTK job in Python needs a script.", f"{pointer}/pythonScriptFilePath")
        if "configFilePath" in block:
            yield invalid("Only a BrainScript job has a configuration.", f"{pointer}/configFilePath")
        return
    if "configFilePath" not in block:
        yield invalid("A CNTK job in BrainScript needs a configuration.", f"{pointer}/configFilePath")
    for name in ("pythonScriptFilePath", "pythonInterpreterPath"):
        if name in block:
            yield invalid("Only a Python job has this.", f"{pointer}/{name}")


def _caffe(block: Mapping[str, Any], pointer: str) -> Iterator[ArmError]:
    if ("configFilePath" in block) == ("pythonScriptFilePath" in block):
        yield invalid("Give either configFilePath or pythonScriptFilePath.", pointer)
    elif "pythonInterpreterPath" in block and "pythonScriptFilePath" not in block:
        yield invalid("Only a job with a script has an interpreter.", f"{pointer}/pythonInterpreterPath")


def _container(document: Mapping[str, Any], pointer: str) -> Iterator[ArmError]:
    source = document.get("containerSettings", {}).get("imageSourceRegistry")
    if source is None:
        return
    for name in ("image", "serverUrl"):
        # A value that begins with '-' would be an option of the container runtime's program.
        if name in source and not _IMAGE.fullmatch(source[name]):
            yield invalid(f"{source[name]!r} is not a valid {name}.", f"{pointer}/imageSourceRegistry/{name}")
    if "credentials" in source:
        yield from _secret(source["credentials"], "password", f"{pointer}/imageSourceRegistry/credentials")
    if "shmSize" in document["containerSettings"]:
        size = document["containerSettings"]["shmSize"]
        if not _SIZE.fullmatch(size):
            yield invalid("Must be a size such as 512m or 2g.", f"{pointer}/shmSize")


def _mounts(mounts: Mapping[str, Any], pointer: str, unmanaged: bool) -> Iterator[ArmError]:
    if mounts.get("unmanagedFileSystems") and not unmanaged:
        yield invalid(
            "This emulator runs no mount command. Mount a share, a container or a file server, or start the "
            "emulator with --unmanaged-mounts FILE, which gives each command a directory.",
            f"{pointer}/unmanagedFileSystems",
            "MountNotSupported",
        )
    paths: set[PurePosixPath] = set()
    for kind in _MOUNTED:
        for index, mount in enumerate(mounts.get(kind, ())):
            place = f"{pointer}/{kind}/{index}"
            if "credentials" in mount:
                yield from _secret(mount["credentials"], "accountKey", f"{place}/credentials")
            path = PurePosixPath(mount["relativeMountPath"])
            if path.is_absolute() or ".." in path.parts or not path.parts:
                yield invalid("Must be a relative path without '..'.", f"{place}/relativeMountPath")
            elif any(path == other or path in other.parents or other in path.parents for other in paths):
                yield invalid("Another volume is mounted there.", f"{place}/relativeMountPath")
            paths.add(path)


def _secret(holder: Mapping[str, Any], name: str, pointer: str) -> Iterator[ArmError]:
    """A secret is given either by its value or by its address in a key vault."""
    reference = f"{name}SecretReference"
    if (name in holder) == (reference in holder):
        yield invalid(f"Give either {name} or {reference}.", f"{pointer}/{name}", "MissingProperty")
    elif reference in holder and not _SECRET_URL.fullmatch(holder[reference]["secretUrl"]):
        yield invalid(
            "Must be the address of a secret: https://VAULT.vault.azure.net/secrets/NAME, perhaps /VERSION.",
            f"{pointer}/{reference}/secretUrl",
        )


def _directories(document: Mapping[str, Any], pointer: str) -> Iterator[ArmError]:
    for kind in ("inputDirectories", "outputDirectories"):
        names = {STDOUTERR} if kind == "outputDirectories" else set()
        for index, directory in enumerate(document.get(kind, ())):
            name = directory["id"]
            if not _SUFFIX.fullmatch(name):
                yield invalid("Must be usable in the name of a variable.", f"{pointer}/{kind}/{index}/id")
            elif name in names:
                yield invalid(f"{name!r} is given twice.", f"{pointer}/{kind}/{index}/id")
            names.add(name)
            suffix = PurePosixPath(directory.get("pathSuffix", ""))
            if suffix.is_absolute() or ".." in suffix.parts:
                yield invalid("Must be a relative path without '..'.", f"{pointer}/{kind}/{index}/pathSuffix")


def _variables(document: Mapping[str, Any], pointer: str) -> Iterator[ArmError]:
    names: set[str] = set()
    for kind in ("environmentVariables", "secrets"):
        for index, variable in enumerate(document.get(kind, ())):
            place = f"{pointer}/{kind}/{index}"
            if not _IDENTIFIER.fullmatch(variable["name"]):
                yield invalid("Is not the name of a variable.", f"{place}/name")
            elif variable["name"] in names:
                yield invalid("Is defined twice.", f"{place}/name")
            names.add(variable["name"])
            if kind == "secrets":
                yield from _secret(variable, "value", place)


def _constraints(document: Mapping[str, Any], pointer: str) -> Iterator[ArmError]:
    text = document.get("constraints", {}).get("maxWallClockTime")
    if text is None:
        return
    length = seconds(text)
    if length is None:
        yield invalid(
            "Must be an ISO 8601 duration of weeks, days, hours, minutes and seconds, such as PT36H.",
            f"{pointer}/constraints/maxWallClockTime",
        )
    elif not 0 < length <= WEEK:
        yield invalid("Must be positive and at most P7D.", f"{pointer}/constraints/maxWallClockTime")
