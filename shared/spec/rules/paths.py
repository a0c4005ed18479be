"""Paths: well formed, and on a mount that exists."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from shared.spec.codes import problem
from shared.spec.fix import Fix
from shared.spec.problem import Problem, Severity
from shared.spec.rules.context import Context, only_if
from shared.spec.rules.mounted import Mounted
from shared.spec.tree import Node, shown

_CLUSTER_ROOT, _JOB_ROOT = "AZ_BATCHAI_MOUNT_ROOT", "AZ_BATCHAI_JOB_MOUNT_ROOT"
#: The value that $AZ_BATCHAI_MOUNT_ROOT always had; people wrote it out.
_LITERAL_ROOT = "/mnt/batch/tasks/shared/LS_root/mounts"
_ROOTED = re.compile(
    rf"(?:\$(?P<name>{_CLUSTER_ROOT}|{_JOB_ROOT})(?![A-Za-z0-9_])"
    rf"|\$\{{(?P<braced>{_CLUSTER_ROOT}|{_JOB_ROOT})\}}|{_LITERAL_ROOT}(?![A-Za-z0-9_.-]))"
    r"(?P<rest>/[A-Za-z0-9_./-]*)?",
    re.ASCII,
)

_PLAIN = re.compile(r"[A-Za-z0-9_$][A-Za-z0-9_.-]{0,99}(?:/[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}){0,20}", re.ASCII)
#: Each finding costs a search for a better name; nobody reads more of one text.
_MOST_IN_ONE_TEXT = 20


def plain_paths(context: Context) -> Iterator[Problem]:
    """No backslashes and line breaks anywhere; no way out of the place that a path is relative to."""
    for node in context.files():
        yield from _plain(node, may_climb=True)
    for node in (*context.inputs(), *context.prefixes()):
        yield from _plain(node)
    for entry in context.properties.at("outputDirectories").each():
        suffix = entry.at("pathSuffix")
        if suffix.text and suffix.text.startswith("/"):
            fix = _plainly(suffix, suffix.text.lstrip("/"))
            remedy = 'delete the leading "/"'
            yield problem("SW048", suffix.pointer, "pathSuffix has to be relative", remedy, fix=fix)
        else:
            yield from _plain(suffix)
    for mount in context.mounts("fileServers"):
        yield from _plain(mount.at("sourceDirectory"))


def _any_elsewhere(context: Context) -> bool:
    for found in _ROOTED.finditer(context.text):
        mounted, path = _below(context, found)
        if not mounted.covers(path) if mounted else path:
            return True
    return not all(_ROOTED.match(node.text or "") for node in context.prefixes())


@only_if(_any_elsewhere)
def on_a_mount(context: Context) -> Iterator[Problem]:
    """Paths below a mount root need a mount there; results that are on no mount are lost with the node."""
    for node in (*context.files(), *context.inputs(), *context.prefixes()):
        found = _ROOTED.match(node.text or "")
        if found:
            yield from _mounted(context, node, found, in_command=False)
    for node in (*context.commands(), *context.environment_values()):
        places = {found[0]: found for found in _ROOTED.finditer(node.text or "")}
        for found in islice(places.values(), _MOST_IN_ONE_TEXT):
            yield from _mounted(context, node, found, in_command=True)
    for node in context.prefixes():
        text = node.text or ""
        if not _ROOTED.match(text) and (not text.startswith("$") or "_TEMP" in text.partition("/")[0]):
            message = "the path is on no mount; what is written there is lost with the node"
            remedy = f"write a path that begins with ${_JOB_ROOT}/ or ${_CLUSTER_ROOT}/"
            yield problem("SW033", node.pointer, message, remedy, "warning")


def _plain(node: Node, *, may_climb: bool = False) -> Iterator[Problem]:
    if not node.text:
        return
    if "\\" in node.text:
        fix = _plainly(node, node.text.replace("\\", "/"))
        yield problem("SW048", node.pointer, "the path has a backslash", "write forward slashes", fix=fix)
    elif "\n" in node.text or "\r" in node.text:
        yield problem("SW048", node.pointer, "the path has a line break", "delete the line break")
    elif not may_climb and not {".", ".."}.isdisjoint(node.text.split("/")):
        message = 'the path has "." or ".." as a level'
        yield problem("SW048", node.pointer, message, "write the path without it")


def _plainly(node: Node, text: str) -> Fix | None:
    """The path written so, if that is a plain path."""
    return Fix("replace", node.pointer, text) if _PLAIN.fullmatch(text) and ".." not in text else None


def _mounted(context: Context, node: Node, found: re.Match[str], *, in_command: bool) -> Iterator[Problem]:
    mounted, path = _below(context, found)
    of_job = mounted is context.job_mounted
    if mounted is None:
        if path and not in_command:
            message = f"it is not known whether the cluster mounts {shown(path)}"
            yield problem("SW034", node.pointer, message, part=found[0])
    elif not (mounted.covers(path) or (in_command and mounted.leads_to(path))):
        message, remedy = _missing(context, path, mounted, of_job=of_job)
        # A command may make the directory itself; a path that only names a missing mount cannot work.
        severity: Severity = "warning" if in_command else "error"
        yield problem("SW033", node.pointer, message, remedy, severity, part=found[0])


def _below(context: Context, found: re.Match[str]) -> tuple[Mounted | None, str]:
    """The mounts below the root that is named, None while they are unknown; and the path below it."""
    root = found["name"] or found["braced"] or _CLUSTER_ROOT
    mounted = context.job_mounted if root == _JOB_ROOT else context.cluster_mounted
    return mounted, (found["rest"] or "").strip("/")


def _missing(context: Context, path: str, mounted: Mounted, *, of_job: bool) -> tuple[str, str | None]:
    owner = "the job" if of_job else "the cluster"
    if not path:
        return f"the mount root itself is on no mount of {owner}", None
    first = path.partition("/")[0]
    other = context.cluster_mounted if of_job else context.job_mounted
    remedy = None
    if other and other.covers(path):
        remedy = f"write ${_CLUSTER_ROOT if of_job else _JOB_ROOT}: that is where it is mounted"
    hint = context.suggestions.did_you_mean(first, mounted.paths)
    return f"{owner} mounts nothing at {shown(first)}{hint}", remedy
