"""Who calls the HTTP API."""

from __future__ import annotations

import azure.functions as func


def scope(req: func.HttpRequest) -> str:
    """The caller, in front of whose idempotency keys it stands."""
    return f"http:{req.headers.get('X-MS-CLIENT-PRINCIPAL-ID', '')}"
