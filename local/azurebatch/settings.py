"""Settings of the emulator, from its command line."""

from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Literal

from local.border import Border
from local.nodes.settings import NodeSettings

ACCOUNT = "localbatch"
#: A well-known key, public like that of Azurite's account.
KEY = "c2xpcHdheSBsb2NhbCBhenVyZSBiYXRjaCBlbXVsYXRvciBrZXkgMDAwMDAwMDAwMDAwMDAwMDAwMA=="
#: How many nodes of a kind a pool may have: each is a record, which is kept.
MOST_NODES = 10_000


@dataclass(frozen=True)
class Pace:
    """How long nodes take to boot, to leave, and to come back after a preemption."""

    provisioning: timedelta = timedelta(seconds=1)
    leaving: timedelta = timedelta(seconds=0.5)
    preempted: timedelta = timedelta(seconds=2)
    #: None: as often as the pools ask for, which is five minutes or more
    autoscale: timedelta | None = None


@dataclass(frozen=True, kw_only=True)
class Settings(NodeSettings):
    """All settings. `batch_account` and `batch_key` are the clients' credentials."""

    batch_account: str = ACCOUNT
    batch_key: str = field(default=KEY, repr=False)
    containers: Literal["auto", "host", "require"] = "require"
    pace: Pace = Pace()
    #: where it is served
    url: str = ""
    #: the service documents none
    grace: float = 2.0
    #: directories that nodes have in PATH before those of the system
    node_path: tuple[Path, ...] = ()
    border: Border = field(default_factory=Border)
