"""The source of a volume as operators write it: pvc:NAME, or nfs:HOST:/EXPORT. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_CLAIM = re.compile(r"pvc:([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?)", re.ASCII)
_NFS = re.compile(r"nfs:([A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\]):(/[^\t\n]*)", re.ASCII)


def origin_of(text: str) -> Mapping[str, Any] | None:
    """The part of a volume's spec with its source; None for other texts."""
    if match := _CLAIM.fullmatch(text):
        return {"persistentVolumeClaim": {"claimName": match[1]}}
    if match := _NFS.fullmatch(text):
        return {"nfs": {"server": match[1].strip("[]"), "path": match[2]}}
    return None
