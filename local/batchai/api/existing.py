"""PUT of a resource that exists already, or that would exceed a limit."""

from typing import Any

from local.batchai.state import ids
from local.batchai.state.database import Store
from local.batchai.state.errors import ArmError
from local.batchai.state.models import Cluster, FileServer, Job
from local.batchai.state.regions import region

#: The documented maximum of a subscription in one region.
MOST_CLUSTERS = 200
#: The documented maximum of a resource group.
MOST_WORKSPACES = 800


def clusters_in(store: Store, subscription: str, location: str) -> list[Cluster]:
    """The clusters of a subscription in a region. A cluster is in the region of its workspace."""
    workspaces = {
        ids.key(one.id)
        for one in store.workspaces
        if region(one.location) == region(location)
        and ids.names_in(one.id)[0].lower() == subscription.lower()
    }
    return [one for one in store.clusters if ids.key(ids.parent(one.id)) in workspaces]


def check_quota(existing: int, most: int, what: str) -> None:
    """Raise ArmError 409 if the limit is reached."""
    if existing >= most:
        message = f"There may be at most {most} {what}; delete some first."
        raise ArmError(409, "QuotaExceeded", message)


def check_same(existing: Cluster | Job | FileServer, document: dict[str, Any], remedy: str) -> None:
    """Raise ArmError 409 unless the earlier request was the same."""
    kind, name = type(existing).__name__, ids.name(existing.id)
    if existing.deleting:
        raise ArmError(409, "ResourceBeingDeleted", f"The {kind.lower()} {name} is being deleted.")
    fields = sorted(document.keys() | existing.document.keys())
    changed = [field for field in fields if document.get(field) != existing.document.get(field)]
    if changed:
        raise ArmError(
            409,
            f"{kind}AlreadyExists",
            f"The {kind.lower()} {name} exists with other values of {', '.join(changed)}. {remedy}",
            f"/properties/{changed[0]}",
        )
