"""What an option of `sbatch` is here: the limits, the resources and the variables of a job."""

from __future__ import annotations

import re
from datetime import timedelta

from shared.jobspec import SHARE, iso_duration
from slipway.commands.init.foreign.draft import JobDraft, Rule, shown, text_of, wrong
from slipway.commands.init.foreign.yaml_tree import Member

_TIME = re.compile(r"(?:(\d{1,4})-)?(\d{1,6})(?::(\d{1,2}))?(?::(\d{1,2}))?", re.ASCII)
_MEMORY = re.compile(r"(\d{1,9})([KMGT]?)B?", re.ASCII | re.IGNORECASE)
_GPUS = re.compile(r"(?:gres/)?(?:gpu:)?(?:([A-Za-z0-9_.-]*[A-Za-z_][A-Za-z0-9_.-]*):)?(\d{1,4})", re.ASCII)
_RANGE = re.compile(r"(\d{1,4})(?:-(\d{1,4}))?", re.ASCII)
ON_NODES = "the cluster decides; docs/reference/engines.md#less-than-a-whole-node says what a job may choose"
#: What is said of tasks.
TASKS = "the script runs once, on the first node; start more processes in it: mpirun -n COUNT"


def resource(name: str) -> Rule:
    """The rule for what a job may choose of its cluster under this name."""

    def rule(member: Member, draft: JobDraft) -> None:
        draft.resources[name] = text_of(member, draft)

    return rule


def nodes(member: Member, draft: JobDraft) -> None:
    """The nodes of the job: the least of a range."""
    match = _RANGE.fullmatch(text_of(member, draft))
    if match is None or int(match[1]) < 1:
        raise wrong(member, draft, "a number of nodes")
    draft.nodes = int(match[1])
    if match[2] and match[2] != match[1]:
        draft.note(member, "changed", f"a job has a fixed number of nodes: {match[1]}")


def time(member: Member, draft: JobDraft) -> None:
    """`minutes`, `minutes:seconds`, `hours:minutes:seconds`, `days-hours[:minutes[:seconds]]`."""
    text = text_of(member, draft)
    if (match := _TIME.fullmatch(text)) is None:
        raise wrong(member, draft, "a length of time, such as 4:00:00")
    days, *rest = (int(part) if part else None for part in match.groups())
    first, second, third = rest
    if days is not None:
        hours, minutes, seconds = first or 0, second or 0, third or 0
    elif third is not None:
        hours, minutes, seconds = first or 0, second or 0, third
    else:
        hours, minutes, seconds = 0, first or 0, second or 0
    length = timedelta(days=days or 0, hours=hours, minutes=minutes, seconds=seconds)
    if not length:
        return draft.note(member, "changed", "no limit of its own: that of the cluster, 7 days at most")
    draft.properties["constraints"] = {"maxWallClockTime": iso_duration(length)}
    return None


def memory(member: Member, draft: JobDraft) -> None:
    """The memory of each node."""
    match = _MEMORY.fullmatch(text_of(member, draft))
    if match is None:
        raise wrong(member, draft, "an amount of memory, such as 16G")
    size, unit = int(match[1]), match[2].upper() or "M"
    if not size:
        return draft.note(member, "none", "all memory of a node: choose whole nodes, --exclusive")
    draft.resources["memory"] = f"{-(-size // 1024)}M" if unit == "K" else f"{size}{unit}"
    return None


def gpus_of_node(member: Member, draft: JobDraft) -> None:
    """The GPUs of each node, and their type."""
    match = _GPUS.fullmatch(text_of(member, draft))
    if match is None:
        return draft.note(member, "none", ON_NODES)
    draft.resources["gpus"] = int(match[2])
    if match[1]:
        draft.resources["gpuType"] = match[1]
    return None


def gres(member: Member, draft: JobDraft) -> None:
    """The same among the generic resources."""
    if not text_of(member, draft).startswith(("gpu:", "gres/gpu:")):
        return draft.note(member, "none", ON_NODES)
    return gpus_of_node(member, draft)


def gpus_of_job(member: Member, draft: JobDraft) -> None:
    """The GPUs of all nodes, which are known once every option is."""
    draft.whole["gpus"] = member


def cpus(member: Member, draft: JobDraft) -> None:
    """The CPUs of each task, of which a node may have several."""
    draft.whole["cpus"] = member


def tasks_of_node(member: Member, draft: JobDraft) -> None:
    """How many processes a node has: the script starts them itself."""
    draft.whole["tasks"] = member
    draft.note(member, "none", TASKS)


def exclusive(member: Member, draft: JobDraft) -> None:
    """Whole nodes."""
    draft.resources["exclusive"] = True
    if member.text:
        draft.note(member, "changed", "whole nodes")


def comment(member: Member, draft: JobDraft) -> None:
    """The comment, as a label."""
    draft.label(member, "comment", text_of(member, draft))


def export(member: Member, draft: JobDraft) -> None:
    """The variables of the job."""
    for one in text_of(member, draft).split(","):
        name, equals, value = one.partition("=")
        if equals:
            draft.variable(member, name, value)
        elif name not in ("NONE", "NIL"):
            what = "your shell's variables stay in it" if name == "ALL" else f"{shown(name)} is your shell's"
            draft.note(member, "none", f"{what}; send one: slipway run --env NAME")


def no_retry(member: Member, draft: JobDraft) -> None:
    """No new attempt when a node is lost."""
    draft.retry["infrastructure"] = 0


def share(draft: JobDraft) -> None:
    """The GPUs and the CPUs of each node, from those of the job and of a task."""
    if (gpus := draft.whole.get("gpus")) is not None:
        match = _GPUS.fullmatch(text_of(gpus, draft))
        if match is None or int(match[2]) % draft.nodes:
            draft.note(gpus, "none", ON_NODES)
        else:
            draft.resources["gpus"] = int(match[2]) // draft.nodes
            draft.resources |= {"gpuType": match[1]} if match[1] else {}
    if (cpus := draft.whole.get("cpus")) is not None:
        tasks = draft.whole.get("tasks")
        draft.resources["cpus"] = _number(cpus, draft) * (_number(tasks, draft) if tasks is not None else 1)
    if draft.resources.get("exclusive"):
        draft.resources = {name: one for name, one in draft.resources.items() if name not in SHARE}


def _number(member: Member, draft: JobDraft) -> int:
    text = text_of(member, draft)
    if not text.isascii() or not text.isdecimal() or int(text[:9]) < 1:
        raise wrong(member, draft, "a whole number from 1")
    return int(text[:9])
