"""A real Kubernetes on this machine, built out of Debian's source package: no Docker, no systemd.

`make kube-up` runs one until Ctrl-C. A test runs its own:

    async with kubernetes(Options(data=tmp_path)) as cluster:
        cluster.url            # https://127.0.0.1:PORT, the API server
        cluster.admin          # a kubeconfig that may do everything; cluster.api makes calls with it
        cluster.slipway        # a kubeconfig of the service account for Slipway, in the namespace slipway
        cluster.shared         # the directory behind the claim `slipway`, which pods mount
        cluster.nodes          # their names
        await cluster.kill_api()             # SIGKILL; start_api() brings it back
        await cluster.kill_store()           # etcd; start_store()
        await cluster.kill_node("node-1")    # with all pods on it; start_node("node-1")

etcd, API server, controllers and scheduler are the real ones. A node is a process of ours (`kubelet`), and a
pod is processes of this machine in namespaces of their own: its image is this machine, its volumes are real.
Everything is under `Options.data`. No process survives the block, nor its owner's death.
`missing_programs()` names what a test lacks, so that it can be skipped.

In: a folder, and how many nodes. Out: a cluster behind its API server, as above.
"""

from local.kubernetes.cluster import Kubernetes
from local.kubernetes.programs import KubernetesError, Programs, find_programs
from local.kubernetes.start import Options, kubernetes

__all__ = [
    "Kubernetes",
    "KubernetesError",
    "Options",
    "Programs",
    "find_programs",
    "kubernetes",
    "missing_programs",
]


def missing_programs() -> tuple[str, ...]:
    """The programs that are missing here; none if all are installed."""
    return find_programs().missing_programs()
