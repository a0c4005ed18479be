"""A job.json for a script that has none."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from slipway.failure import Failure

#: The output directory of such a job, `$AZ_BATCHAI_OUTPUT_MODEL` to its script.
OUTPUT = "MODEL"


@dataclass(frozen=True)
class Choices:
    """What a person asks for beside the script."""

    nodes: int = 1
    image: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)
    arguments: Sequence[str] = ()

    @property
    def anything(self) -> bool:
        """Whether any of it differs from nothing."""
        return self != Choices()


def compose(script: str, folder: str, choices: Choices, prefix: str) -> dict[str, Any]:
    """The document for a script of a dropped folder; `prefix` is where its output goes.

    A Python script runs once on each node, with the variables of `pyTorchSettings`; a shell script runs on
    the first node. Raises Failure for another kind of script.
    """
    path = f"$AZ_BATCHAI_JOB_MOUNT_ROOT/scripts/{folder}/{script}"
    arguments = shlex.join(choices.arguments)
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
    if choices.environment:
        variables = [{"name": name, "value": value} for name, value in choices.environment.items()]
        properties["environmentVariables"] = variables
    properties["stdOutErrPathPrefix"] = prefix
    properties["outputDirectories"] = [{"id": OUTPUT, "pathPrefix": prefix, "pathSuffix": "model"}]
    return {"properties": properties}
