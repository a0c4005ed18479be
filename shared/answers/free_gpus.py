"""The free GPUs of a cluster."""

from __future__ import annotations

from shared.answers.base import Answer


class FreeGpus(Answer):
    """The GPUs of the nodes that jobs can use now."""

    free: int
    """Those that no job has; of nodes that jobs share on Azure Batch, only whole free nodes count."""
    all: int
