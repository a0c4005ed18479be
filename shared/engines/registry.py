"""All engines. To add one, write its folder and an entry here: nothing else names it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from shared.engines.batch.entry import ENTRY as BATCH
from shared.engines.batchai.entry import ENTRY as BATCHAI
from shared.engines.entry import Entry
from shared.engines.kubernetes.entry import ENTRY as KUBERNETES
from shared.engines.slurm.entry import ENTRY as SLURM

#: By its name in SLIPWAY_CLUSTERS and in records.
ENGINES: Mapping[str, Entry] = MappingProxyType(
    {"batchai": BATCHAI, "slurm": SLURM, "batch": BATCH, "kubernetes": KUBERNETES}
)
#: The engine of the default cluster where no setting describes one.
UNNAMED = "batchai"
