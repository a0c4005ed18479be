"""conceal: a text from outside without what a job was given to keep secret."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shared.core.job import Job
from shared.core.ports import Ports
from shared.jobspec import open_secrets, redact

#: Shorter values would mask half of the text.
_SHORTEST_SECRET = 4


def without_secrets(ports: Ports, job: Job, document: Mapping[str, Any] | None, text: str) -> str:
    """The text without the values that the stored document seals, and without signatures in addresses."""
    values: set[str] = set(ports.account_keys.values())

    def collect(pointer: str, value: str) -> str:
        values.add(opened := ports.seal.unseal(value, f"{job.key}{pointer}"))
        return opened

    open_secrets(dict(document or {}), collect)
    for value in sorted(values, key=len, reverse=True):
        if len(value) >= _SHORTEST_SECRET:
            text = text.replace(value, "***")
    return str(redact(text))
