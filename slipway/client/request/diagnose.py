"""All problems of one file, as a deployment with default settings would find them."""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from shared.core.facts import NO_FACTS, ClusterFacts
from shared.intake.message import read_request
from shared.jobspec import (
    Defaults,
    Facts,
    JsonObject,
    Limits,
    Problem,
    Source,
    complete,
    read_envelope,
    read_through,
    script_pattern,
    scripts_wanted,
    validate,
    with_dropped_name,
    with_lint,
)

#: Stands for the cluster of a deployment.
_CLUSTER = (
    "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/slipway"
    "/providers/Microsoft.BatchAI/workspaces/dev/clusters/dev-cluster-00"
)
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)
_DROPS, _ACCOUNT, _PREFIX = "scripts", "account", "$AZ_BATCHAI_MOUNT_ROOT/logs"
_DEFAULTS = Defaults(
    cluster_id=_CLUSTER,
    storage_account=_ACCOUNT,
    drop_container=_DROPS,
    drop_account=_ACCOUNT,
    std_out_err_path_prefix=_PREFIX,
)
#: The part of a script that is read for its line ends.
_BEGINNING = 1 << 16


#: Facts of clusters, by name and by id in lowercase; "" is the default cluster.
FactsByCluster = Mapping[str, ClusterFacts]


def diagnosed(
    source: Source,
    path: Path,
    clusters: FactsByCluster = MappingProxyType({}),
    code_at: str | None = None,
) -> tuple[Problem, ...]:
    """The problems of a slipway.json, a message or a job.json, in place.

    `code_at` is where its code will be.
    """
    if path.name == "slipway.json":
        return source.locate(_of_envelope(source))
    return source.locate(_of_message(source, path, clusters, code_at))


def scripts_named(file: Path, folder: str) -> tuple[str, ...]:
    """The blobs that a job.json runs if it is dropped into this folder of the container."""
    document = read_request(file.read_bytes(), Limits()).document
    if document is None:
        return ()
    completed, _ = complete(document, _DEFAULTS, script=_script(document, file), folder=folder)
    return scripts_wanted(completed, container=_DROPS)


def _of_envelope(source: Source) -> tuple[Problem, ...]:
    document, problems = read_through(source)
    return problems if document is None else (*problems, *read_envelope(document, drop=True)[1])


def _of_message(source: Source, path: Path, clusters: FactsByCluster, code_at: str | None) -> list[Problem]:
    """The problems of a job.json, of a message, or of an event with one."""
    request = read_request(source.data, Limits())
    all_problems = list(request.problems)
    if request.document is not None:
        problems = _of_job(request.document, path, clusters, request.envelope.cluster, code_at)
        all_problems += (problem.relocate(request.pointer, request.properties) for problem in problems)
    return all_problems


def _of_job(
    document: JsonObject,
    path: Path,
    clusters: FactsByCluster,
    cluster: str | None,
    code_at: str | None,
) -> tuple[Problem, ...]:
    folder, script = path.parent.name, _script(document, path)
    named = cluster or _cluster_name(document)
    # The configured names are unknown here, so every name is accepted.
    defaults = replace(_DEFAULTS, clusters={named: _CLUSTER}) if _NAME.fullmatch(named) else _DEFAULTS
    completed, _ = complete(document, defaults, script=script, folder=folder, cluster=cluster)
    of_cluster = clusters.get(named.lower() if "/" in named else named, NO_FACTS)
    facts = replace(
        _facts(completed, path),
        cluster=named.rpartition("/")[2] or "the cluster",
        cluster_mounts=of_cluster.mounts,
        max_nodes=of_cluster.max_nodes,
        gpus_per_node=of_cluster.gpus,
        max_wall_clock=of_cluster.longest,
        keeps_files=of_cluster.keeps_files,
        default_prefix=_PREFIX,
    )
    if script is not None and not (path.parent / script).exists():
        facts = replace(facts, absent=())  # Slipway chose the name, not the user
    _, problems = validate(completed, cluster_mounts=of_cluster.mounts, accounts=(_ACCOUNT,), code_at=code_at)
    problems = tuple(_unknown_key(one) if one.code == "SW039" else one for one in problems)
    problems = with_lint(problems, completed, facts, original=document)
    if script is not None and (path.parent / script).exists():
        return with_dropped_name(problems, document, script=script, folder=folder)
    return problems


def _unknown_key(one: Problem) -> Problem:
    """What a deployment says of an account without a key, as long as none is asked."""
    message = one.message.replace("and no key is", "and it is not known whether a key is")
    return replace(one, severity="warning", message=message)


def _cluster_name(document: JsonObject) -> str:
    properties = document.get("properties")
    written = properties.get("cluster") if isinstance(properties, dict) else None
    name = written.get("id") if isinstance(written, dict) else written
    return name if isinstance(name, str) else ""


def _facts(document: JsonObject, path: Path) -> Facts:
    """The files beside a document stand for those in its folder of the container."""
    folder = f"{path.parent.name}/"

    def neighbour(name: str) -> Path | None:
        return path.parent / name.removeprefix(folder) if name.startswith(folder) else None

    absent, crlf = set(), set()
    for name in scripts_wanted(document, container=_DROPS):
        file = neighbour(name)
        if file is None or not path.exists():
            continue
        if not file.is_file():
            absent.add(name)
        elif _is_crlf(file):
            crlf.add(name)
    return Facts(drop_container=_DROPS, absent=absent, crlf=crlf)


def _is_crlf(file: Path) -> bool:
    try:
        with file.open("rb") as opened:
            return b"\r\n" in opened.read(_BEGINNING)
    except OSError:
        return False


def _script(document: JsonObject, path: Path) -> str | None:
    """The script for the placeholder of a template: one beside it, else any name."""
    pattern = script_pattern(document)
    if pattern is None:
        return None
    beside = sorted(script.name for script in path.parent.glob(pattern))
    return beside[0] if beside else pattern.replace("*", "train")
