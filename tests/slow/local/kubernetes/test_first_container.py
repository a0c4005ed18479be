"""A pod with a container that has to end before the main one starts, on a node without a cluster."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any, cast

import pytest

from local.kubernetes.api import Api
from local.kubernetes.kubelet.pod import Pod
from tests.slow.local.kubernetes.test_container import _namespaces  # noqa: F401 - skips where it has to


class Server:
    """What a pod's node asks of an API server, which keeps what it is told."""

    def __init__(self) -> None:
        self.reports: list[dict[str, Any]] = []
        self.secrets: dict[str, Any] = {}
        self.changed = asyncio.Event()

    async def insist(self, method: str, path: str, body: Any = None, kind: str = "") -> Any:
        if method == "PATCH":
            self.reports.append(body["status"])
        self.changed.set()
        return {}

    async def find(self, path: str) -> Any:
        return self.secrets.get(path.rpartition("/")[2])

    async def until(self, phase: str) -> dict[str, Any]:
        async with asyncio.timeout(60):
            while not self.reports or self.reports[-1]["phase"] != phase:
                self.changed.clear()
                await self.changed.wait()
        return self.reports[-1]


def _pod(first: str, **more: Any) -> dict[str, Any]:
    mounts = [{"name": "own", "mountPath": "/slipway-test-first"}]
    env = [{"name": "WHERE", "value": "/slipway-test-first/file"}]
    shell = {"env": env, "volumeMounts": mounts}
    return {
        "metadata": {"name": "p", "namespace": "n", "uid": "u"},
        "spec": {
            "volumes": [{"name": "own", "emptyDir": {}}],
            "initContainers": [{"name": "first", "command": ["/bin/sh", "-c", first], **shell, **more}],
            "containers": [{"name": "main", "command": ["/bin/sh", "-c", 'cat "$WHERE"'], **shell}],
        },
        "status": {"phase": "Pending"},
    }


async def _run(server: Server, folder: Path, pod: dict[str, Any], phase: str) -> dict[str, Any]:
    node = Pod(cast("Api", server), pod, folder, "127.0.0.1", os.environ["PATH"])
    try:
        return await server.until(phase)
    finally:
        await node.vanish()


async def test_the_main_container_starts_after_it_and_has_its_files(tmp_path: Path) -> None:
    (tmp_path / "pod").mkdir()
    server = Server()
    pod = _pod('echo it >"$WHERE"; echo done')
    node = Pod(cast("Api", server), pod, tmp_path / "pod", "127.0.0.1", os.environ["PATH"])

    await server.until("Succeeded")

    assert node.log("main").read_text() == "it\n", "its own log only"
    words = [_word(one) for report in server.reports for one in report.get("initContainerStatuses", ())]
    assert words == ["running", "terminated"]
    assert [report["phase"] for report in server.reports] == ["Pending", "Pending", "Running", "Succeeded"]
    await node.vanish()


@pytest.mark.parametrize("policy", ["File", "FallbackToLogsOnError"])
async def test_a_pod_whose_first_container_fails_never_starts_the_main_one(
    tmp_path: Path, policy: str
) -> None:
    pod = _pod("echo why; exit 3", terminationMessagePolicy=policy)
    server = Server()
    (tmp_path / "pod").mkdir()

    report = await _run(server, tmp_path / "pod", pod, "Failed")

    (first,) = server.reports[-2]["initContainerStatuses"]
    ended = first["state"]["terminated"]
    assert ended["exitCode"] == 3
    assert ended.get("message", "") == ("why\n" if policy == "FallbackToLogsOnError" else "")
    assert [_word(one) for one in report["containerStatuses"]] == ["waiting"]


async def test_it_waits_for_its_own_secret(tmp_path: Path) -> None:
    pod = _pod('echo "$WORD" >"$WHERE"', envFrom=[{"secretRef": {"name": "s"}}])
    server = Server()
    (tmp_path / "pod").mkdir()
    node = Pod(cast("Api", server), pod, tmp_path / "pod", "127.0.0.1", os.environ["PATH"])

    await server.until("Pending")
    (first,) = server.reports[-1]["initContainerStatuses"]
    server.secrets["s"] = {"data": {"WORD": "aXQ="}}
    await server.until("Succeeded")

    assert first["state"]["waiting"]["reason"] == "CreateContainerConfigError"
    assert node.log("main").read_text() == "it\n"
    await node.vanish()


def _word(container: dict[str, Any]) -> str:
    (word,) = container["state"]
    return str(word)
