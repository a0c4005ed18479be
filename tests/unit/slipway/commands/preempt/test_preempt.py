"""`slipway preempt`: which nodes are meant."""

import asyncio

import pytest
from aiohttp import web

from slipway.commands.preempt.preempt import of_cluster, run
from slipway.failure import Failure
from tests.doubles.server import answering

NODE: dict[str, object] = {"id": "tvm-1", "cluster": "/subscriptions/s/clusters/dev-cluster-00"}
NODE |= {"address": "10.0.0.4", "vmPriority": "lowpriority", "state": "running", "job": None}


def test_the_nodes_of_a_cluster_are_chosen_by_its_name() -> None:
    assert of_cluster("", [NODE]) == [NODE]
    assert of_cluster("DEV-cluster-00", [NODE]) == [NODE]
    assert of_cluster("any", []) == []


def test_a_cluster_without_nodes_is_reported_with_those_that_have_some() -> None:
    with pytest.raises(Failure, match="no cluster nope has nodes now; nodes are of: dev-cluster-00"):
        of_cluster("nope", [NODE])


@pytest.mark.parametrize("second", [202, 404, 409])
async def test_a_node_is_preempted_once_though_the_answer_is_lost(
    second: int, capsys: pytest.CaptureFixture[str]
) -> None:
    calls = []

    async def emulator(request: web.Request) -> web.Response:
        if request.method == "GET":
            return web.json_response({"value": [NODE]})
        calls.append(request.path)
        if len(calls) == 1 and request.transport is not None:
            request.transport.abort()
        refusal = {"error": {"message": "it has left"}}
        return web.json_response(refusal if second >= 400 else NODE, status=second)

    async with answering(emulator) as url:
        code = await asyncio.to_thread(run, "tvm-1", "", url, None)

    assert (code, calls) == (0, ["/emulator/nodes/tvm-1/preempt"] * 2)
    assert capsys.readouterr().out == "tvm-1 of dev-cluster-00 is preempted; no job ran on it\n"


async def test_a_refusal_of_the_first_try_is_one() -> None:
    async def emulator(request: web.Request) -> web.Response:
        if request.method == "GET":
            return web.json_response({"value": [NODE]})
        return web.json_response({"error": {"message": "only nodes of lowpriority"}}, status=409)

    async with answering(emulator) as url:
        with pytest.raises(Failure, match="only nodes of lowpriority"):
            await asyncio.to_thread(run, "tvm-1", "", url, None)
