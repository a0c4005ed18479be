"""The configuration of one Slurm cluster. Pure: read from JSON, every mistake named."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from shared.core.errors import Misconfigured
from shared.core.relations.entrance import FORMS
from shared.engines.common_options import NodeOptions, check_options
from shared.engines.launch.layout import Layout
from shared.engines.options import cluster_of, each_cluster
from shared.engines.slurm.reserved import refusal
from shared.jobspec import RESOURCES, read_resources

_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_LONGEST_SETTLED = 600
#: How a job enters its container, by the configured word.
CONTAINERS = ("apptainer", "pyxis", "oci")


@dataclass(frozen=True)
class SlurmCluster(NodeOptions):
    """A cluster behind one slurmrestd. Paths are those of the nodes."""

    name: str
    #: address of slurmrestd
    url: str
    #: the user of the jobs
    user: str
    #: a directory that all nodes share and the user can write: claims, records, files by which nodes find
    #: each other
    shared: str
    partition: str = ""
    #: schedulingPriority → name of a QOS, or an explicit priority
    priorities: Mapping[str, str | int] = field(default_factory=dict)
    #: whether nodes may be taken away from jobs, which are then queued again
    preemptible: bool = False
    container: str = ""
    #: image → its unpacked OCI bundle, a directory of the nodes; for `oci`, which fetches no images
    bundles: Mapping[str, str] = field(default_factory=dict)
    #: "mpirun", or a value of srun --mpi
    mpi: str = "mpirun"
    account: str = ""
    #: the resources of each job (`jobspec.resources`); whole nodes by default
    resources: Mapping[str, Any] = field(default_factory=dict)
    #: the resources that a job may choose for itself
    allow: Sequence[str] = ()
    #: whether finished jobs are looked up in slurmdbd
    accounting: bool = False
    #: the file of jobcomp/filetxt, where this app sees it
    completions: str = ""
    #: seconds until a submitted job is on the controller's disk; it is released only then
    settle_seconds: float = 6.0
    #: whether to allow http to another machine, which exposes the token
    plain_http: bool = False
    #: how people enter running jobs: {"local": true} by srun on their own machine, or {"login": HOST, "user":
    #: NAME} on another one, with `certificates` if that wants one for each; empty if they may not
    enter: Mapping[str, Any] = field(default_factory=dict)

    @property
    def layout(self) -> Layout:
        """Where attempts keep their records."""
        return Layout("slurm", self.name, self.shared)


def clusters_from(document: Any, setting: str) -> dict[str, SlurmCluster]:
    """The clusters of a JSON object: name → options in camelCase. Raises Misconfigured."""
    return {name: _cluster(name, options, place) for name, options, place in each_cluster(document, setting)}


def _cluster(name: str, options: Any, place: str) -> SlurmCluster:
    cluster = cluster_of(SlurmCluster, name, options, place, needed=("url", "user", "shared"))
    _check(cluster, place)
    return cluster


def _check(cluster: SlurmCluster, place: str) -> None:
    """Refuse options that would fail at a job. Raises Misconfigured."""
    address = urlsplit(cluster.url)
    if address.scheme not in ("http", "https") or not address.hostname:
        raise Misconfigured(f"{place}: url must be the address of slurmrestd, e.g. https://head:6820")
    if address.scheme == "http" and address.hostname not in _LOOPBACK and not cluster.plain_http:
        raise Misconfigured(
            f"{place}: the token would travel in the clear; put slurmrestd behind https, "
            "or set plainHttp where the network is private"
        )
    if cluster.container not in ("", *CONTAINERS):
        raise Misconfigured(f"{place}: container is one of {', '.join(CONTAINERS)}, or left out")
    if cluster.container in ("pyxis", "oci") and cluster.mpi == "mpirun":
        text = f"{cluster.container} starts containers with srun: set mpi to what srun --mpi takes"
        raise Misconfigured(f"{place}: {text}")
    check_options(
        cluster,
        place,
        paths=(
            cluster.shared,
            cluster.temporary,
            *cluster.mounts.values(),
            *cluster.bundles.values(),
            *filter(None, (cluster.completions,)),
        ),
        numbers={"nodeMemory": cluster.node_memory},
    )
    if not 0 <= cluster.settle_seconds <= _LONGEST_SETTLED:
        raise Misconfigured(f"{place}: settleSeconds has to be from 0 to {_LONGEST_SETTLED}")
    _check_enter(cluster.enter, place)
    _check_resources(cluster, place)
    unknown = set(cluster.priorities) - {"low", "normal", "high"}
    if unknown:
        raise Misconfigured(f"{place}: priorities are low, normal and high, not {sorted(unknown)[0]!r}")


def _check_enter(enter: Mapping[str, Any], place: str) -> None:
    if not enter or enter == {"local": True}:
        return
    forms = {"login": FORMS["srun"]["login?"], "user": FORMS["srun"]["user"]}
    are_good = all(
        isinstance(value, bool)
        if name == "certificates"
        else name in forms and isinstance(value, str) and re.fullmatch(forms[name], value, re.ASCII)
        for name, value in enter.items()
    )
    if "login" not in enter or not are_good:
        raise Misconfigured(
            f'{place}: enter: write {{"local": true}}, or {{"login": "host", "user": "name"}}, '
            "with the names of the login node and of the jobs' user there; "
            '"certificates": true beside them if it wants one of this deployment'
        )


def _check_resources(cluster: SlurmCluster, place: str) -> None:
    _, problems = read_resources(dict(cluster.resources))
    for one in problems:
        where = one.pointer.strip("/").replace("/", ".")
        raise Misconfigured(f"{place}: {where}: {one.message}; {one.remedy}")
    if 0 < cluster.gpus < (cluster.resources.get("gpus") or 0):
        raise Misconfigured(f"{place}: resources.gpus: a node has {cluster.gpus} GPUs (gpus)")
    for name in ("exclusive", "partition", "account"):
        if name in cluster.resources:
            also = "jobs get whole nodes anyway" if name == "exclusive" else f"{name} is an option itself"
            raise Misconfigured(f"{place}: resources.{name} does not belong there: {also}")
    if text := refusal(cluster.resources.get("options") or {}):
        raise Misconfigured(f"{place}: resources.{text}")
    if unknown := [name for name in cluster.allow if name not in RESOURCES]:
        names = ", ".join(RESOURCES)
        raise Misconfigured(f"{place}: allow: there is no resource {unknown[0]!r}; there are {names}")
