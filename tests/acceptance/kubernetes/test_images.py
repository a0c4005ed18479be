"""Jobs on a real Kubernetes whose image has neither Python nor bash."""

from __future__ import annotations

import asyncio
import uuid
from pathlib import Path

import pytest

from local.kubernetes import Kubernetes
from local.patience import Patience
from shared.core.engine import Observation, Order
from shared.core.job import JobState, Reason, Target
from shared.engines.kubernetes.engine import KubernetesEngine
from tests.acceptance.kubernetes.jobs import PATIENCE
from tests.acceptance.kubernetes.on_cluster import NAME, engine_on
from tests.slow.engines.kubernetes.in_shell import ABSENT_SHELLS, SHELLS, image

pytestmark = pytest.mark.asyncio(loop_scope="session")


def order(command: str, **more: object) -> Order:
    name = f"n-{uuid.uuid4().hex[:12]}"
    target = Target(engine="kubernetes", cluster=NAME, experiment="exp", name=name, token=f"t.{name}")
    properties = {
        "cluster": {"id": f"/clusters/{NAME}"},
        "nodeCount": 1,
        "stdOutErrPathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/logs",
        "customToolkitSettings": {"commandLine": command},
        **more,
    }
    return Order(target, {"properties": properties})


async def end_of(engine: KubernetesEngine, target: Target) -> Observation:
    patience = Patience(PATIENCE)
    while not (observation := await engine.see(target)).state.terminal:
        assert not patience.is_over(observation), observation
        await asyncio.sleep(0.1)
    return observation


@pytest.mark.parametrize("shell", SHELLS)
async def test_a_command_runs_with_a_shell_alone(cluster: Kubernetes, tmp_path: Path, shell: str) -> None:
    if shell in ABSENT_SHELLS:
        pytest.skip(f"there is no {shell} here: apt-get install {shell}")
    tmp_path.parent.chmod(0o755)
    engine = engine_on(cluster, path=str(image(tmp_path / "bin", shell)), gpus=0)
    one = order('command -v python3 bash; echo "$$ $WORD"; exit 3', secrets=[{"name": "WORD", "value": "w"}])

    await engine.submit(one)
    end = await end_of(engine, one.target)
    output = await engine.read(one.target, "stdouterr", "stdout.txt", 0, 100)
    await engine.close()

    assert (end.state, end.reason, end.exit_code) == (JobState.FAILED, Reason.USER, 3)
    assert output.data.split()[1:] == [b"w"]


async def test_a_toolkit_says_that_it_needs_python(cluster: Kubernetes, tmp_path: Path) -> None:
    engine = engine_on(cluster, path=str(image(tmp_path / "bin", "dash")), gpus=0)
    one = order("", customToolkitSettings=None, customMpiSettings={"commandLine": "true"})

    await engine.submit(one)
    end = await end_of(engine, one.target)
    await engine.close()

    assert (end.state, end.reason) == (JobState.FAILED, Reason.UNSUPPORTED)
    assert "There is no python3 in the image" in end.message
