"""The first container of a pod, which brings the code of the job: by the cluster's image, as that has Python.

Pure.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from shared.core.code.record import CodeSource
from shared.core.engine import Order
from shared.engines.kubernetes.cluster import KubernetesCluster
from shared.engines.kubernetes.job.site import PROGRAMS, UNPACKED
from shared.engines.launch.mounts import code_file

#: The container, its program, and the variable with what it fetches.
CONTAINER, PROGRAM, SOURCE = "code", "code.py", "SLIPWAY_CODE_SOURCE"
_START = f'mkdir -p "$AZ_BATCHAI_JOB_TEMP" && printf %s "${SOURCE}" | exec python3 -I {PROGRAMS}/{PROGRAM}'


def code_secret(name: str) -> str:
    """The Secret with the address, which only that container gets."""
    return f"{name}-code"


def code_values(cluster: KubernetesCluster, source: CodeSource) -> Mapping[str, str]:
    """The content of that Secret."""
    file = code_file(cluster.mounts, source)
    where = {"file": file} if file else {"address": source.address}
    return {SOURCE: json.dumps({**where, "sha256": source.sha256, "bytes": source.bytes, "at": source.at})}


def code_containers(
    cluster: KubernetesCluster, order: Order, main: Mapping[str, Any], names: Sequence[str]
) -> list[dict[str, Any]]:
    """The container, with the rights of the main one, and its volumes that have one of these names."""
    if order.code is None:
        return []
    amounts = {
        kind: {name: amount for name, amount in listed.items() if name in ("cpu", "memory")}
        for kind, listed in main["resources"].items()
    }
    values = {"AZ_BATCHAI_JOB_TEMP": UNPACKED, "AZ_BATCHAI_JOB_MOUNT_ROOT": f"{UNPACKED}/mounts"}
    return [
        {
            "name": CONTAINER,
            "image": cluster.image,
            "command": ["/bin/sh", "-c", _START],
            "env": [{"name": name, "value": value} for name, value in values.items()],
            "envFrom": [{"secretRef": {"name": code_secret(order.target.name)}}],
            "resources": amounts,
            "securityContext": main["securityContext"],
            "volumeMounts": [one for one in main["volumeMounts"] if one["name"] in names],
            "terminationMessagePolicy": "FallbackToLogsOnError",
        }
    ]
