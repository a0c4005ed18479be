"""Variables that a job uses: something has to define them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import TypeAlias

from shared.jobspec.checks.rules.context import Context, only_if
from shared.jobspec.problems.codes import problem
from shared.jobspec.problems.problem import Problem, Severity
from shared.jobspec.text.tree import Node, quote

_USED = re.compile(r"\$\{?(AZ_BATCHAI_[A-Za-z0-9_]*)", re.ASCII)
#: The variable that a path begins with.
_FIRST = re.compile(r"\$(?:([A-Za-z_][A-Za-z0-9_]*)|\{([A-Za-z_][A-Za-z0-9_]*)\})", re.ASCII)
#: Variables that systems set. Whether the nodes of a cluster share the home directory, its engine knows.
_OF_SYSTEMS = frozenset(("HOME", "PWD", "TMPDIR", "USER"))
#: Findings per text: each costs a search for a better name, and people would not read more.
_MOST_IN_ONE_TEXT = 20
#: Names of variables, in document order.
_Ids: TypeAlias = dict[str, None]
#: What follows for the results, unless the cluster keeps files outside of mounts.
LOST = ", so the results are lost with the node"
_ROOTED = "begin the path with $AZ_BATCHAI_JOB_MOUNT_ROOT/ or $AZ_BATCHAI_MOUNT_ROOT/"
#: Azure Batch sets variables of its own on each node.
_OF_AZURE_BATCH = "AZ_BATCH_"
_INPUT, _OUTPUT = "AZ_BATCHAI_INPUT_", "AZ_BATCHAI_OUTPUT_"

#: Variables that the service set: documented, or observed in recipes and on nodes.
KNOWN_VARIABLES: _Ids = dict.fromkeys(
    f"AZ_BATCHAI_{name}"
    for name in (
        "CLUSTER_NAME",
        "GPU_COUNT_FOUND",
        "GPU_COUNT_NEED",
        "JOB_MASTER_NODE_IP",
        "JOB_MOUNT_ROOT",
        "JOB_NAME",
        "JOB_TEMP",
        "JOB_TEMP_DIR",
        "JOB_WORK_DIR",
        "MOUNT_ROOT",
        "MPI_HOST_FILE",
        "MPI_MASTER_NODE",
        "NUM_GPUS",
        "NUM_GPUS_PER_NODE",
        "PS_HOSTS",
        "PYTORCH_BACKEND",
        "PYTORCH_INIT_METHOD",
        "SHARED_JOB_TEMP",
        "STDOUTERR_DIR",
        "TASK_INDEX",
        "TASK_TYPE",
        "WORKER_HOSTS",
    )
)

#: Known variables that hold no directory which remains when the node goes.
OF_NODES = (frozenset(KNOWN_VARIABLES) | _OF_SYSTEMS) - {
    *("AZ_BATCHAI_MOUNT_ROOT", "AZ_BATCHAI_JOB_MOUNT_ROOT", "AZ_BATCHAI_STDOUTERR_DIR", "HOME")
}


def first_variable(text: str) -> str:
    """The name of the variable that a path begins with; "" if it begins with none."""
    match = _FIRST.match(text)
    return (match[1] or match[2]) if match else ""


def _any_undefined(context: Context) -> bool:
    used = set(_USED.findall(context.text)).difference(KNOWN_VARIABLES)
    if not used:
        return False
    ids = (_ids(context, "inputDirectories", _INPUT), _ids(context, "outputDirectories", _OUTPUT))
    return bool(used.difference(*ids, _names(context)))


@only_if(_any_undefined)
def variables(context: Context) -> Iterator[Problem]:
    """Variables of directories that the job does not have, and variables that nothing sets."""
    inputs = _ids(context, "inputDirectories", _INPUT)
    outputs = _ids(context, "outputDirectories", _OUTPUT)
    own = _names(context)
    nodes = [*context.files, *context.commands, *context.inputs, *context.prefixes]
    prefixes = {node.pointer for node in context.prefixes}
    for node in (*nodes, *context.environment_values):
        used = dict.fromkeys(_USED.findall(node.text or ""))
        first = first_variable(node.text or "") if node.pointer in prefixes else ""
        if not first.startswith(_INPUT):
            used.pop(first, None)  # `prefixes` reports it
        undefined = (name for name in used if not (name in own or name in inputs or name in outputs))
        for name in islice(undefined, _MOST_IN_ONE_TEXT):
            yield from _undefined(context, node, name, inputs, outputs)


def prefixes(context: Context) -> Iterator[Problem]:
    """The variable that a path of results begins with has to be set before the directories are made."""
    for node in context.prefixes:
        name = first_variable(node.text or "")
        if not name and (node.text or "").startswith("$"):
            begin = quote((node.text or "").partition("/")[0], 60)
            message = f"the path begins with {begin}, which is not a variable as nodes read it{LOST}"
            yield problem("SW045", node.pointer, message, f"write $NAME or ${{NAME}}; {_ROOTED}", "error")
        if not name or name in KNOWN_VARIABLES or name in _OF_SYSTEMS or name.startswith(_INPUT):
            continue
        if name in _names(context) or name in _ids(context, "outputDirectories", _OUTPUT):
            message = f"${name[:80]} is set after the directories of the results are made{LOST}"
            yield problem("SW045", node.pointer, message, _ROOTED, "error", piece=name)
        else:
            certain = name.startswith("AZ_") and not name.startswith(_OF_AZURE_BATCH)
            hint = context.suggestions.did_you_mean(name, KNOWN_VARIABLES)
            message = f"nothing sets ${name[:80]}{LOST}{hint}"
            severity: Severity = "error" if certain else "warning"
            yield problem("SW045", node.pointer, message, _ROOTED, severity, piece=name)


def _undefined(context: Context, node: Node, name: str, inputs: _Ids, outputs: _Ids) -> Iterator[Problem]:
    for prefix, ids, kind in ((_INPUT, inputs, "input"), (_OUTPUT, outputs, "output")):
        if name.startswith(prefix):
            own_id = quote(name.removeprefix(prefix))
            hint = context.suggestions.did_you_mean(name, ids)
            message = f"${name[:80]} is used, but the job does not have an {kind} directory {own_id}{hint}"
            remedy = f'add {{"id": {own_id}, …}} to {kind}Directories, or correct the name'
            yield problem("SW044", node.pointer, message, remedy, piece=name)
            return
    if name not in KNOWN_VARIABLES and not name.startswith("AZ_BATCHAI_PREV_OUTPUT_"):
        hint = context.suggestions.did_you_mean(name, KNOWN_VARIABLES)
        yield problem("SW045", node.pointer, f"nothing sets ${name[:80]}{hint}", piece=name)


def _ids(context: Context, name: str, prefix: str) -> _Ids:
    ids = (entry.member("id").text for entry in context.properties.member(name).each())
    return dict.fromkeys(prefix + text for text in ids if text)


def _names(context: Context) -> set[str]:
    values = [context.properties.member(key).value for key in ("environmentVariables", "secrets")]
    entries = [entry for one in values if isinstance(one, list) for entry in one if isinstance(entry, dict)]
    return {name for entry in entries if isinstance(name := entry.get("name"), str) and name}
