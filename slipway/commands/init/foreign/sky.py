"""A task of SkyPilot: its members by the schema of tasks of August 2026 (https://docs.skypilot.co)."""

from __future__ import annotations

from collections.abc import Mapping

from slipway.commands.init.foreign import common
from slipway.commands.init.foreign.draft import (
    JobDraft,
    Rule,
    absent,
    apply,
    count_of,
    text_of,
    wrong,
)
from slipway.commands.init.foreign.shell_words import (
    ADDRESSES,
    GPUS,
    RANK,
    name_variables,
    set_variables,
)
from slipway.commands.init.foreign.yaml_tree import Member

_MOST_RETRIES = 10
_INNER = "of SkyPilot's own use"
_NO_SERVICE = "a job ends; nothing here serves requests"


def _folder(member: Member, draft: JobDraft) -> None:
    draft.folder = text_of(member, draft)


def _setup(member: Member, draft: JobDraft) -> None:
    draft.setup = draft.script(member, text_of(member, draft))


def _run(member: Member, draft: JobDraft) -> None:
    draft.run = draft.script(member, text_of(member, draft))


def _secrets(member: Member, draft: JobDraft) -> None:
    """A list of names, or an object; each of them is named, and no value is copied."""
    for one in member.items:
        draft.secret(one, text_of(one, draft))
    if member.kind == "value":
        raise wrong(member, draft, "a list or an object")


def _secret(member: Member, draft: JobDraft) -> None:
    draft.secret(member, member.name)


def _image(member: Member, draft: JobDraft) -> None:
    image = member.text or ""
    if not image.startswith("docker:"):
        return draft.note(member, "none", "a machine image; name a container image: docker:NAME")
    draft.container["imageSourceRegistry"] = {"image": image.removeprefix("docker:")}
    return None


def _restarts(member: Member, draft: JobDraft) -> None:
    if member.value == 0:
        return
    count = count_of(member, draft)
    draft.retry["user"] = min(count, _MOST_RETRIES)
    if count > _MOST_RETRIES:
        draft.note(member, "changed", f"a job here has {_MOST_RETRIES} more attempts at most")


RULES: Mapping[str, Rule] = {
    "name": common.name,
    "workdir": _folder,
    "workdir.url": absent("clone the repository, and run its folder: slipway run FOLDER"),
    "workdir.ref": absent("check it out in the folder that you run"),
    "event_callback": absent("name a webhook: slipway run --notify URL"),
    "num_nodes": common.nodes,
    "setup": _setup,
    "run": _run,
    "envs.*": common.variable,
    "secrets": _secrets,
    "secrets.*": _secret,
    "managed_secrets": absent("set them in your shell: slipway run --secret NAME"),
    "file_mounts": absent(common.DATA),
    "file_mounts_mapping": absent(_INNER),
    "volumes": absent(common.DATA),
    "volume_mounts": absent(common.DATA),
    "inputs": absent(common.DATA),
    "outputs": absent(common.DATA),
    "service": absent(_NO_SERVICE),
    "pool": absent(_NO_SERVICE),
    "config": absent("an operator configures clusters: docs/how-to/connect-a-cluster.md"),
    "api_server_access": absent("give the job a key of its own: slipway run --secret SLIPWAY_KEY"),
    "_metadata": absent(_INNER),
    "resources.cloud": absent(common.CLUSTER),
    "resources.region": absent(common.CLUSTER),
    "resources.zone": absent(common.CLUSTER),
    "resources.infra": absent(common.CLUSTER),
    "resources.cpus": absent(common.CLUSTER),
    "resources.memory": absent(common.CLUSTER),
    "resources.accelerators": absent(common.CLUSTER),
    "resources.accelerator_args": absent(common.CLUSTER),
    "resources.instance_type": absent(common.CLUSTER),
    "resources.use_spot": absent(common.CLUSTER),
    "resources.any_of": absent(common.CLUSTER),
    "resources.ordered": absent(common.CLUSTER),
    "resources.volumes": absent(common.DATA),
    "resources.disk_size": absent(common.CLUSTER),
    "resources.ephemeral_storage": absent(common.CLUSTER),
    "resources.disk_tier": absent(common.CLUSTER),
    "resources.local_disk": absent(common.CLUSTER),
    "resources.network_tier": absent(common.CLUSTER),
    "resources.max_hourly_cost": absent("what the whole job may cost: slipway run --max-cost AMOUNT"),
    "resources.ports": absent(common.FORWARD),
    "resources.labels.*": common.label,
    "resources.image_id": _image,
    "resources.autostop": absent("nodes stop when no job needs them"),
    "resources.priority": absent(common.PRIORITY),
    "resources.priority_class": absent(common.PRIORITY),
    "resources.job_recovery": absent("a job whose node is lost starts again by itself, three times"),
    "resources.job_recovery.strategy": absent("a job whose node is lost starts again by itself, three times"),
    "resources.job_recovery.max_restarts_on_errors": _restarts,
    "resources.job_recovery.recover_on_exit_codes": absent("every failure of its own counts: --retry COUNT"),
    "resources._no_missing_accel_warnings": absent(_INNER),
    "resources._docker_login_config": absent("a secret, which was not copied; " + _INNER),
    "resources._is_image_managed": absent(_INNER),
    "resources._requires_fuse": absent(_INNER),
    "resources._cluster_config_overrides": absent(_INNER),
}


def read(root: Member, draft: JobDraft) -> None:
    """Take the members of a task."""
    apply(RULES, root, draft)
    variables = {
        "SKYPILOT_NODE_RANK": RANK,
        "SKYPILOT_NODE_IPS": ADDRESSES,
        "SKYPILOT_NUM_NODES": str(draft.nodes),
        "SKYPILOT_NUM_GPUS_PER_NODE": GPUS,
        "SKYPILOT_SETUP_NODE_RANK": RANK,
    }
    set_variables(draft, draft.run, variables)
    for name in ("run", "setup"):
        if (member := root.members.get(name)) is not None:
            name_variables(draft, member, "SKYPILOT_", variables if name == "run" else {})
