"""The registry's entry of Batch AI, with its settings."""

from __future__ import annotations

from shared.engines.entry import Entry
from shared.setting_table import Setting

ENTRY = Entry(
    title="Batch AI",
    package=__name__.removesuffix(".entry"),
    address="SLIPWAY_BATCHAI_URL",
    is_emulated=True,
    settings={
        "SLIPWAY_BATCHAI_URL": Setting(
            "clusters",
            "text",
            "",
            "address of a Batch AI API, which only an emulator has since Azure ended the service",
            example="http://127.0.0.1:7080",
        ),
    },
)
