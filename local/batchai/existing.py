"""PUT of something that is there already."""

from typing import Any

from local.batchai import ids
from local.batchai.errors import ArmError
from local.batchai.records import Cluster, Job


def check_same(existing: Cluster | Job, document: dict[str, Any], remedy: str) -> None:
    """Raise ArmError 409 unless the same thing was asked for before."""
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
