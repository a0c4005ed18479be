"""The local clusters that there are. To add one, write its module and an entry here."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from local.clusters.kind import Kind

#: By the word of `--cluster`.
CLUSTERS: Mapping[str, Kind] = MappingProxyType(
    {
        "emulator": Kind(
            title="Batch AI",
            words="the Batch AI emulator",
            module="local.clusters.emulator",
            takes_options=True,
            keeps_nodes=True,
        ),
        "slurm": Kind(
            title="Slurm", words="a Slurm cluster", module="local.clusters.slurm", needs_programs=True
        ),
        "batch": Kind(
            title="Azure Batch",
            words="the emulator of Azure Batch",
            module="local.clusters.batch",
        ),
        "kubernetes": Kind(
            title="Kubernetes",
            words="a Kubernetes cluster",
            module="local.clusters.kubernetes",
            spreads_jobs=False,
            needs_programs=True,
        ),
    }
)
#: The cluster that needs only this repository.
USUAL = "emulator"
