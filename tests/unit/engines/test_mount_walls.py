"""What a mount opens on each engine: with which key, on which cluster, in which deployment.

A job of a team reaches what the deployment or its team names, and nothing else: not by the deployment's key,
not by the identity of the nodes, and with no key by a directory that the nodes have for it.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import pytest

from shared.core.engine import Cluster, Order
from shared.core.facts import NO_FACTS
from shared.core.job import Job, JobState
from shared.engines.batch.job.check import check as on_batch
from shared.engines.batch.job.site import site as batch_site
from shared.engines.kubernetes.job.check import check as on_kubernetes
from shared.engines.kubernetes.job.site import site as kubernetes_site
from shared.engines.launch.site import Site
from shared.engines.registry import ENGINES
from shared.engines.slurm.job.check import check as on_slurm
from shared.engines.slurm.job.site import site as slurm_site
from shared.jobspec import JobSpec, Limits, Problem
from tests.doubles.memory_engine import MemoryEngine
from tests.unit.engines.batch.service import CLUSTER as BATCH
from tests.unit.engines.kubernetes.job.job_goldens import CLUSTER as KUBERNETES
from tests.unit.engines.slurm.launch_plans import CLUSTER as SLURM
from tests.unit.lifecycle.teams.test_changed_teams import teams
from tests.unit.world import CLUSTER, Engines, World, job_json

_HOST = "https://acct.file.core.windows.net"
_DEPLOYMENT_KEY = base64.b64encode(b"the key of the deployment").decode()
_OWN_KEY = base64.b64encode(b"the key of the job").decode()
#: Containers of the deployment's account, as a job of the team `a` sees them.
OPEN = ("datalake", "eyes")
CLOSED = ("scripts", "runs", "archive", "snapshots", "azure-webjobs-secrets", "app-package", "ears", "free")
#: The same of shares.
OPEN_SHARES, CLOSED_SHARES = ("logs", "eyes"), ("ears", "free")
#: What a document may say of a key.
CREDENTIALS: Mapping[str, dict[str, Any]] = {
    "none": {},
    "empty": {"credentials": {}},
    "null": {"credentials": {"accountKey": None}},
    "placeholder": {"credentials": {"accountKey": "<AZURE_BATCHAI_STORAGE_KEY>"}},
    "own key": {"credentials": {"accountKey": _OWN_KEY}},
    "made-up key": {"credentials": {"accountKey": "QUJD"}},
    "a signature": {"credentials": {"accountKey": "sv=2021-12-02&sp=rwdl&sig=eA%3D%3D"}},
    "a reference": {
        "credentials": {
            "accountKeySecretReference": {
                "sourceVault": {
                    "id": "/subscriptions/s/resourceGroups/g/providers/Microsoft.KeyVault/vaults/vault"
                },
                "secretUrl": "https://vault.vault.azure.net/secrets/key",
            }
        }
    },
}
#: Those with which a job brings a key.
_BRINGS = ("own key", "made-up key", "a signature", "a reference")


def _mounts(
    containers: Iterable[str], shares: Iterable[str], credentials: Mapping[str, Any]
) -> dict[str, list[dict[str, Any]]]:
    """Mounts of these containers and shares, each with these credentials."""
    blobs = [{"containerName": name, "relativeMountPath": f"c-{name}"} for name in containers]
    files = [{"azureFileUrl": f"{_HOST}/{name}", "relativeMountPath": f"s-{name}"} for name in shares]
    lists = {"azureBlobFileSystems": blobs, "azureFileShares": files}
    return {
        kind: [{**one, "accountName": "acct", **credentials} for one in many] for kind, many in lists.items()
    }


#: What the nodes have directories for, if any: everything.
TABLE = {
    **{f"acct/{name}": f"/shared/c-{name}" for name in (*OPEN, *CLOSED)},
    **{f"{_HOST}/{name}": f"/shared/s-{name}" for name in (*OPEN_SHARES, *CLOSED_SHARES)},
}


@dataclass
class Checked(MemoryEngine):
    """The checks of an engine, before an engine that keeps what it gets."""

    real: Callable[[Mapping[str, Any]], Iterable[Problem]] = lambda _: ()

    def check(self, spec: JobSpec) -> tuple[Problem, ...]:
        return tuple(self.real(spec.document()["properties"]))


class OnNodes(NamedTuple):
    """An engine whose nodes may have directories: a cluster, its checks, and what its program is told."""

    cluster: Any
    check: Callable[[Any, Mapping[str, Any]], Iterable[Problem]]
    site: Callable[[Any, Order], Site]


ON_NODES: Mapping[str, OnNodes] = {
    "slurm": OnNodes(replace(SLURM, ends=""), on_slurm, slurm_site),
    "batch": OnNodes(replace(BATCH, identity="the-pool"), on_batch, batch_site),
    "kubernetes": OnNodes(KUBERNETES, on_kubernetes, kubernetes_site),
}


class Road(World):
    """A deployment with two teams and one cluster of that engine."""

    def __init__(self, engine: str, table: Mapping[str, str], key: str) -> None:
        super().__init__()
        self.number, facts, own = 0, NO_FACTS, ON_NODES.get(engine)
        self.site: Callable[[Order], Site | None] = lambda _: None
        if own is not None:
            cluster = replace(own.cluster, mounts=table)
            self.engine, facts = Checked(real=partial(own.check, cluster)), cluster.facts
            self.site = partial(own.site, cluster)
        configured = {"dev": Cluster("dev", "memory", CLUSTER.id, facts)}
        self.use(engines=Engines(self.engine, configured), account_keys={"acct": key} if key else {})
        self.policy(limits=Limits(mountable=frozenset({"datalake", "logs"}), all_code=("acct", "snapshots")))

    async def job_with(self, mounts: Mapping[str, Any]) -> Job:
        self.number += 1
        self.engine.orders.clear()
        spec = job_json(stdOutErrPathPrefix="$AZ_BATCHAI_JOB_TEMP_DIR/x", mountVolumes=mounts)
        document = {"name": f"j{self.number}", "team": "a", "spec": spec}
        return (await self.message(document, f"m{self.number}")).job

    def opened(self) -> set[str]:
        """The mounts of the job of before that something else opens than a key of its own: their paths."""
        paths: set[str] = set()
        for order in self.engine.orders:
            lists = order.document["properties"]["mountVolumes"].values()
            paths |= {
                one["relativeMountPath"] for many in lists for one in many if _DEPLOYMENT_KEY in str(one)
            }
            if site := self.site(order):
                paths |= {at for at, _ in site.links}
                paths |= {one.at for one in site.volumes if "'msi'" in str(one.document)}
        return paths


@pytest.mark.parametrize("key", [_DEPLOYMENT_KEY, ""], ids=["keys", "identities"])
@pytest.mark.parametrize("table", [TABLE, {}], ids=["directories", "no-directories"])
@pytest.mark.parametrize("engine", sorted(ENGINES))
async def test_a_job_reaches_what_is_named_for_it_and_nothing_else(
    engine: str, table: Mapping[str, str], key: str
) -> None:
    road = Road(engine, table, key)
    await teams(road, a={"containers": ["eyes"]}, b={"containers": ["ears"]})
    has_directories = bool(table) and engine != "batchai"

    for words, credentials in CREDENTIALS.items():
        brings = words in _BRINGS
        job = await road.job_with(_mounts(CLOSED, CLOSED_SHARES, credentials))
        assert road.opened() == set(), (words, job.problems)
        if has_directories or not brings:
            assert job.state is JobState.REJECTED
            refused = {one["pointer"] for one in job.problems if one["code"] == "SW082"}
            assert len(refused) == len((*CLOSED, *CLOSED_SHARES)), (words, job.problems)

        job = await road.job_with(_mounts(OPEN, OPEN_SHARES, credentials))
        assert road.opened() == _expected(engine, has_directories, key, brings), (words, job.problems)


def _expected(engine: str, has_directories: bool, key: str, brings: bool) -> set[str]:
    """The paths of the open mounts that something else opens than a key of the job."""
    containers, shares = {f"c-{name}" for name in OPEN}, {f"s-{name}" for name in OPEN_SHARES}
    if has_directories:
        return containers | shares
    if brings or engine in ("slurm", "kubernetes"):
        return set()
    if key:
        return containers | shares
    return containers if engine == "batch" else set()  # the identity of the pool opens no share
