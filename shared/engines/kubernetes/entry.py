"""The entry of Kubernetes in the registry, and its setting."""

from __future__ import annotations

from shared.engines.entry import Entry
from shared.setting_table import Setting

ENTRY = Entry(
    title="Kubernetes",
    package=__name__.removesuffix(".entry"),
    settings={
        "SLIPWAY_KUBECONFIGS": Setting(
            "clusters",
            "document",
            "{}",
            "JSON: Kubernetes cluster → its kubeconfig; without one it is the cluster that this app runs in",
        ),
    },
)
