"""The mini cluster as a cluster of the app: the settings that a person would write for a real one."""

import json
from base64 import b64encode
from collections.abc import Iterable
from pathlib import Path

from local.mirrored import directory
from local.slurm.cluster import Slurm

#: The mount of every job for what it writes, as the share `logs` is on a Batch AI cluster.
LOGS = "logs"


def app_settings(
    cluster: Slurm, name: str, account: str, *, mounted: str, ends: str, containers: Iterable[str]
) -> dict[str, str]:
    """Settings for a cluster of that name, whose jobs run on the default partition.

    `containers` of the account can be mounted by a job; `mounted` is the one that every job has, `ends` the
    one whose events tell the app of ends.
    """
    shared = cluster.shared
    mount_root = shared / "mounts"
    _link(mount_root / mounted, directory(shared, mounted))
    for folder in (mount_root / LOGS, shared / "slipway", cluster.home / "nodes"):
        folder.mkdir(exist_ok=True)
    options = {
        "url": cluster.url,
        "user": cluster.user,
        "partition": cluster.partitions[0],
        "shared": str(shared / "slipway"),
        "mountRoot": str(mount_root),
        "mounted": [LOGS, mounted],
        "temporary": str(cluster.home / "nodes"),
        "path": cluster.job_path,
        "mounts": {
            f"https://{account}.file.core.windows.net/{LOGS}": str(mount_root / LOGS),
            **{f"{account}/{container}": str(directory(shared, container)) for container in containers},
        },
        "packages": {"keep": str(shared / "environments")},
        "reads": {str(shared): str(shared)},
        "ends": str(directory(shared, ends)),
        "enter": {"local": True},
    }
    key = b64encode(cluster.jwt_key.read_bytes()).decode()
    return {
        "SLIPWAY_CLUSTER": name,
        "SLIPWAY_CLUSTERS": json.dumps({name: {"engine": "slurm", **options}}),
        "SLIPWAY_SLURM_KEYS": json.dumps({name: key}),
    }


def _link(folder: Path, target: Path) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    if not folder.is_symlink():
        folder.symlink_to(target)
