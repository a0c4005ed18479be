"""Paths: well formed, and on a mount that exists."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from posixpath import normpath
from typing import NamedTuple

from shared.jobspec.checks.rules.context import Context, only_if
from shared.jobspec.checks.rules.mounted import Mounted
from shared.jobspec.checks.rules.text import is_forbidden
from shared.jobspec.checks.rules.variables import OF_NODES, first_variable
from shared.jobspec.problems.codes import problem
from shared.jobspec.problems.fix import Fix
from shared.jobspec.problems.problem import Problem, Severity
from shared.jobspec.text.file_names import character_flaw, level_flaw
from shared.jobspec.text.lookalikes import SPACES
from shared.jobspec.text.tree import Node, quote, walk

_CLUSTER_ROOT, _JOB_ROOT = "AZ_BATCHAI_MOUNT_ROOT", "AZ_BATCHAI_JOB_MOUNT_ROOT"
#: The value that $AZ_BATCHAI_MOUNT_ROOT always had, which people wrote out.
_LITERAL_ROOT = "/mnt/batch/tasks/shared/LS_root/mounts"
_ROOTED = re.compile(
    rf"(?:\$(?P<name>{_CLUSTER_ROOT}|{_JOB_ROOT})(?![A-Za-z0-9_])"
    rf"|\$\{{(?P<braced>{_CLUSTER_ROOT}|{_JOB_ROOT})\}}|{_LITERAL_ROOT}(?![A-Za-z0-9_.-]))"
    # What a shell ends the path at, or a list of paths; a member that holds one path is read as a whole.
    r"(?P<rest>/[^\s\"'`;|&<>()$,:=\\*?\[\]{}]*)?",
    re.ASCII,
)

_PLAIN = re.compile(r"[A-Za-z0-9_$][A-Za-z0-9_.-]{0,99}(?:/[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}){0,20}", re.ASCII)
#: A drive, or a variable as the command line of Windows writes it.
_WINDOWS = re.compile(r"[A-Za-z]:[\\/]|\\\\|%[A-Za-z_][A-Za-z0-9_]{0,99}%", re.ASCII)
_VARIABLE = re.compile(r"%(AZ_BATCHAI_[A-Za-z0-9_]{1,99})%", re.ASCII)
#: A shell would remove these quotes; around a path in a member of its own they remain.
_QUOTED = re.compile(r"\s*(?P<quote>['\"`])(?P<path>[^'\"`]*)(?P=quote)\s*")
_FIRST_MADE = "AZ_BATCHAI_STDOUTERR_DIR"
#: Members that name a directory, which may be a mount root itself.
_DIRECTORIES = ("path", "pathPrefix", "stdOutErrPathPrefix")
#: Findings per text: each costs a search for a better name, and people would not read more.
_MOST_IN_ONE_TEXT = 20


def plain_paths(context: Context) -> Iterator[Problem]:
    """No backslashes or line breaks, and no path that leaves the directory to which it is relative."""
    for node in context.files:
        yield from _plain(node, may_climb=True)
        yield from _too_long(node)
    for node in (*context.inputs, *context.prefixes):
        yield from _plain(node)
    for entry in context.properties.member("outputDirectories").each():
        suffix = entry.member("pathSuffix")
        if suffix.text and suffix.text.startswith("/"):
            fix = _plainly(suffix, suffix.text.lstrip("/"))
            remedy = 'delete the leading "/"'
            yield problem("SW048", suffix.pointer, "pathSuffix has to be relative", remedy, fix=fix)
        else:
            yield from _plain(suffix)
    for mount in context.mounts("fileServers"):
        yield from _plain(mount.member("sourceDirectory"))


def _any_elsewhere(context: Context) -> bool:
    if not all(_ROOTED.match(node.text or "") for node in context.prefixes):
        return True
    if any(map(_is_of_node, context.prefixes)):
        return True
    matches = [
        _ROOTED.match(node.text or "") for node in (*context.files, *context.inputs, *context.prefixes)
    ]
    paths = [_mounted_path(context, match, whole=True) for match in matches if match]
    paths += [_mounted_path(context, match) for match in _ROOTED.finditer(context.text)]
    return any(not mounted.covers(path) if mounted else path for mounted, path in paths)


@only_if(_any_elsewhere)
def on_a_mount(context: Context) -> Iterator[Problem]:
    """Paths below a mount root need a mount there; results outside of mounts are lost with the node."""
    problems: list[tuple[tuple[str, ...], Problem]] = []
    for node in (*context.files, *context.inputs, *context.prefixes):
        match = _ROOTED.match(node.text or "")
        if match and _mounted_path(context, match, whole=True).mounted is None:
            problems += _unknown_mount(node, match)
        elif match:
            problems += _mounted(context, node, match, in_command=False)
    for node in (*context.commands, *context.environment_values):
        text = node.text or ""
        if "$" not in text and _LITERAL_ROOT not in text:
            continue
        matches = {match[0]: match for match in _ROOTED.finditer(text)}
        for match in islice(matches.values(), _MOST_IN_ONE_TEXT):
            problems += _mounted(context, node, match, in_command=True)
    yield from _once_a_mount(context, problems)
    for node in context.prefixes:
        if _is_of_node(node):
            message = "the path is on no mount; what is written there is lost with the node"
            remedy = f"write a path that begins with ${_JOB_ROOT}/ or ${_CLUSTER_ROOT}/"
            yield problem("SW033", node.pointer, message, remedy, "warning")


def _is_of_node(node: Node) -> bool:
    """Whether results go into a directory that only the node has."""
    text = node.text or ""
    if match := _ROOTED.match(text):
        return not text[match.end() - len(match["rest"] or "") :].strip("/")
    begin, name = text.partition("/")[0], first_variable(text)
    if name == _FIRST_MADE:  # the directory of stdout and stderr, below which others may be
        return node.pointer == "/properties/stdOutErrPathPrefix"
    return not text.startswith("$") or "_TEMP" in begin or name in OF_NODES


def _plain(node: Node, *, may_climb: bool = False) -> Iterator[Problem]:
    if not node.text:
        return
    if _WINDOWS.match(node.text):
        right = _VARIABLE.sub(r"${\1}", node.text.replace("\\", "/"))
        fix = _plainly(node, right) if _VARIABLE.search(node.text) else None
        remedy = "write $AZ_BATCHAI_JOB_MOUNT_ROOT/… and forward slashes"
        yield problem("SW048", node.pointer, "this is a Windows path, and nodes run Linux", remedy, fix=fix)
    elif quoted := _QUOTED.fullmatch(node.text):
        fix = _plainly(node, quoted["path"])
        message = "the path is in quotes, which are then a part of its name"
        yield problem("SW048", node.pointer, message, "write it without them", fix=fix)
    elif "\\" in node.text:
        fix = _plainly(node, node.text.replace("\\", "/"))
        yield problem("SW048", node.pointer, "the path has a backslash", "write forward slashes", fix=fix)
    elif "\n" in node.text or "\r" in node.text:
        yield problem("SW048", node.pointer, "the path has a line break", "delete the line break")
    elif (flaw := character_flaw(node.text)) and not (is_forbidden(node.text) or SPACES & {*node.text}):
        yield problem("SW048", node.pointer, f"the path {flaw}", "give the file another name")
    elif not may_climb and not {".", ".."}.isdisjoint(node.text.split("/")):
        message = 'the path has "." or ".." as a level'
        yield problem("SW048", node.pointer, message, "write the path without it")


def _too_long(node: Node) -> Iterator[Problem]:
    """A level that no file system of a node takes."""
    if flaw := level_flaw(node.text or ""):
        yield problem("SW048", node.pointer, f"the path {flaw}", "give the file or folder a shorter name")


def _plainly(node: Node, text: str) -> Fix | None:
    """The fix that writes the path in this form, if it is plain."""
    return Fix("replace", node.pointer, text) if _PLAIN.fullmatch(text) and ".." not in text else None


class _MountedPath(NamedTuple):
    """The mounts below a root, None while they are unknown; and a path below it."""

    mounted: Mounted | None
    path: str


class _Unmounted(NamedTuple):
    """The missing mount, and the remedy if there is one."""

    message: str
    remedy: str | None


def _mounted(
    context: Context, node: Node, match: re.Match[str], *, in_command: bool
) -> Iterator[tuple[tuple[str, ...], Problem]]:
    mounted, path = _mounted_path(context, match, whole=not in_command)
    of_job = mounted is context.job_mounted
    # The directory of all mounts can be read, and results in it are reported as those on no mount.
    is_root = not path and node.pointer.rpartition("/")[2] in _DIRECTORIES
    if mounted is None or is_root:
        return
    if not (mounted.covers(path) or (in_command and mounted.leads_to(path))):
        message, remedy = _unknown_words(context, path, mounted, of_job=of_job)
        # A command may create the directory itself; a path in another member cannot work.
        severity: Severity = "warning" if in_command else "error"
        owner = "job" if of_job else "cluster"
        flaw = problem("SW033", node.pointer, message, remedy, severity, piece=match[0])
        yield (owner, path.partition("/")[0]), flaw


def _unknown_mount(node: Node, match: re.Match[str]) -> Iterator[tuple[tuple[str, ...], Problem]]:
    first = (match["rest"] or "").strip("/").partition("/")[0]
    if first:
        message = f"it is not known whether the cluster mounts {quote(first)}"
        yield ("unknown", first), problem("SW034", node.pointer, message, piece=match[0])


def _once_a_mount(context: Context, problems: list[tuple[tuple[str, ...], Problem]]) -> Iterator[Problem]:
    """Report each mount once, at the path where it matters most, however many paths lead there."""
    root = context.properties.pointer
    if len(problems) > 1:
        order = {node.pointer: index for index, node in enumerate(walk(context.properties.value))}
        problems.sort(key=lambda one: (one[1].rank, order[one[1].pointer.removeprefix(root)]))
    pointers: dict[tuple[str, ...], set[str]] = {}
    for mount, flaw in problems:
        pointers.setdefault(mount, set()).add(flaw.pointer)
    for mount, flaw in dict(reversed(problems)).items():
        more = len(pointers[mount]) - 1
        where = f" (used here and in {more} more place{'s' if more > 1 else ''})" if more else ""
        yield replace(flaw, message=flaw.message + where)


def _mounted_path(context: Context, match: re.Match[str], *, whole: bool = False) -> _MountedPath:
    """The mounts below the root that is named, None while they are unknown; and the path below it.

    `whole`: the text holds nothing but the path.
    """
    root = match["name"] or match["braced"] or _CLUSTER_ROOT
    mounted = context.job_mounted if root == _JOB_ROOT else context.cluster_mounted
    rest = match.string[match.end() - len(match["rest"] or "") :] if whole else match["rest"] or ""
    path = rest.strip("/")
    # A level "." changes nothing, and ".." may lead out of a mount.
    return _MountedPath(mounted, normpath(path) if "/." in f"/{path}" else path)


def _unknown_words(context: Context, path: str, mounted: Mounted, *, of_job: bool) -> _Unmounted:
    owner = "the job" if of_job else "the cluster"
    if not path:
        return _Unmounted(f"the mount root itself is on no mount of {owner}", None)
    first = path.partition("/")[0]
    other = context.cluster_mounted if of_job else context.job_mounted
    remedy = None
    if other and other.covers(path):
        remedy = f"write ${_CLUSTER_ROOT if of_job else _JOB_ROOT}: that is where it is mounted"
    hint = context.suggestions.did_you_mean(first, mounted.paths)
    return _Unmounted(f"{owner} mounts nothing at {quote(first)}{hint}", remedy)
