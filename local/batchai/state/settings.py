"""Settings of the emulator, from its command line."""

import hashlib
from dataclasses import dataclass, field
from pathlib import Path

from local.batchai.state import ids
from local.batchai.state.notices import NoticeSettings
from local.batchai.state.scheduler import Pace
from local.border import Border
from local.node_python import node_python
from local.nodes.settings import NodeSettings


@dataclass(frozen=True, kw_only=True)
class Settings(NodeSettings):
    """All options of the emulator, as read from its command line."""

    #: Directories for PATH on nodes. Without any, each cluster has a Python of its own.
    node_path: tuple[Path, ...] = ()
    subscription: str | None = None
    location: str = "eastus"
    pace: Pace
    #: None: no queue is notified of ends.
    notice: NoticeSettings | None = None
    #: The values of Key Vault references: a JSON object of addresses of secrets and their values.
    secrets_file: Path | None = None
    #: NVIDIA GPUs of this machine.
    gpus: int = 0
    border: Border = field(default_factory=Border)

    def python(self, cluster_id: str) -> Path:
        """Where the Python of a cluster's nodes is."""
        return self.data / "python" / hashlib.sha256(ids.key(cluster_id).encode()).hexdigest()[:16]

    async def path(self, cluster_id: str) -> tuple[Path, ...]:
        """The directories for PATH on a cluster's nodes, created if needed. Raises OSError."""
        return self.node_path or (await node_python(self.python(cluster_id)),)

    def server(self, instance: str) -> Path:
        """Where the files of a file server are."""
        return self.servers / instance
