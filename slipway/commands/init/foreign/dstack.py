"""A task of dstack: its members by `TaskConfiguration` of August 2026 (https://dstack.ai/docs/reference)."""

from __future__ import annotations

import re
from collections.abc import Mapping

from shared.jobspec import meant_duration
from slipway.commands.init.foreign import common
from slipway.commands.init.foreign.draft import (
    JobDraft,
    Rule,
    absent,
    apply,
    is_read,
    text_of,
    wrong,
)
from slipway.commands.init.foreign.shell_words import (
    ADDRESSES,
    FIRST_ADDRESS,
    GPUS,
    RANK,
    name_variables,
    set_variables,
)
from slipway.commands.init.foreign.yaml_tree import Member

_SIZE = re.compile(r"(\d+)(?:\.0+)?\s*([MGT])I?B?", re.ASCII | re.IGNORECASE)


def _commands(member: Member, draft: JobDraft) -> None:
    if member.kind != "list":
        raise wrong(member, draft, "a list of commands")
    commands = [draft.script(one, text_of(one, draft)).rstrip() for one in member.items]
    draft.run = "\n".join(["set -e", *commands]) if commands else ""


def _environment(member: Member, draft: JobDraft) -> None:
    """A list of NAME=VALUE, or of names whose values the shell has; objects have a rule of their own."""
    if member.kind != "list":
        raise wrong(member, draft, "a list or an object")
    for one in member.items:
        name, equals, value = text_of(one, draft).partition("=")
        draft.variable(one, name, value if equals else None)


def _image(member: Member, draft: JobDraft) -> None:
    draft.container["imageSourceRegistry"] = {"image": text_of(member, draft)}


def _shared_memory(member: Member, draft: JobDraft) -> None:
    size = _SIZE.fullmatch(text_of(member, draft).strip())
    if size is None or size[2].upper() == "T":
        return draft.note(member, "none", 'write "shmSize" into containerSettings, such as 16g')
    draft.container["shmSize"] = f"{size[1]}{size[2].lower()}"
    return None


def _shell(member: Member, draft: JobDraft) -> None:
    shell = text_of(member, draft)
    if shell not in ("sh", "bash") and not re.fullmatch(r"/[\w./-]+", shell, re.ASCII):
        raise wrong(member, draft, "sh, bash or an absolute path")
    draft.shell = shell


def _longest(member: Member, draft: JobDraft) -> None:
    length = meant_duration(member.text or "") if not isinstance(member.value, int) else f"PT{member.text}S"
    if member.value in ("off", False):
        return
    if length is None:
        raise wrong(member, draft, "a length of time, such as 4h")
    draft.properties["constraints"] = {"maxWallClockTime": length}


RULES: Mapping[str, Rule] = {
    "type": is_read,
    "name": common.name,
    "nodes": common.nodes,
    "groups": absent("all nodes of a job are alike and run the same; write it as several jobs"),
    "commands": _commands,
    "env": _environment,
    "env.*": common.variable,
    "image": _image,
    "shell": _shell,
    "registry_auth": absent("a secret, which was not copied; credentials of imageSourceRegistry in job.json"),
    "user": absent("the job runs as the user of its cluster"),
    "privileged": absent("no job runs privileged"),
    "entrypoint": absent("that of the image is not used; write it into commands"),
    "working_dir": absent("a job runs in its folder; write `cd` into commands"),
    "home_dir": absent("without effect in dstack, too"),
    "python": absent("name an image, or list it in environment.yml: docs/how-to/install-packages.md"),
    "nvcc": absent("name an image that has it: slipway run --image NAME"),
    "docker": absent("no container starts others; name an image: slipway run --image NAME"),
    "single_branch": absent("the folder is sent as it is now"),
    "setup": absent("without effect in dstack, too; write it into jobPreparation"),
    "dstack": absent("give the job a key of its own: slipway run --secret SLIPWAY_KEY"),
    "ports": absent(common.FORWARD),
    "volumes": absent(common.DATA),
    "repos": absent("the folder is sent as it is now; clone another repository into it"),
    "files": absent("the folder is sent; copy the files into it"),
    "priority": absent(common.PRIORITY),
    "resources": absent(common.CLUSTER),
    "resources.cpu": absent(common.CLUSTER),
    "resources.memory": absent(common.CLUSTER),
    "resources.gpu": absent(common.CLUSTER),
    "resources.disk": absent(common.CLUSTER),
    "resources.shm_size": _shared_memory,
    "max_duration": _longest,
    "stop_duration": absent("a job has half a minute: docs/how-to/save-before-the-end.md"),
    "retry": absent("a job whose node is lost starts again by itself; after its own failure: --retry COUNT"),
    "max_price": absent("what the whole job may cost: slipway run --max-cost AMOUNT"),
    "utilization_policy": absent("an operator ends idle jobs: docs/how-to/share-clusters.md"),
    "idle_duration": absent("nodes stop when no job needs them"),
    "schedule": absent("a timer of yours calls slipway run --detach"),
    "startup_order": absent("all nodes start together"),
    "stop_criteria": absent("a job ends when the first node's command ends"),
    "tags.*": common.label,
    "tags": absent("labels have names and values: NAME: VALUE"),
    **dict.fromkeys(
        (
            *("backends", "regions", "availability_zones", "instance_types", "reservation", "spot_policy"),
            *("creation_policy", "fleets", "instances", "backend_options"),
        ),
        absent(common.CLUSTER),
    ),
}


def read(root: Member, draft: JobDraft) -> None:
    """Take the members of a task."""
    apply(RULES, root, draft)
    if "shmSize" in draft.container and "imageSourceRegistry" not in draft.container:
        del draft.container["shmSize"]
        draft.note(root.members["resources"].members["shm_size"], "none", "for jobs with an image only")
    variables = {
        "DSTACK_NODE_RANK": RANK,
        "DSTACK_NODES_NUM": str(draft.nodes),
        "DSTACK_NODES_IPS": ADDRESSES,
        "DSTACK_MASTER_NODE_IP": FIRST_ADDRESS,
        "DSTACK_GPUS_PER_NODE": GPUS,
    }
    set_variables(draft, draft.run, variables)
    for one in root.members["commands"].items if "commands" in root.members else ():
        name_variables(draft, one, "DSTACK_", variables)
