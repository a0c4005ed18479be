"""Which context of a person's kubeconfig leads to the cluster of a job. Pure.

Their credentials go only to a server that they named themselves, and only to that of the job.
"""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlsplit

from slipway.failure import Failure

_PORTS = {"https": 443, "http": 80}


def context_of(printed: bytes, server: str) -> str:
    """The name of a context that leads to a server; "" for the current one. Raises Failure if none does.

    `printed`: what `kubectl config view --output=json` says. `server`: "" if only pods have its address.
    """
    document = _read(printed)
    if not server:
        return ""
    servers = {name: str(cluster.get("server") or "") for name, cluster in _named(document, "cluster")}
    leading = [
        name
        for name, context in _named(document, "context")
        if _place(servers.get(str(context.get("cluster")), "")) == _place(server)
    ]
    if not leading:
        others = ", ".join(sorted({*servers.values()} - {""})) or "none at all"
        raise Failure(
            f"no context of your kubeconfig leads to {server}, but to {others}: ask the operator of the"
            " cluster for one (on AKS: az aks get-credentials), and name its file in KUBECONFIG"
        )
    return "" if document.get("current-context") in leading else leading[0]


def _read(printed: bytes) -> dict[str, Any]:
    try:
        document = json.loads(printed)
    except ValueError:
        document = None
    if not isinstance(document, dict):
        raise Failure("kubectl cannot read your kubeconfig: see what `kubectl config view` says")
    return document


def _named(document: dict[str, Any], kind: str) -> list[tuple[str, dict[str, Any]]]:
    """The entries of a kind, with their names."""
    entries = document.get(f"{kind}s") or ()
    return [(str(one.get("name")), one[kind]) for one in entries if isinstance(one.get(kind), dict)]


def _place(url: str) -> str:
    """An address, written in one way."""
    try:
        parts = urlsplit(url)
        port = parts.port or _PORTS.get(parts.scheme)
    except ValueError:
        return ""
    return f"{parts.scheme}://{parts.hostname}:{port}{parts.path.rstrip('/')}"
