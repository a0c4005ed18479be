"""The configuration of one cluster on Azure Batch. Pure: read from JSON, every mistake named."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any
from urllib.parse import urlsplit

from shared.core.errors import Misconfigured
from shared.core.facts import ClusterFacts
from shared.core.job import Target
from shared.engines.common_options import NodeOptions, check_options
from shared.engines.launch.layout import Layout
from shared.engines.node.claim import WATCH
from shared.engines.node.uploads import LATE_UPLOAD
from shared.engines.options import cluster_of, each_cluster

_LOOPBACK = ("127.0.0.1", "localhost", "::1")
#: Ids of pools and jobs. Those of our Batch jobs end with the name of a priority.
_ID = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)
#: A file server that the nodes mount for each job that names it.
_SERVER = re.compile(r"nfs://[A-Za-z0-9.-]+/[A-Za-z0-9_./-]+", re.ASCII)
_LONGEST_NAME = 57
#: The id of an account in Azure Resource Manager.
_RESOURCE = re.compile(
    r"/subscriptions/[0-9a-f-]{36}/resourceGroups/[\w.()-]{1,90}"
    r"/providers/Microsoft\.Batch/batchAccounts/(?P<name>[a-z0-9]{3,24})",
    re.ASCII | re.IGNORECASE,
)
#: The suffixes of accounts in sovereign clouds.
_CLOUDS = ("chinacloudapi.cn", "usgovcloudapi.net")
#: schedulingPriority → the priority of the Batch job for its tasks.
PRIORITIES: Mapping[str, int] = {"low": -500, "normal": 0, "high": 500}


@dataclass(frozen=True)
class BatchCluster(NodeOptions):
    """A pool of a Batch account. Paths are those of the nodes."""

    name: str
    #: address of the account: https://ACCOUNT.REGION.batch.azure.com
    url: str
    pool: str
    #: a directory that all nodes share (NFS, mounted by the pool), for claims and records
    shared: str = ""
    #: in place of `shared`: the address of a container for claims, records, and files of single nodes
    blobs: str = ""
    #: client id of the pool's identity, which the nodes use for that container
    identity: str = ""
    #: name of the account, if its address does not begin with it
    account: str = ""
    #: id of the account in Azure Resource Manager, where its quota is read
    resource: str = ""
    mount_root: str = field(default="/mnt/batch/tasks/fsmounts", kw_only=True)
    #: "docker" if the pool's image has it; "" refuses jobs with containers
    container: str = ""
    #: whether the sweeper writes the pool's autoscale formula
    scales: bool = True
    #: nodes that stay when the pool is idle
    min_nodes: int = 0
    #: whether the nodes are spot nodes; their tasks are queued again when Azure takes them away
    spot: bool = False
    #: whether people are told on which node a job runs
    enter: bool = False

    @property
    def facts(self) -> ClusterFacts:
        """The configured facts, and that nodes upload files where they have a container for them."""
        return replace(super().facts, keeps_files=bool(self.blobs))

    @cached_property
    def layout(self) -> Layout:
        """Where attempts keep their records."""
        return Layout("batch", self.name, self.shared or f"/{self.name}")

    @property
    def terminated_after(self) -> float:
        """Seconds until an attempt that was asked has seen that, saved and uploaded."""
        return 2 * WATCH + self.grace_seconds + LATE_UPLOAD

    @property
    def is_emulated(self) -> bool:
        """Whether the container belongs to an emulator, which takes signatures and no identities."""
        return urlsplit(self.blobs).hostname in _LOOPBACK

    @property
    def is_local(self) -> bool:
        """Whether the account is an emulator's, whose nodes are on this machine."""
        return urlsplit(self.url).hostname in _LOOPBACK

    @property
    def owner(self) -> str:
        """The name of the account: the first part of its address, unless configured."""
        return self.account or (urlsplit(self.url).hostname or "").partition(".")[0]

    @property
    def region(self) -> str:
        """The region of the account, from its address; "" for an emulator."""
        parts = (urlsplit(self.url).hostname or "").split(".")
        return parts[1] if parts[2:3] == ["batch"] else ""

    @cached_property
    def suffix(self) -> str:
        """The cloud's suffix of blob addresses, after ACCOUNT.blob."""
        host = urlsplit(self.url).hostname or ""
        return next((f"core.{end}" for end in _CLOUDS if host.endswith(f".{end}")), "core.windows.net")

    @cached_property
    def scope(self) -> str:
        """The scope of tokens for the account, in the account's cloud."""
        own = {"core.chinacloudapi.cn": "chinacloudapi.cn"}.get(self.suffix, self.suffix)
        return f"https://batch.{own}/.default"

    @cached_property
    def management(self) -> str:
        """The address of Azure Resource Manager in the account's cloud."""
        host = urlsplit(self.url).hostname or ""
        cloud = next((end for end in _CLOUDS if host.endswith(f".{end}")), "azure.com")
        return f"https://management.{cloud}"

    def files(self, target: Target) -> str:
        """The prefix of the names of attempts' files in the container."""
        return f"{self.name}/files/{target.experiment}/{target.name}"

    def place(self, prefix: str, signature: str) -> str:
        """How the nodes reach a prefix in the container; "" without a container."""
        if not self.blobs:
            return ""
        key = {"signature": signature} if self.is_emulated else {"client": self.identity}
        return json.dumps({"container": self.blobs, "prefix": prefix.strip("/"), **key})

    @cached_property
    def queues(self) -> Mapping[str, str]:
        """schedulingPriority → id of the Batch job for its tasks."""
        return {level: f"{self.name}-{level}" for level in PRIORITIES}


def clusters_from(document: Any, setting: str) -> dict[str, BatchCluster]:
    """The clusters of a JSON object: name → options in camelCase. Raises Misconfigured."""
    return {name: _cluster(name, options, place) for name, options, place in each_cluster(document, setting)}


def _cluster(name: str, options: Any, place: str) -> BatchCluster:
    cluster = cluster_of(BatchCluster, name, options, place, needed=("url", "pool"))
    _check(cluster, place)
    return cluster


def _check(cluster: BatchCluster, place: str) -> None:
    """Refuse options that would fail at a job. Raises Misconfigured."""
    address = urlsplit(cluster.url)
    if address.scheme not in ("http", "https") or not address.hostname:
        text = "url must be the address of a Batch account, e.g. https://ACCOUNT.REGION.batch.azure.com"
        raise Misconfigured(f"{place}: {text}")
    if address.scheme == "http" and address.hostname not in _LOOPBACK:
        raise Misconfigured(f"{place}: plain http is only for an emulator on this machine: use https")
    if not _ID.fullmatch(cluster.pool):
        raise Misconfigured(f"{place}: pool has at most 64 letters, digits, '-' and '_'")
    if not _ID.fullmatch(cluster.name) or len(cluster.name) > _LONGEST_NAME:
        text = f"its Batch jobs bear its name: use at most {_LONGEST_NAME} letters, digits, '-' and '_'"
        raise Misconfigured(f"{place}: {text}")
    named = _RESOURCE.fullmatch(cluster.resource)
    if cluster.resource and (named is None or named["name"].lower() != cluster.owner.lower()):
        text = (
            "resource must be the account's id: /subscriptions/…/providers/Microsoft.Batch/batchAccounts/NAME"
        )
        raise Misconfigured(f"{place}: {text}")
    _check_storage(cluster, place)
    mounts = (path for path in cluster.mounts.values() if not _SERVER.fullmatch(path))
    check_options(
        cluster,
        place,
        paths=(cluster.shared or "/", cluster.temporary, *mounts),
        numbers={"minNodes": cluster.min_nodes, "nodeMemory": cluster.node_memory},
    )
    if cluster.container not in ("", "docker"):
        raise Misconfigured(f"{place}: container is docker, or left out")
    _check_scaling(cluster, place)


def _check_storage(cluster: BatchCluster, place: str) -> None:
    if bool(cluster.shared) == bool(cluster.blobs):
        text = "either shared or blobs is needed: a directory that the nodes share, or a container"
        raise Misconfigured(f"{place}: {text}")
    address = urlsplit(cluster.blobs)
    if not cluster.blobs:
        return
    is_secure = address.scheme == "https" or (address.scheme == "http" and cluster.is_emulated)
    if not is_secure or not address.path.strip("/") or address.query or address.username:
        text = (
            "blobs must be the address of a container, e.g. https://ACCOUNT.blob.core.windows.net/CONTAINER"
        )
        raise Misconfigured(f"{place}: {text}")


def _check_scaling(cluster: BatchCluster, place: str) -> None:
    if not cluster.scales:
        return
    if not cluster.max_nodes:
        raise Misconfigured(f"{place}: maxNodes is missing: the most nodes that the pool may grow to")
    if cluster.min_nodes > cluster.max_nodes:
        raise Misconfigured(f"{place}: minNodes is above maxNodes")
