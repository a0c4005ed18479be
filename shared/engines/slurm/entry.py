"""The entry of Slurm in the registry, and its settings."""

from __future__ import annotations

from shared.engines.entry import Entry
from shared.setting_table import Setting

ENTRY = Entry(
    title="Slurm",
    package=__name__.removesuffix(".entry"),
    settings={
        "SLIPWAY_SLURM_KEYS": Setting(
            "clusters", "document", "{}", "JSON: Slurm cluster → its JWT key in base64, or a token"
        ),
    },
)
