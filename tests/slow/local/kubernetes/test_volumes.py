"""The directory of a claim: a pod of another user may write there, as with a real volume."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from local.kubernetes.kubelet.volumes import mounts


class Claimed:
    """An API server with one claim, bound to a directory of this machine."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def find(self, path: str) -> Any:
        if "persistentvolumeclaims" in path:
            return {"spec": {"volumeName": "v"}}
        return {"spec": {"hostPath": {"path": str(self._folder)}}}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may choose a group")
async def test_a_claim_belongs_to_the_group_of_the_pod(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir(mode=0o755)
    volume = {"name": "data", "persistentVolumeClaim": {"claimName": "slipway"}}
    spec = {"volumes": [volume], "securityContext": {"fsGroup": 1236}}
    pod = {"metadata": {"namespace": "slipway"}, "spec": spec}
    container = {"volumeMounts": [{"name": "data", "mountPath": "/data"}]}

    server: Any = Claimed(shared)
    (mount,) = await mounts(server, pod, container, tmp_path / "volumes")

    assert mount.origin == str(shared)
    assert (shared.stat().st_gid, shared.stat().st_mode & 0o7777) == (1236, 0o2775)
