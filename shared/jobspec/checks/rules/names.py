"""Names: the cluster's, those of directories and of variables."""

from __future__ import annotations

import re
from collections.abc import Iterator

from shared.jobspec.checks.rules.container import is_cluster_id
from shared.jobspec.checks.rules.context import Context, only_if
from shared.jobspec.format.secrets import any_looks_secret, looks_secret_variable
from shared.jobspec.problems.codes import problem
from shared.jobspec.problems.fix import Fix
from shared.jobspec.problems.problem import Problem
from shared.jobspec.text.tree import Node, quote

_DIRECTORY_ID = re.compile(r"[A-Za-z0-9_]{1,64}", re.ASCII)
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,255}", re.ASCII)
#: The variables that Slipway sets for every job: what a document gives them does not count.
_OURS = re.compile(r"SLIPWAY_(?:TOKEN|JOB_ID|ATTEMPT|PACKAGES|SAVED|AFTER_.*)")
#: Before workspaces existed, clusters were in resource groups.
_OLD_ID = re.compile(r"/providers/Microsoft\.BatchAI/clusters/[^/]+/?\Z", re.IGNORECASE)
#: The id under which the service lists stdout and stderr.
_STANDARD_OUTPUT = "stdouterr"


def cluster(context: Context) -> Iterator[Problem]:
    """A configured cluster; if these are unknown, at least a full id."""
    node = context.properties.member("cluster", "id")
    names = {one.lower(): one for one in context.clusters or ()}
    if not node.text or node.text.lower() in names:
        return
    right = node.text.rstrip("/")
    if right != node.text and (is_cluster_id(right) or right.lower() in names):
        fix = Fix("replace", node.pointer, names.get(right.lower(), right))
        yield problem("SW047", node.pointer, 'the id ends with "/"', 'delete the "/" at its end', fix=fix)
    elif not is_cluster_id(node.text) and (context.clusters is None or "/" in node.text):
        remedy = "name a configured cluster, or write its full id, /subscriptions/…/clusters/NAME"
        yield problem("SW047", node.pointer, f"{quote(node.text)} {_flaw_of(node.text)}", remedy)
    elif context.clusters is not None:
        yield from _not_configured(context, node, [one.rpartition("/")[2] for one in names.values()])


def _not_configured(context: Context, node: Node, names: list[str]) -> Iterator[Problem]:
    name = (node.text or "").rpartition("/")[2]
    message = f"no cluster {quote(name)} is configured{context.suggestions.did_you_mean(name, names)}"
    remedy = f"write one of: {', '.join(sorted(names))}" if names else "ask the operator to configure one"
    if "/" in (node.text or "") and (
        same := next((one for one in names if one.lower() == name.lower()), None)
    ):
        message = f"a cluster {quote(name)} is configured, but not that of this id"
        remedy = f'write its name, "{same}", or correct subscription, resource group and workspace of the id'
    yield problem("SW047", node.pointer, message, remedy)


def _flaw_of(text: str) -> str:
    if _OLD_ID.search(text):
        return "is an id of API 2017-09-01; it does not name a workspace"
    return "is not the id of a cluster"


def directories(context: Context) -> Iterator[Problem]:
    """Ids become parts of variable names, and distinguish directories."""
    for name in ("inputDirectories", "outputDirectories"):
        ids = {_STANDARD_OUTPUT} if name == "outputDirectories" else set()
        for entry in context.properties.member(name).each():
            node = entry.member("id")
            if not node.text:
                continue
            if not _DIRECTORY_ID.fullmatch(node.text):
                right = node.text[:100].strip()
                fix = Fix("replace", node.pointer, right) if _DIRECTORY_ID.fullmatch(right) else None
                yield problem("SW040", node.pointer, f"{quote(node.text)} cannot be a directory id", fix=fix)
            elif node.text in ids:
                yield problem("SW041", node.pointer, f"the id {quote(node.text)} is taken")
            ids.add(node.text)


def _any_strange(context: Context) -> bool:
    names = [*_names(context, "environmentVariables"), *_names(context, "secrets")]
    text = "\n".join(names)
    ordinary = all(map(_VARIABLE.fullmatch, names)) and len(set(names)) == len(names)
    return not ordinary or "AZ_BATCHAI_" in text or "SLIPWAY_" in text or any_looks_secret(text)


def _names(context: Context, key: str) -> Iterator[str]:
    """The variables' names that are texts."""
    listed = context.properties.member(key).value
    for entry in listed if isinstance(listed, list) else ():
        name = entry.get("name") if isinstance(entry, dict) else None
        if isinstance(name, str):
            yield name


@only_if(_any_strange)
def environment(context: Context) -> Iterator[Problem]:
    """Names of variables: well formed, used once in both lists together, and not set by the service."""
    names: set[str] = set()
    for name in ("environmentVariables", "secrets"):
        for entry in context.properties.member(name).each():
            node = entry.member("name")
            if not node.text:
                continue
            if not _VARIABLE.fullmatch(node.text):
                right = node.text[:300].strip()
                fix = Fix("replace", node.pointer, right) if _VARIABLE.fullmatch(right) else None
                message = f"{quote(node.text)} cannot be the name of a variable"
                yield problem("SW042", node.pointer, message, fix=fix)
            elif node.text in names:
                yield problem("SW043", node.pointer, f"the variable {quote(node.text)} is given twice")
            elif node.text.startswith("AZ_BATCHAI_"):
                message = f"{quote(node.text)} is in the service's own name space"
                yield problem("SW042", node.pointer, message, "choose another name", "warning")
            elif _OURS.fullmatch(node.text):
                message = f"{quote(node.text)} is set by Slipway: the job does not get this value"
                yield problem("SW042", node.pointer, message, "choose another name", "warning")
            names.add(node.text)
            if name == "environmentVariables":
                yield from _plain_secret(entry, node.text)


def _plain_secret(entry: Node, name: str) -> Iterator[Problem]:
    value = entry.member("value").text
    if value and not value.startswith("$") and looks_secret_variable(name):
        yield problem("SW049", entry.pointer, f"the variable {quote(name)} looks like a secret")
