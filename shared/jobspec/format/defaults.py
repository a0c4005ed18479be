"""What completion fills in: the defaults, which every process has, apart from the code that uses them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from shared.jobspec.format.storage_hosts import CLOUDS


@dataclass(frozen=True)
class Defaults:
    """Defaults from the operator's settings and the caller's door; None: no default."""

    #: ARM id of the cluster for documents that name none.
    cluster_id: str | None = None
    #: Name → ARM id.
    clusters: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    storage_account: str | None = None
    #: What follows ACCOUNT.file. in a host name of the storage account's cloud.
    storage_suffix: str = CLOUDS[0]
    #: Set only for drops.
    drop_container: str | None = None
    drop_account: str | None = None
    std_out_err_path_prefix: str | None = None
