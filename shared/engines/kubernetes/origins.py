"""The source of a volume as operators write it: pvc:NAME, nfs:HOST:/EXPORT, azurefile:SECRET/SHARE. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_CLAIM = re.compile(r"pvc:([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?)", re.ASCII)
_AZURE_FILES = re.compile(
    r"azurefile:(?P<secret>[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?)/(?P<share>[a-z0-9][a-z0-9-]{1,61}[a-z0-9])",
    re.ASCII,
)
#: Links are files that clients understand, and locks stay on the node, as programs expect of a directory.
_OPTIONS = "mfsymlinks,nobrl,cache=strict,nosharesock"
_NFS = re.compile(r"nfs:([A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\]):(/[^\t\n]*)", re.ASCII)


def origin_of(text: str) -> Mapping[str, Any] | None:
    """The part of a volume's spec with its source; None for other texts."""
    if match := _CLAIM.fullmatch(text):
        return {"persistentVolumeClaim": {"claimName": match[1]}}
    if match := _AZURE_FILES.fullmatch(text):
        # The Secret is the operator's, with azurestorageaccountname and azurestorageaccountkey.
        attributes = {"secretName": match["secret"], "shareName": match["share"], "mountOptions": _OPTIONS}
        return {"csi": {"driver": "file.csi.azure.com", "volumeAttributes": attributes}}
    if match := _NFS.fullmatch(text):
        return {"nfs": {"server": match[1].strip("[]"), "path": match[2]}}
    return None
