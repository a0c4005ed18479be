"""Low-priority nodes that are taken back: by the emulator's own route, on request."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from slipway.commands.preempt.preempt import run
from slipway.failure import Failure
from tests.contract.emulator.conftest import CLUSTER, Lab, autoscale, custom, until


async def nodes_of(lab: Lab) -> list[dict[str, Any]]:
    _, body, _ = await lab.send("GET", "/emulator/nodes")
    return [node for node in body["value"] if node["cluster"].startswith(lab.path)]


async def test_a_job_on_a_preempted_node_starts_again_from_the_beginning_elsewhere(
    lab: Lab, tmp_path: Path
) -> None:
    await lab.make_cluster(autoscale(1), vmPriority="lowpriority")
    starts = tmp_path / "starts"
    # A second start finds nothing that the first one left on its node.
    command = (
        f"[ -e trace ] && exit 9; touch trace; echo $$ >> {starts}; [ $(wc -l < {starts}) = 2 ] || sleep 600"
    )
    await lab.submit("job", **custom(command))

    async def running() -> bool:
        return starts.exists()

    await until(running)
    (node,) = await nodes_of(lab)
    first = await lab.job("job")
    status, shown, _ = await lab.send("POST", f"/emulator/nodes/{node['id']}/preempt")
    job = await lab.ends("job")

    assert (status, shown["preempted"]) == (202, True)
    assert job.execution_info.start_time > first.execution_info.start_time
    assert job.execution_state == "succeeded", job.execution_info.errors
    assert len(starts.read_text().split()) == 2
    assert node["id"] not in [one["id"] for one in await nodes_of(lab)]


async def test_a_run_whose_node_is_taken_away_is_ending_while_it_saves(lab: Lab, tmp_path: Path) -> None:
    await lab.make_cluster(autoscale(1), vmPriority="lowpriority")
    told_to, go, wait = tmp_path / "told", tmp_path / "go", "do sleep 0.05; done"
    command = (
        f"trap 'touch {told_to}; while [ ! -e {go} ]; {wait}; exit 1' TERM; touch {tmp_path}/began;"
        f" [ -e {go} ] || while true; {wait}"
    )
    await lab.submit("job", **custom(command))

    async def began() -> bool:
        return (tmp_path / "began").exists()

    async def is_asked() -> bool:
        return told_to.exists()

    await until(began)
    (node,) = await nodes_of(lab)
    await lab.send("POST", f"/emulator/nodes/{node['id']}/preempt")
    await until(is_asked)
    saves = (await lab.job("job")).execution_state
    go.touch()
    job = await lab.ends("job")

    assert (saves, job.execution_state) == ("terminating", "succeeded")


async def test_what_a_run_wrote_before_its_node_was_taken_away_stays_in_its_log(lab: Lab) -> None:
    await lab.make_cluster(autoscale(1), vmPriority="lowpriority")
    command = (
        "trap 'echo term; sleep 1; echo saved; echo bad >&2; exit 1' TERM; echo go;"
        " [ $AZ_BATCHAI_PREV_OUTPUT_MODEL ] || while true; do sleep 0.1; done"
    )
    output = [{"id": "MODEL", "pathPrefix": "$AZ_BATCHAI_JOB_MOUNT_ROOT/out"}]
    await lab.submit("job", **custom(command), outputDirectories=output)

    async def text() -> bool:
        return "stdout.txt" in await lab.files("job") and await lab.read("job", "stdout.txt") == "go\n"

    await lab.reaches("job", "running")
    await until(text)
    (node,) = await nodes_of(lab)
    await lab.send("POST", f"/emulator/nodes/{node['id']}/preempt")
    job = await lab.ends("job")

    assert job.execution_state == "succeeded", job.execution_info.errors
    assert await lab.read("job", "stdout.txt") == "go\nterm\nsaved\ngo\n"
    assert (await lab.read("job", "stderr.txt")).endswith("bad\n")


async def test_an_idle_node_that_is_preempted_is_replaced(lab: Lab) -> None:
    await lab.make_cluster({"manual": {"targetNodeCount": 1}}, vmPriority="lowpriority")

    async def idle() -> list[str]:
        return [node["id"] for node in await nodes_of(lab) if node["state"] == "idle"]

    (first,) = await until(idle)
    await lab.send("POST", f"/emulator/nodes/{first}/preempt")

    async def another() -> bool:
        return bool(await idle()) and first not in await idle()

    await until(another)


async def test_dedicated_nodes_are_never_preempted(lab: Lab) -> None:
    await lab.make_cluster({"manual": {"targetNodeCount": 1}})

    async def remote() -> list[dict[str, Any]]:
        return await nodes_of(lab)

    (node,) = await until(remote)
    dedicated, body, _ = await lab.send("POST", f"/emulator/nodes/{node['id']}/preempt")
    absent, shortage, _ = await lab.send("POST", "/emulator/nodes/none/preempt")

    assert (dedicated, body["error"]["code"]) == (409, "NodeNotPreemptible")
    assert (absent, shortage["error"]["code"]) == (404, "NodeNotFound")


async def test_the_command_shows_the_nodes_and_preempts_one(
    lab: Lab, capsys: pytest.CaptureFixture[str]
) -> None:
    async def preempt(node: str, cluster: str = CLUSTER) -> int:
        return await asyncio.to_thread(run, node, cluster, lab.emulator.url, None)

    async def running() -> list[dict[str, Any]]:
        return [node for node in await nodes_of(lab) if node["job"]]

    await lab.make_cluster(autoscale(1), vmPriority="lowpriority")
    await lab.submit("job", **custom("sleep 600"))
    (node,) = await until(running)
    await preempt("")
    shown = capsys.readouterr().out
    done = await preempt(node["id"])
    output = capsys.readouterr().out
    with pytest.raises(Failure) as elsewhere:
        await preempt(node["id"], "another-cluster")

    assert [node["id"], node["address"]] in [line.split()[:2] for line in shown.splitlines()]
    assert (done, output) == (
        0,
        f"{node['id']} of {CLUSTER} is preempted; its job job goes back to the queue\n",
    )
    assert "no cluster another-cluster has nodes now" in str(elsewhere.value)

    async def another() -> bool:
        return any(one["id"] != node["id"] for one in await running())

    await until(another)


async def test_the_command_says_why_a_node_cannot_be_preempted(lab: Lab) -> None:
    await lab.make_cluster({"manual": {"targetNodeCount": 1}})

    async def remote() -> list[dict[str, Any]]:
        return await nodes_of(lab)

    (node,) = await until(remote)
    with pytest.raises(Failure, match="lowpriority"):
        await asyncio.to_thread(run, node["id"], "", lab.emulator.url, None)
    with pytest.raises(Failure, match=node["id"]):
        await asyncio.to_thread(run, "none", "", lab.emulator.url, None)


def test_without_an_emulator_the_command_says_where_one_would_be() -> None:
    with pytest.raises(Failure, match="SLIPWAY_BATCHAI_URL"):
        run("node", "", "http://127.0.0.1:1", None)
    with pytest.raises(Failure, match="only an emulator"):
        run("node", "", "https://management.azure.com/", None)
