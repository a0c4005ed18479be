"""The files of a job that was read from the file of another system: job.json and what belongs to it."""

from __future__ import annotations

import json
import re
import shlex
from typing import Any

from shared.jobspec import name_flaw
from slipway.client.request.compose import OUTPUT, PATH_FIELD
from slipway.client.request.own_job import ENVELOPE_FILE, JOB_FILE
from slipway.client.request.request import plain_name
from slipway.commands.init.foreign.draft import JobDraft
from slipway.failure import Failure

#: The prefix of output paths, unless a deployment says otherwise.
PREFIX = "$AZ_BATCHAI_MOUNT_ROOT/logs"
_RUN, _SETUP = "run.sh", "setup.sh"
_ENVIRONMENT = "$AZ_BATCHAI_JOB_TEMP/environment"
#: Where a script is: its own folder, whether the job was sent or dropped.
_CHDIR = 'cd "$(dirname "$0")" || exit'
#: One line that installs a list of packages, and the list.
_INSTALL = re.compile(
    r"\s*(?:(?:python3? -m |uv )?pip3? install|conda env (?:create|update))(?: -q| --quiet| -U| --upgrade)* "
    r"(?:-r|-f|--requirement|--file)[ =](?:\./)?([\w.-]+(?:\.txt|\.ya?ml))\s*",
    re.ASCII,
)


def files_of(draft: JobDraft) -> dict[str, str]:
    """The files, by name. Raises Failure where there is nothing to run."""
    if not draft.run.strip() and not draft.command:
        raise Failure(f"{draft.file}: has nothing to run; name a file of one job")
    files = dict(draft.files)
    if not draft.packages and (install := _INSTALL.fullmatch(draft.setup)):
        draft.packages, draft.setup = install[1], ""
    if draft.run.strip():
        files[_RUN] = _script(draft, draft.run)
    if draft.setup.strip():
        files[_SETUP] = f"{_CHDIR}\n{draft.setup.rstrip()}\n"
    files[JOB_FILE] = _json({"properties": _properties(draft)})
    if envelope := _envelope(draft):
        files[ENVELOPE_FILE] = _json(envelope)
    return files


def _script(draft: JobDraft, text: str) -> str:
    lines = [f"# {draft.file.rpartition('/')[2]}, for slipway run", _CHDIR]
    if draft.packages:
        lines.append(f'. "{_ENVIRONMENT}/activate"')
    return "\n".join([*lines, *draft.before, text.rstrip()]) + "\n"


def _properties(draft: JobDraft) -> dict[str, Any]:
    properties: dict[str, Any] = {"nodeCount": draft.nodes, **_toolkit(draft)}
    if draft.container:
        properties["containerSettings"] = draft.container
    if preparation := _preparation(draft):
        properties["jobPreparation"] = {"commandLine": preparation}
    if draft.mounts:
        properties["mountVolumes"] = {"azureBlobFileSystems": draft.mounts}
    if draft.inputs:
        properties["inputDirectories"] = draft.inputs
    variables = [{"name": name, "value": value} for name, value in draft.environment.items()]
    outputs = [
        {"id": name, "pathPrefix": PREFIX, "pathSuffix": name.lower()} for name in draft.outputs or [OUTPUT]
    ]
    more = {"environmentVariables": variables} if variables else {}
    return {**properties, **draft.properties, **more, "outputDirectories": outputs}


def _toolkit(draft: JobDraft) -> dict[str, Any]:
    """What runs: on the first node, on each of them, or as the processes of `mpirun`."""
    line = draft.command or f'{draft.shell} "<SLIPWAY_FOLDER>/{_RUN}"'
    if draft.processes:
        return {"customMpiSettings": {"commandLine": line, "processCount": draft.processes}}
    if draft.on_every_node and draft.nodes > 1:
        # What starts a script of Python on each node, and gives it its number there, starts any program.
        shell = draft.shell if draft.shell.startswith("/") else f"/bin/{draft.shell}"
        path = f"<SLIPWAY_FOLDER>/{_RUN}"
        return {"pyTorchSettings": {PATH_FIELD: path, "pythonInterpreterPath": shell}}
    return {"customToolkitSettings": {"commandLine": line}}


def _preparation(draft: JobDraft) -> str:
    packages = f'slipway_packages "<SLIPWAY_FOLDER>/{draft.packages}"' if draft.packages else ""
    setup = f'bash "<SLIPWAY_FOLDER>/{_SETUP}"' if draft.setup.strip() else ""
    return " && ".join(filter(None, (packages, setup)))


def _envelope(draft: JobDraft) -> dict[str, Any]:
    members: dict[str, Any] = {
        "name": plain_name(draft.name) if draft.name else "",
        "experiment": plain_name(draft.experiment) if draft.experiment else "",
        "labels": draft.labels,
        "retry": draft.retry,
        "resources": draft.resources,
    }
    return {name: value for name, value in members.items() if value}


#: What a shell reads between double quotes.
_SPECIAL = re.compile(r'["$`\\]')


def runs_file(draft: JobDraft, name: str, words: list[str]) -> None:
    """Let a file of the folder run as it is. Raises Failure for a name that no path can have."""
    flaw = name_flaw(name)
    if not flaw and (special := _SPECIAL.search(name)):
        flaw = f"has {special[0]}, which means something to a shell"
    if flaw:
        raise Failure(f"{draft.file}: its name {flaw}; rename it")
    quoted = " ".join(map(shlex.quote, words))
    draft.command = f'{quoted} "<SLIPWAY_FOLDER>/{name}"'


def _json(content: dict[str, Any]) -> str:
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"
