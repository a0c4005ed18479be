"""The configured clusters on Kubernetes, and how to reach their API servers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from shared.core.engine import Engine
from shared.core.errors import Misconfigured
from shared.engines.entry import Configured, Values
from shared.engines.kubernetes.cluster import KubernetesCluster, clusters_from
from shared.engines.kubernetes.wire.access import NOWHERE, from_kubeconfig, in_cluster
from shared.engines.kubernetes.wire.bearer import aks_token, bearer_of
from shared.engines.provisioning import Plan, Stage

if TYPE_CHECKING:
    from shared.engines.kubernetes.wire.access import Access
    from shared.engines.kubernetes.wire.client import KubernetesClient

_SETTING = "SLIPWAY_KUBECONFIGS"


def configure(options: Mapping[str, Mapping[str, Any]], settings: Values) -> Configured:
    """The clusters of SLIPWAY_CLUSTERS on this engine."""
    clusters = clusters_from(options, "SLIPWAY_CLUSTERS")
    documents = settings.document(_SETTING)
    if not isinstance(documents, dict):
        raise Misconfigured(f"{_SETTING} must be an object: Kubernetes cluster → its kubeconfig")
    accesses, faults = {}, {}
    for name in clusters:
        try:
            accesses[name] = _access(name, documents)
        except Misconfigured as error:
            if name in documents:
                raise
            faults[name] = f"{_SETTING} lacks a kubeconfig for the cluster {name}, and {error}"
    client_id = settings.text("AZURE_CLIENT_ID")

    def load() -> Engine:
        from shared.engines.kubernetes.engine import KubernetesEngine
        from shared.engines.proofs import proofs_of

        clients = {
            name: _client(one, accesses.get(name, NOWHERE), client_id) for name, one in clusters.items()
        }
        return KubernetesEngine(clusters, clients, proofs=proofs_of(settings))

    def provision(name: str, plan: Plan) -> Iterator[Stage]:
        from shared.engines.kubernetes import provision as making

        if name in faults:
            raise Misconfigured(faults[name])
        return making.provision(clusters[name], _client(clusters[name], accesses[name], client_id))

    facts = {name: one.facts for name, one in clusters.items()}
    return Configured(facts, load, faults, provision=provision, is_planned=False)


def _access(name: str, documents: Mapping[str, Any]) -> Access:
    if name in documents:
        return from_kubeconfig(documents[name], f"{_SETTING}: {name}")
    return in_cluster()


def _client(cluster: KubernetesCluster, access: Access, client_id: str) -> KubernetesClient:
    from shared.engines.kubernetes.wire.client import KubernetesClient

    has_own = bool(access.token or access.token_file or access.certificate)
    is_azure = cluster.entra and not has_own
    return KubernetesClient(access, aks_token(client_id) if is_azure else bearer_of(access))
