"""The configured clusters on Azure Batch, and the credentials for their accounts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from shared.core.engine import Engine
from shared.core.errors import Misconfigured
from shared.engines.batch.cluster import BatchCluster, clusters_from
from shared.engines.batch.wire.sign import Identity, Key, key_from
from shared.engines.entry import Configured, Values
from shared.engines.provisioning import Plan, Stage

if TYPE_CHECKING:
    from shared.engines.batch.storage.access import SharedKey


def configure(options: Mapping[str, Mapping[str, Any]], settings: Values) -> Configured:
    """The clusters of SLIPWAY_CLUSTERS on this engine."""
    clusters = clusters_from(options, "SLIPWAY_CLUSTERS")
    secrets = settings.document("SLIPWAY_BATCH_KEYS")
    if not isinstance(secrets, dict) or not all(isinstance(key, str) for key in secrets.values()):
        raise Misconfigured("SLIPWAY_BATCH_KEYS must be an object: Azure Batch cluster → key of its account")
    client_id = settings.text("AZURE_CLIENT_ID")

    def key_of(cluster: BatchCluster) -> Key:
        if cluster.name not in secrets:
            return Identity(client_id, cluster.scope)
        return key_from(cluster.owner, secrets[cluster.name], f"SLIPWAY_BATCH_KEYS: {cluster.name}")

    keys = {name: key_of(one) for name, one in clusters.items()}

    def load() -> Engine:
        from shared.engines.batch.account import Account
        from shared.engines.batch.engine import BatchEngine
        from shared.engines.batch.storage.access import Access
        from shared.engines.proofs import proofs_of

        containers = {
            name: Access(one, client_id, _emulator_key(one, settings)) for name, one in clusters.items()
        }
        accounts = {name: Account(one, client_id) for name, one in clusters.items()}
        return BatchEngine(
            clusters, keys, containers=containers, accounts=accounts, proofs=proofs_of(settings)
        )

    def provision(name: str, plan: Plan) -> Iterator[Stage]:
        from shared.engines.batch import provision as making
        from shared.engines.batch.account import Account

        cluster = clusters[name]
        return making.provision(cluster, key_of(cluster), plan, Account(cluster, client_id))

    facts = {name: one.facts for name, one in clusters.items()}
    return Configured(facts, load, provision=provision)


def _emulator_key(cluster: BatchCluster, settings: Values) -> SharedKey | None:
    """The key of the storage emulator, from the connection string of the app's own account."""
    from shared.engines.batch.storage.access import SharedKey

    if not cluster.is_emulated:
        return None
    pairs = (part.partition("=") for part in settings.connection().string.split(";"))
    members = {name.strip(): value.strip() for name, _, value in pairs}
    if not members.get("AccountName") or not members.get("AccountKey"):
        return None
    return SharedKey(members["AccountName"], members["AccountKey"])
