"""cluster.json: a cluster in the format of Batch AI, completed as `az batchai` did."""

from pathlib import Path
from typing import Any

from shared.jobspec import Defaults, complete, with_credentials
from shared.settings import Settings
from slipway.failure import Failure
from slipway.settings import document


def cluster_from(file: Path, settings: Settings) -> dict[str, Any]:
    """The request body for a cluster.json, with accounts and keys filled in. Raises Failure."""
    cluster = document(file, 'a cluster, {"properties": {"vmSize": …, "scaleSettings": …}},')
    properties = cluster.get("properties")
    if not isinstance(properties, dict):
        raise Failure(f'{file}: needs "properties", an object with vmSize, scaleSettings and so on')
    unknown = sorted(cluster.keys() - {"properties", "$schema"})
    if unknown:
        raise Failure(f'{file}: has "{unknown[0]}" beside "properties"; move it there or remove it')
    for name in ("vmSize", "scaleSettings"):
        if not properties.get(name):
            raise Failure(
                f'{file}: properties needs "{name}", as in the cluster that setup makes without a file'
            )
    return {"properties": _with_mounts(properties, file, settings)}


def _with_mounts(properties: dict[str, Any], file: Path, settings: Settings) -> dict[str, Any]:
    setup = properties.get("nodeSetup")
    if setup is None:
        return properties
    if not isinstance(setup, dict) or not isinstance(setup.get("mountVolumes") or {}, dict):
        raise Failure(f"{file}: properties.nodeSetup and its mountVolumes have to be objects")
    account, key = settings.account()
    # a job's mounts and a cluster's have the same form
    mounts = {"properties": {"mountVolumes": setup.get("mountVolumes") or {}}}
    whole, _ = complete(mounts, Defaults(storage_account=account))
    whole = with_credentials(whole, {account: key} if key else {}, settings.storage_suffix())
    return properties | {"nodeSetup": setup | {"mountVolumes": whole["properties"]["mountVolumes"]}}
