"""Makes a job.json for a script."""

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from slipway.commands.document.order import Order
from slipway.failure import Failure

#: The output directory of such a job, `$AZ_BATCHAI_OUTPUT_MODEL` to its script.
OUTPUT = "MODEL"
#: The packages that the script needs, for pip.
REQUIREMENTS = "requirements.txt"
#: The directory for them, which each node has for this job alone.
_PACKAGES = "$AZ_BATCHAI_JOB_TEMP/packages"
_AT_ONCE = Order()
#: A variable of the job, which the node replaces with its value.
_VARIABLE = re.compile(r"(\$AZ_BATCHAI_\w+|\$\{AZ_BATCHAI_\w+\})", re.ASCII)
#: Paths in a job.json with which Slipway finds the script in the drop container.
_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./-]*")


@dataclass(frozen=True)
class Choices:
    """A person's choices in addition to the script."""

    nodes: int = 1
    image: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)
    arguments: Sequence[str] = ()
    #: "" for the default one, None for all GPUs of a node
    cluster: str = ""
    gpus: int | None = None
    order: Order = _AT_ONCE

    @property
    def anything(self) -> bool:
        """Whether any of it belongs in a job.json."""
        return replace(self, cluster="", gpus=None, order=_AT_ONCE) != Choices()

    @property
    def envelope(self) -> dict[str, Any]:
        """The slipway.json beside the job.json; empty if it is not needed."""
        cluster = {"cluster": self.cluster} if self.cluster else {}
        resources = {"resources": {"gpus": self.gpus}} if self.gpus is not None else {}
        return cluster | resources | self.order.members


def compose(
    script: str, folder: str, choices: Choices, prefix: str, *, requirements: bool = False
) -> dict[str, Any]:
    """The document for a script of a dropped folder; `prefix` is where its output goes.

    A Python script runs once on each node, with the variables of `pyTorchSettings`; a shell script runs on
    the first node. With `requirements`, each node first installs what the folder's requirements.txt lists.
    Raises Failure for another kind of script, and for a name that no path can have.
    """
    _check_names(script, folder)
    path = f"<SLIPWAY_FOLDER>/{script}"  # correct wherever the folder is dropped
    arguments = " ".join(map(_shell_text, choices.arguments))
    properties: dict[str, Any] = {"nodeCount": choices.nodes}
    if script.endswith(".py"):
        properties["pyTorchSettings"] = {"pythonScriptFilePath": path}
        if arguments:
            properties["pyTorchSettings"]["commandLineArgs"] = arguments
    elif script.endswith((".sh", ".bash")):
        line = f'bash "{path}" {arguments}'.rstrip()
        properties["customToolkitSettings"] = {"commandLine": line}
    else:
        raise Failure(f"{script} is neither a Python script nor a shell script; write a job.json beside it")
    if choices.image:
        properties["containerSettings"] = {"imageSourceRegistry": {"image": choices.image}}
    environment = dict(choices.environment)
    if requirements:
        file = f"<SLIPWAY_FOLDER>/{REQUIREMENTS}"
        install = f'python -m pip install --target "{_PACKAGES}" -r "{file}"'
        properties["jobPreparation"] = {"commandLine": install}
        own = environment.get("PYTHONPATH")
        environment["PYTHONPATH"] = f"{_PACKAGES}:{own}" if own else _PACKAGES
    if environment:
        variables = [{"name": name, "value": value} for name, value in environment.items()]
        properties["environmentVariables"] = variables
    properties["stdOutErrPathPrefix"] = prefix
    properties["outputDirectories"] = [{"id": OUTPUT, "pathPrefix": prefix, "pathSuffix": "model"}]
    return {"properties": properties}


def _check_names(script: str, folder: str) -> None:
    for name in (script, *folder.split("/")):
        if not _PLAIN.fullmatch(name):
            raise Failure(
                f"{name!r} cannot be used in the path of a script: letters, digits and '_' can, and "
                "'.' and '-' after the first character; "
                f"rename the script{'' if name == script else ', or name the folder with --name'}"
            )


def _shell_text(argument: str) -> str:
    """An argument for the node's shell, which replaces only the job's own variables."""
    pieces = _VARIABLE.split(argument)
    if len(pieces) == 1:
        return shlex.quote(argument)
    return "".join(f'"{one}"' if number % 2 else shlex.quote(one) for number, one in enumerate(pieces) if one)
