"""Settings of the emulator, from its command line."""

from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from local.border import Border
from local.nodes.settings import NodeSettings

ACCOUNT = "localbatch"
#: For all who use the emulator on their machine, as that of Azurite's account is.
KEY = "c2xpcHdheSBsb2NhbCBhenVyZSBiYXRjaCBlbXVsYXRvciBrZXkgMDAwMDAwMDAwMDAwMDAwMDAwMA=="


@dataclass(frozen=True)
class Pace:
    """How long nodes take to come, to leave, and to come back after they were preempted."""

    provisioning: timedelta = timedelta(seconds=1)
    leaving: timedelta = timedelta(seconds=0.5)
    preempted: timedelta = timedelta(seconds=2)
    #: None: as often as the pools say, from five minutes on.
    autoscale: timedelta | None = None


@dataclass(frozen=True, kw_only=True)
class Settings(NodeSettings):
    """Everything that can be set. `batch_account` and `batch_key` are those of clients."""

    batch_account: str = ACCOUNT
    batch_key: str = field(default=KEY, repr=False)
    pace: Pace = Pace()
    #: Directories for PATH on nodes, before those of the system.
    node_path: tuple[Path, ...] = ()
    border: Border = field(default_factory=Border)
