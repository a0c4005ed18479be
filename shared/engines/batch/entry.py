"""The entry of Azure Batch in the registry, and its setting."""

from __future__ import annotations

from shared.engines.entry import Entry
from shared.setting_table import Setting

ENTRY = Entry(
    title="Azure Batch",
    package=__name__.removesuffix(".entry"),
    settings={
        "SLIPWAY_BATCH_KEYS": Setting(
            "clusters",
            "document",
            "{}",
            "JSON: Azure Batch cluster → a key of its account; clusters without one use the identity",
        ),
    },
)
