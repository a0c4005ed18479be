"""Makes a job.json for a script."""

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from shared.jobspec import name_flaw, placeholder_flaw, redact
from slipway.client.request.order import Order, joined
from slipway.client.request.terms import Terms, member_object
from slipway.failure import Failure
from slipway.terminal.characters import printable

#: The output directory of such a job, `$AZ_BATCHAI_OUTPUT_MODEL` to its script.
OUTPUT = "MODEL"
#: The member of a job that holds the path of a Python script.
PATH_FIELD = "pythonScriptFilePath"
#: Where `slipway_packages` makes the environment of the job on each node.
_ENVIRONMENT = "$AZ_BATCHAI_JOB_TEMP/environment"
_AT_ONCE = Order()
_NO_TERMS = Terms()
#: A variable of the job, which the node replaces with its value.
_VARIABLE = re.compile(r"(\$AZ_BATCHAI_\w+|\$\{AZ_BATCHAI_\w+\})", re.ASCII)


@dataclass(frozen=True)
class Choices:
    """A person's choices in addition to the script."""

    #: None for one, or for what a job.json says
    nodes: int | None = None
    image: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)
    arguments: Sequence[str] = ()
    #: "" for the default one, None for all GPUs of a node
    cluster: str = ""
    gpus: int | None = None
    order: Order = _AT_ONCE
    #: variables of the job whose values are sealed
    secrets: Mapping[str, str] = field(default_factory=dict)
    terms: Terms = _NO_TERMS

    @property
    def envelope(self) -> dict[str, Any]:
        """The slipway.json beside the job.json; empty if it is not needed."""
        return self.with_envelope({})

    def with_envelope(self, written: Mapping[str, Any]) -> dict[str, Any]:
        """The members of the envelope that they set, with what it has of them."""
        members: dict[str, Any] = {"cluster": self.cluster} if self.cluster else {}
        if self.gpus is not None:
            members["resources"] = {**member_object(written, "resources"), "gpus": self.gpus}
        return members | joined(written, self.order.members) | self.terms.envelope(written)


def compose(script: str, choices: Choices, prefix: str, *, packages: str = "") -> dict[str, Any]:
    """The document for a script of a folder, which it may be run with or dropped in; `prefix` is for output.

    A Python script runs once on each node, with the variables of `pyTorchSettings`; a shell script runs on
    the first node. `packages` is the file of the folder that lists what each node first installs.
    Raises Failure for another kind of script, and for a name that no path can have.
    """
    is_python = script.endswith(".py")
    if flaw := placeholder_flaw(script, PATH_FIELD) if is_python else name_flaw(script):
        text = f"{printable(script)} cannot be a part of the path of a script: it {flaw}"
        raise Failure(f"{text}; rename the script")
    path = f"<SLIPWAY_FOLDER>/{script}"  # correct wherever the folder is
    arguments = " ".join(map(_shell_text, choices.arguments))
    properties: dict[str, Any] = {"nodeCount": choices.nodes or 1}
    if is_python:
        properties["pyTorchSettings"] = {PATH_FIELD: path}
        if packages:
            properties["pyTorchSettings"]["pythonInterpreterPath"] = f"{_ENVIRONMENT}/python"
        if arguments:
            properties["pyTorchSettings"]["commandLineArgs"] = arguments
    elif script.endswith((".sh", ".bash")):
        quoted = shlex.quote(script)  # the same for a plain name
        path = path if quoted == script else "<SLIPWAY_FOLDER>/"
        begin = f'. "{_ENVIRONMENT}/activate" && ' if packages else ""
        line = f'{begin}bash "{path}"{"" if quoted == script else quoted} {arguments}'.rstrip()
        properties["customToolkitSettings"] = {"commandLine": line}
    else:
        raise Failure(f"{script} is neither a Python script nor a shell script; write a job.json beside it")
    if choices.image:
        properties["containerSettings"] = {"imageSourceRegistry": {"image": choices.image}}
    properties |= choices.terms.properties({})
    environment, secrets = _variables(choices)
    if packages:
        properties["jobPreparation"] = {"commandLine": f'slipway_packages "<SLIPWAY_FOLDER>/{packages}"'}
    for member, values in (("environmentVariables", environment), ("secrets", secrets)):
        if values:
            properties[member] = [{"name": name, "value": value} for name, value in values.items()]
    properties["stdOutErrPathPrefix"] = prefix
    properties["outputDirectories"] = [{"id": OUTPUT, "pathPrefix": prefix, "pathSuffix": "model"}]
    return {"properties": properties}


class _Variables(NamedTuple):
    """The variables of a job."""

    environment: dict[str, str]
    secrets: dict[str, str]


def _variables(choices: Choices) -> _Variables:
    """The variables that anyone may see, and the secrets: also those whose name or value looks like one."""
    environment, secrets = dict[str, str](), dict(choices.secrets)
    for name, value in choices.environment.items():
        variable = {"name": name, "value": value}
        (environment if redact(variable) == variable else secrets)[name] = value
    return _Variables(environment, secrets)


def add_choices(job: Mapping[str, Any], choices: Choices) -> dict[str, Any]:
    """A job.json with these choices in place of what it says. Raises Failure for arguments of no script."""
    properties: dict[str, Any] = dict(job.get("properties") or {})
    properties |= choices.terms.properties(properties)
    if choices.nodes is not None:
        properties["nodeCount"] = choices.nodes
    if choices.image:
        properties["containerSettings"] = {
            **member_object(properties, "containerSettings"),
            "imageSourceRegistry": {"image": choices.image},
        }
    environment, secrets = _variables(choices)
    chosen = environment.keys() | secrets.keys()
    for member, values in (("environmentVariables", environment), ("secrets", secrets)):
        entries = properties.get(member)
        others = [
            one
            for one in (entries if isinstance(entries, list) else [])
            if not (isinstance(one, dict) and one.get("name") in chosen)
        ]
        if values or (isinstance(entries, list) and len(others) < len(entries)):
            properties[member] = [
                *others,
                *({"name": name, "value": value} for name, value in values.items()),
            ]
    if choices.arguments:
        _add_arguments(properties, " ".join(map(_shell_text, choices.arguments)))
    return {**job, "properties": properties}


def _add_arguments(properties: dict[str, Any], arguments: str) -> None:
    """Give the script these arguments, in place of those that the job.json has."""
    for name, settings in properties.items():
        if not isinstance(settings, dict) or not name.endswith("Settings"):
            continue
        if PATH_FIELD in settings and not name.startswith("tensorFlow"):
            properties[name] = {**settings, "commandLineArgs": arguments}
            return
        if isinstance(line := settings.get("commandLine"), str):
            properties[name] = {**settings, "commandLine": f"{line} {arguments}"}
            return
    raise Failure("the job.json has no script or command that takes these arguments; write them into it")


def _shell_text(argument: str) -> str:
    """An argument for the node's shell, which replaces only the job's own variables."""
    pieces = _VARIABLE.split(argument)
    if len(pieces) == 1:
        return shlex.quote(argument)
    return "".join(f'"{one}"' if number % 2 else shlex.quote(one) for number, one in enumerate(pieces) if one)
