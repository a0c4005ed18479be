"""A command job of Azure ML: its members by the CLI (v2) command job YAML schema of April 2025."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import timedelta

from shared.jobspec import iso_duration
from slipway.client.request.compose import OUTPUT
from slipway.commands.init.foreign import common
from slipway.commands.init.foreign.azure_data import input_of, output_of
from slipway.commands.init.foreign.draft import (
    JobDraft,
    Note,
    Rule,
    absent,
    apply,
    count_of,
    is_read,
    shown,
    text_of,
)
from slipway.commands.init.foreign.shell_words import FIRST_ADDRESS, RANK
from slipway.commands.init.foreign.yaml_tree import Member

_ENVIRONMENT = "environment.yml"
_BINDING = re.compile(r"\$\{\{\s*((?:inputs|outputs)\.\w+)\s*\}\}", re.ASCII)
_ANY_BINDING = re.compile(r"\$\{\{[^}\n]*\}\}")
_TOOLKIT = "write its toolkit into job.json: docs/reference/job-format.md#toolkits"
_INLINE_ONLY = "of a registered environment; an image has a name of its own"
_STARTS = "start its processes in the command, such as torchrun --nproc-per-node"


def _experiment(member: Member, draft: JobDraft) -> None:
    draft.experiment = text_of(member, draft)


def _title(member: Member, draft: JobDraft) -> None:
    draft.label(member, member.name, text_of(member, draft))


def _folder(member: Member, draft: JobDraft) -> None:
    draft.folder = text_of(member, draft)


def _registered(member: Member, draft: JobDraft) -> None:
    draft.note(member, "none", "no environments are registered here; slipway run --image NAME")


def _image(member: Member, draft: JobDraft) -> None:
    draft.container["imageSourceRegistry"] = {"image": text_of(member, draft)}


def _conda(member: Member, draft: JobDraft) -> None:
    """The list of packages: a file that is copied, or an object, which becomes one: YAML reads JSON."""
    draft.packages = _ENVIRONMENT
    if member.kind == "object":
        draft.files[_ENVIRONMENT] = json.dumps(_plain(member), indent=2) + "\n"
        return
    draft.copies[_ENVIRONMENT] = text_of(member, draft)


def _plain(member: Member) -> object:
    if member.kind == "object":
        return {name: _plain(one) for name, one in member.members.items()}
    return [_plain(one) for one in member.items] if member.kind == "list" else member.value


def _nodes(member: Member, draft: JobDraft) -> None:
    draft.nodes = count_of(member, draft)


def _shared_memory(member: Member, draft: JobDraft) -> None:
    draft.container["shmSize"] = text_of(member, draft)


def _longest(member: Member, draft: JobDraft) -> None:
    length = iso_duration(timedelta(seconds=count_of(member, draft)))
    draft.properties["constraints"] = {"maxWallClockTime": length}


def _priority(member: Member, draft: JobDraft) -> None:
    names = {"low": "low", "medium": "normal", "high": "high"}
    if (priority := names.get(text_of(member, draft).lower())) is None:
        return draft.note(member, "none", common.PRIORITY)
    draft.properties["schedulingPriority"] = priority
    return None


def _distribution(member: Member, draft: JobDraft) -> None:
    kind = text_of(member, draft).lower()
    if kind == "pytorch":
        draft.on_every_node = True
    elif kind == "mpi":
        draft.with_mpi = True
    else:
        draft.note(member, "none", _TOOLKIT)


def _processes(member: Member, draft: JobDraft) -> None:
    draft.processes = count_of(member, draft)


RULES: Mapping[str, Rule] = {
    "$schema": is_read,
    "type": is_read,
    "name": common.name,
    "display_name": _title,
    "experiment_name": _experiment,
    "description": _title,
    "tags.*": common.label,
    "properties": absent("labels are for lists: slipway run --label NAME=VALUE"),
    "parent_job_name": absent("name the experiment: slipway run --experiment NAME"),
    "command": is_read,
    "code": _folder,
    "environment": _registered,
    "environment.$schema": is_read,
    "environment.name": absent(_INLINE_ONLY),
    "environment.version": absent(_INLINE_ONLY),
    "environment.description": absent(_INLINE_ONLY),
    "environment.tags": absent(_INLINE_ONLY),
    "environment.image": _image,
    "environment.conda_file": _conda,
    "environment.build": absent("build and push the image, and name it: slipway run --image NAME"),
    "environment.os_type": absent("nodes run Linux"),
    "environment.inference_config": absent("a job ends; nothing here serves requests"),
    "environment_variables.*": common.variable,
    "distribution.type": _distribution,
    "distribution.process_count_per_instance": _processes,
    **{
        f"distribution.{name}": absent(_TOOLKIT)
        for name in (
            *("worker_count", "parameter_server_count", "address", "port", "dashboard_port"),
            *("include_dashboard", "head_node_additional_args", "worker_node_additional_args"),
        )
    },
    "compute": absent(common.CLUSTER),
    "resources.instance_count": _nodes,
    "resources.instance_type": absent(common.CLUSTER),
    "resources.shm_size": _shared_memory,
    "resources.docker_args": absent("an operator decides how containers start"),
    "resources.locations": absent(common.CLUSTER),
    "resources.max_instance_count": absent("a job has the same nodes from its start to its end"),
    "resources.properties": absent(common.CLUSTER),
    "limits.timeout": _longest,
    "inputs.*": input_of,
    "outputs.*": output_of,
    "queue_settings.job_tier": absent(common.CLUSTER),
    "queue_settings.priority": _priority,
    "services": absent("while it runs: slipway shell JOB, slipway forward JOB PORT"),
    "identity": absent("the job reaches storage that it mounts: docs/explanation/secrets.md"),
}


def read(root: Member, draft: JobDraft) -> None:
    """Take the members of a command job."""
    apply(RULES, root, draft)
    command = root.members.get("command")
    if command is not None:
        draft.run = draft.script(command, _bound(root, command, draft))
    output = (draft.outputs or [OUTPUT])[0]
    draft.before.append(f'[ -e outputs ] || ln -s "$AZ_BATCHAI_OUTPUT_{output}" outputs')
    if "imageSourceRegistry" not in draft.container and draft.container.pop("shmSize", None):
        draft.note(root.members["resources"].members["shm_size"], "none", "for jobs with an image only")
    _spread(root, draft)


def _bound(root: Member, command: Member, draft: JobDraft) -> str:
    """The command with what stands for its inputs and outputs."""
    text = text_of(command, draft)
    bound = _BINDING.sub(lambda match: draft.bindings.get(match[1], match[0]), text)
    for other in dict.fromkeys(_ANY_BINDING.findall(bound)):
        draft.notes.append(Note(command.line, shown(other), "none", "write its value into the command"))
    used = {match[1] for match in _BINDING.finditer(text)}
    for name, one in root.members["inputs"].members.items() if "inputs" in root.members else ():
        if f"inputs.{name}" not in used:
            draft.note(one, "changed", "the command does not use it")
    return bound


def _spread(root: Member, draft: JobDraft) -> None:
    """Start the processes: with `mpirun`, or the command on each node, with the variables of its peers."""
    count = draft.processes or 1
    draft.processes = count * draft.nodes if draft.with_mpi else None
    if draft.on_every_node:
        values = {"WORLD_SIZE": str(draft.nodes), "MASTER_ADDR": FIRST_ADDRESS, "MASTER_PORT": "6105"}
        ranks = {"RANK": RANK, "NODE_RANK": RANK, "LOCAL_RANK": "0"}
        draft.before += [f"export {name}={value}" for name, value in {**values, **ranks}.items()]
        if count > 1:
            member = root.members["distribution"].members["process_count_per_instance"]
            draft.note(member, "changed", f"the command runs once on each node; {_STARTS}={count}")
    elif draft.nodes > 1 and not draft.with_mpi:
        member = root.members["resources"].members["instance_count"]
        draft.note(member, "changed", "the command runs on the first of these nodes")
