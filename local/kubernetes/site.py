"""Where a cluster has its files and its ports, and how it was asked to be. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class Site:
    """One cluster on this machine."""

    home: Path
    #: etcd's for clients and for peers
    etcd: int
    etcd_peers: int
    api: int
    controllers: int
    scheduler: int
    #: names of the nodes → the port of each
    nodes: Mapping[str, int]
    #: each node has so many, as far as Kubernetes knows
    gpus: int
    #: that a node runs at a time
    pods: int
    #: PATH of pods
    path: str
    #: seconds without a sign of life after which a node is taken for lost
    lost_seconds: int
    #: whether servers listen to everyone on a port without TLS unless they are asked not to: before 1.24
    has_plain_ports: bool = False
    #: options of the programs beside our own, by their names
    extra: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def url(self) -> str:
        """The address of the API server."""
        return f"https://127.0.0.1:{self.api}"

    @property
    def keys(self) -> Path:
        """The directory of keys and certificates."""
        return self.home / "keys"

    @property
    def logs(self) -> Path:
        """The directory of the logs of all programs."""
        return self.home / "logs"

    @property
    def admin(self) -> Path:
        """The kubeconfig that may do everything."""
        return self.home / "admin.kubeconfig"

    @property
    def slipway(self) -> Path:
        """The kubeconfig of the service account for Slipway."""
        return self.home / "slipway.kubeconfig"

    @property
    def shared(self) -> Path:
        """A directory that pods mount, through a claim of a volume."""
        return self.home / "shared"

    def node_folder(self, name: str) -> Path:
        """Where a node keeps its pods."""
        return self.home / "nodes" / name
