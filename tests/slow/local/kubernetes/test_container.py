"""The container of a pod: its root, its volumes, its rights, and how it ends. It needs no cluster."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from local.kubernetes.kubelet.container_process import ContainerProcess
from local.patience import Patience
from tests.unit.documents.corpus import ROOT


@pytest.fixture(scope="module", autouse=True)
def _namespaces() -> None:
    own = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    tried = ["unshare", *own, "--mount", "--pid", "--fork", "--mount-proc", "true"]
    if not shutil.which("unshare") or subprocess.run(tried, check=False, capture_output=True).returncode:
        pytest.skip("this machine lets us make no namespaces: run as root, or allow them to users")


class Pod:
    """One container in a folder."""

    def __init__(self, folder: Path) -> None:
        self.volume, self.log, self.root = folder / "volume", folder / "log", folder / "root"
        self.volume.mkdir(exist_ok=True)
        self.root.mkdir(exist_ok=True)

    async def start(self, script: str, *places: tuple[str, bool], **order: Any) -> ContainerProcess:
        """Run it with the volume at these places, each read-only or not."""
        plain = {"hostname": "pod-1", "directory": "", "environment": {"PATH": os.environ["PATH"]}}
        rights = {"mayChoose": False, "user": None, "group": None, "fsGroup": None, "mayGain": True}
        mounts = [(place, str(self.volume), is_read_only) for place, is_read_only in places]
        argv = {"argv": ["/bin/sh", "-c", script]}
        full = {**plain, **rights, **argv, "root": str(self.root), "mounts": mounts, **order}
        return await ContainerProcess.start(full, self.log)

    async def run(self, script: str, *places: tuple[str, bool], **order: Any) -> tuple[int, str]:
        """Its exit code and what it wrote."""
        code = await (await self.start(script, *places, **order)).wait()
        return code, self.log.read_text()


@pytest.fixture
def pod(tmp_path: Path) -> Pod:
    return Pod(tmp_path)


async def test_volumes_are_at_places_that_this_machine_does_not_have(pod: Pod) -> None:
    (pod.volume / "file").write_text("there\n")
    top, deep = "/slipway-test-of-pods", "/var/slipway-test/of/pods"

    code, text = await pod.run(
        f"cat {top}/file; echo new > {deep}/other; ls /var", (top, False), (deep, False)
    )

    assert code == 0, text
    assert text.startswith("there\n")
    assert _entries("/var") <= set(text.split())
    assert (pod.volume / "other").read_text() == "new\n"
    assert not _exist(top, "/var/slipway-test")


async def test_a_volume_that_is_read_only_takes_no_file(pod: Pod) -> None:
    code, text = await pod.run("echo x > /slipway-test/file", ("/slipway-test", True))

    assert code != 0
    assert "Read-only" in text
    assert not any(pod.volume.iterdir())


async def test_a_pod_has_a_name_and_processes_of_its_own(pod: Pod) -> None:
    code, text = await pod.run("hostname; echo $$; ls /proc | grep -c '^[0-9]'")

    name, number, _count = text.split()
    assert (code, name, number) == (0, "pod-1", "1")


async def test_the_exit_code_is_that_of_the_command(pod: Pod) -> None:
    assert (await pod.run("exit 7"))[0] == 7


async def test_a_command_that_is_not_there_says_so(pod: Pod) -> None:
    code, text = await pod.run("", argv=["/no/such/program"])

    assert code == 127
    assert text == "/no/such/program: No such file or directory\n"


async def test_it_has_time_to_end_when_it_is_asked(pod: Pod) -> None:
    running = await pod.start("trap 'echo asked; exit 5' TERM; echo begun; while :; do sleep 0.05; done")
    await _until(lambda: "begun" in pod.log.read_text())

    assert await running.stop(60) == 5
    assert pod.log.read_text() == "begun\nasked\n"


async def test_it_can_be_asked_to_end_right_after_its_start(pod: Pod) -> None:
    for _ in range(5):
        running = await pod.start("while :; do sleep 0.05; done")

        assert await running.stop(0.2) in (137, 143)


async def test_it_is_killed_with_all_that_it_started_when_it_does_not_end(pod: Pod) -> None:
    script = (
        "trap '' TERM; setsid sh -c 'while :; do date +%N > /slipway-test/alive; sleep 0.05; done' & wait"
    )
    running = await pod.start(script, ("/slipway-test", False))
    await _until((pod.volume / "alive").exists)

    assert await running.stop(0.1) == 137
    before = (pod.volume / "alive").stat().st_mtime_ns
    await asyncio.sleep(0.3)
    assert (pod.volume / "alive").stat().st_mtime_ns == before


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may choose another user")
async def test_it_runs_as_the_user_and_groups_of_the_pod(pod: Pod) -> None:
    rights = {"mayChoose": True, "user": 1234, "group": 1235, "fsGroup": 1236, "mayGain": False}

    code, text = await pod.run("id -u; id -g; id -G; grep NoNewPrivs /proc/self/status", **rights)

    assert code == 0, text
    assert text.split() == ["1234", "1235", "1235", "1236", "NoNewPrivs:", "1"]


@pytest.mark.parametrize("user", [None, 1234])
async def test_it_goes_with_its_node_whichever_user_it_is(pod: Pod, user: int | None) -> None:
    """The node is killed: nothing of it can end its pods."""
    if os.geteuid() != 0 and user is not None:
        pytest.skip("only root may choose another user")
    pod.volume.chmod(0o777)
    rights = {"mayChoose": os.geteuid() == 0, "user": user}
    script = "while :; do date +%N > /slipway-test/alive; sleep 0.05; done"
    order = {"places": [("/slipway-test", False)], "script": script, "root": str(pod.root), **rights}
    node = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", __name__, str(pod.volume.parent), json.dumps(order)), cwd=ROOT
    )
    await _until((pod.volume / "alive").exists)
    node.kill()
    await node.wait()

    await _until(lambda: _stands(pod.volume / "alive"))


def _stands(file: Path) -> bool:
    before = file.stat().st_mtime_ns
    time.sleep(1)
    return file.stat().st_mtime_ns == before


def _entries(folder: str) -> set[str]:
    return {entry.name for entry in Path(folder).iterdir()}


def _exist(*paths: str) -> bool:
    return any(Path(path).exists() for path in paths)


async def _until(is_so: Any) -> None:
    patience = Patience(60, time.monotonic)
    while not is_so():
        assert not patience.is_over(None)
        await asyncio.sleep(0.02)


async def _be_a_node(folder: str, order: dict[str, Any]) -> None:
    """Run a pod for ever."""
    places = [tuple(one) for one in order.pop("places")]
    script = order.pop("script")
    await (await Pod(Path(folder)).start(script, *places, **order)).wait()


if __name__ == "__main__":
    asyncio.run(_be_a_node(sys.argv[1], json.loads(sys.argv[2])))
