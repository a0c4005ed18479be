"""Inputs and outputs of a job of Azure ML: values, mounted containers, and directories of the job."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from typing import NamedTuple

from slipway.commands.init.foreign.common import DATA
from slipway.commands.init.foreign.draft import UNKNOWN, JobDraft, shown
from slipway.commands.init.foreign.yaml_tree import Member

_IN_OUTPUT = "what the job writes is kept with it: slipway download JOB"
#: Their members, and what is said of those that are not translated.
OF_INPUT: Mapping[str, str] = {"type": "", "path": "", "mode": "its container is mounted"}
OF_OUTPUT: Mapping[str, str] = {"type": "", **dict.fromkeys(("path", "mode", "name", "version"), _IN_OUTPUT)}
_MOUNTS = "$AZ_BATCHAI_JOB_MOUNT_ROOT"
_HTTPS = re.compile(r"https://([a-z0-9]+)\.blob\.[\w.]+/([a-z0-9-]+)(?:/([^?#]*))?", re.ASCII)
_WASBS = re.compile(
    r"(?:wasbs|abfss)://([a-z0-9-]+)@([a-z0-9]+)\.(?:blob|dfs)\.[\w.]+(?:/([^?#]*))?", re.ASCII
)


class _Place(NamedTuple):
    account: str
    container: str
    path: str


def input_of(member: Member, draft: JobDraft) -> None:
    """A value stands in the command; a container is mounted; anything else is named."""
    if member.text is not None:
        draft.bindings[f"inputs.{member.name}"] = shlex.quote(member.text)
        return
    variable, path = f"$AZ_BATCHAI_INPUT_{member.name}", member.members.get("path")
    draft.bindings[f"inputs.{member.name}"] = f'"{variable}"'
    _name_others(member, draft, OF_INPUT)
    where = path.text or "" if path is not None else ""
    place = _place(where)
    if place is None:
        advice = f"set {shown(variable)}, or write its path into the command; {DATA}"
        draft.note(path or member, "none", advice)
        return
    if not any(one["relativeMountPath"] == member.name for one in draft.mounts):
        mount = {"accountName": place.account, "containerName": place.container}
        draft.mounts.append({**mount, "relativeMountPath": member.name})
    directory = f"{_MOUNTS}/{member.name}/{place.path}".rstrip("/")
    draft.inputs.append({"id": member.name, "path": directory})


def output_of(member: Member, draft: JobDraft) -> None:
    """A directory of the job; where it was to be kept is named."""
    draft.outputs.append(member.name)
    draft.bindings[f"outputs.{member.name}"] = f'"$AZ_BATCHAI_OUTPUT_{member.name}"'
    _name_others(member, draft, OF_OUTPUT)


def _name_others(member: Member, draft: JobDraft, texts: Mapping[str, str]) -> None:
    """Note each member that is not translated."""
    for one in member.members.values():
        if one.name not in texts:
            draft.note(one, "unknown", UNKNOWN)
        elif texts[one.name]:
            draft.note(one, "none", texts[one.name])


def _place(path: str) -> _Place | None:
    """The container of an address; None for one of another kind, or with a query, which may be a key."""
    if match := _HTTPS.fullmatch(path):
        return _Place(match[1], match[2], match[3] or "")
    match = _WASBS.fullmatch(path)
    return _Place(match[2], match[1], match[3] or "") if match else None
