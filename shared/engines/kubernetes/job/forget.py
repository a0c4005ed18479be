"""The small Job that removes the records of attempts from the pods' shared directory. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from shared.core.engine import Submission
from shared.core.job import Target
from shared.engines.kubernetes.cluster import KubernetesCluster
from shared.engines.kubernetes.job.pod import directories, program_files, rights
from shared.engines.kubernetes.job.request import MANAGED, programs_name
from shared.engines.kubernetes.job.site import PROGRAMS
from shared.engines.kubernetes.job.start import FORGET
from shared.engines.kubernetes.tolerations import tolerations

#: The variable that lists the attempts: a directory, a token, and what the job saved, on each line.
ATTEMPTS = "SLIPWAY_FORGET"
#: Seconds that it may take, and seconds for which it stays afterwards.
_LONGEST, _RETENTION = 1800, 600


def forgetting(cluster: KubernetesCluster, name: str, targets: Sequence[Target]) -> Submission:
    """POST of that Job. Kubernetes deletes it, because the ledger does not track it."""
    layout = cluster.layout
    rows = ((layout.attempt(one), one.token, layout.saved(one.job_id)) for one in targets)
    attempts = "\n".join(map("\t".join, rows))
    volumes = [program_files(programs_name()), *directories(cluster)]
    container: dict[str, Any] = {
        "name": "main",
        "image": cluster.image,
        "command": ["/bin/sh", f"{PROGRAMS}/{FORGET}"],
        "env": [
            {"name": "PATH", "value": cluster.path},
            {"name": ATTEMPTS, "value": attempts},
            {"name": "SLIPWAY_ENDS", "value": cluster.ends},
        ],
        "securityContext": {"allowPrivilegeEscalation": False},
        "volumeMounts": [one.mount for one in volumes],
    }
    pod: dict[str, Any] = {
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "securityContext": rights(cluster),
        "tolerations": tolerations(cluster.tolerations, cluster.unreachable_seconds),
        "containers": [container],
        "volumes": [one.volume for one in volumes],
    }
    if cluster.node_selector:
        pod["nodeSelector"] = dict(cluster.node_selector)
    if cluster.pull_secrets:
        pod["imagePullSecrets"] = [{"name": one} for one in cluster.pull_secrets]
    spec = {
        "backoffLimit": 0,
        "activeDeadlineSeconds": _LONGEST,
        "ttlSecondsAfterFinished": _RETENTION,
        "template": {"metadata": {"labels": dict(MANAGED)}, "spec": pod},
    }
    metadata = {"name": name, "labels": dict(MANAGED)}
    body = {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": spec}
    return Submission("POST", f"/apis/batch/v1/namespaces/{cluster.namespace}/jobs", body)
