"""The registry's entry of Batch AI, with its settings."""

from __future__ import annotations

from shared.engines.entry import Entry
from shared.setting import Setting


def _option(example: str) -> str:
    return f'SLIPWAY_CLUSTERS: {{"NAME": {{"engine": "batchai", {example}}}}}'


ENTRY = Entry(
    title="Batch AI",
    package="shared.engines.batchai",
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
        "SLIPWAY_CLUSTER_MOUNTS": Setting(
            "earlier",
            "names",
            "",
            "mounts of Batch AI clusters without facts of their own, comma separated",
            successor=_option('"mounted": ["logs", "data"]'),
        ),
        "SLIPWAY_CLUSTER_NODES": Setting(
            "earlier",
            "whole",
            "0",
            "most nodes of a job on those clusters; 0: as they say",
            successor=_option('"maxNodes": 4'),
        ),
        "SLIPWAY_CLUSTER_GPUS": Setting(
            "earlier",
            "whole",
            "0",
            "GPUs of their nodes; 0: as they say",
            successor=_option('"gpus": 1'),
        ),
        "SLIPWAY_CLUSTER_WALL_CLOCK_HOURS": Setting(
            "earlier",
            "hours",
            "0",
            "longest job of those clusters; 0: no limit",
            successor=_option('"maxWallClock": "PT24H"'),
        ),
    },
)
