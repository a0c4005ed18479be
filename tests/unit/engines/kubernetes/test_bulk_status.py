"""How many requests a pass of many attempts takes, and what it makes of the rows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from shared.core.job import JobState, Target
from shared.engines.kubernetes.cluster import KubernetesCluster
from shared.engines.kubernetes.engine import KubernetesEngine
from tests.unit.engines.kubernetes.server import Reply, Request, Server, server

CLUSTER = KubernetesCluster("gpu", shared="/data", volumes={"/data": "pvc:data"}, image="python:3.13")
_JOBS, _PODS = "/apis/batch/v1/namespaces/slipway/jobs", "/api/v1/namespaces/slipway/pods"


def targets(count: int) -> list[Target]:
    names = [f"digits-{number:05}-1" for number in range(count)]
    return [
        Target(engine="kubernetes", cluster="gpu", experiment="exp", name=name, token=f"j_{name}.1")
        for name in names
    ]


class Many:
    """A namespace with that many Jobs, all of which run, unless a pod has another word."""

    def __init__(self, count: int, **words: str) -> None:
        self.targets, self.words = targets(count), words

    def answer(self, request: Request) -> Reply:
        if request.path == "/version":
            return 200, {"gitVersion": "v1.36.2"}
        if request.path == _JOBS:
            return self._page(lambda one: self._row(one, one.name, request, Status="Running"), request)
        if request.path == _PODS and "as=Table" in request.headers["accept"]:
            return self._page(lambda one: self._pod(one, request), request, "Node")
        if request.path == _PODS:
            return 200, {"kind": "PodList", "metadata": {}, "items": []}
        name = request.path.rpartition("/")[2]
        job = {"metadata": self._metadata(name), "status": {"active": 1, "ready": 1}, "spec": {}}
        return 200, {"kind": "Job", **job}

    def _pod(self, target: Target, request: Request) -> Any:
        word = self.words.get(target.name.replace("-", "_"), "Running")
        return self._row(target, f"{target.name}-0-abcde", request, Status=word, Node="n")

    def _row(self, target: Target, name: str, request: Request, **words: str) -> Any:
        with_metadata = request.query["includeObject"] == "Metadata"
        return {
            "cells": [name, *words.values()],
            "object": {"metadata": self._metadata(target.name)} if with_metadata else None,
        }

    @staticmethod
    def _metadata(name: str) -> Any:
        return {"name": name, "uid": "u", "annotations": {"slipway/token": f"j_{name}.1"}}

    def _page(self, row: Callable[[Target], Any], request: Request, *columns: str) -> Reply:
        begin, limit = int(request.query.get("continue", 0)), int(request.query["limit"])
        more = str(begin + limit) if len(self.targets) > begin + limit else ""
        metadata = {"resourceVersion": "1", "continue": more}
        named = [{"name": column} for column in ("Name", "Status", *columns)]
        table = {"kind": "Table", "columnDefinitions": named, "metadata": metadata}
        return 200, {**table, "rows": [row(one) for one in self.targets[begin : begin + limit]]}


def kinds(running: Server) -> Counter[str]:
    return Counter(re.sub(r"/[^/]+-1$", "/NAME", call) for call in running.calls)


@pytest.mark.long
@pytest.mark.parametrize("passes", [1, 2])
async def test_ten_thousand_active_jobs_take_at_most_25_calls_in_a_new_process_as_well(passes: int) -> None:
    many = Many(10_000)
    async with server(many.answer) as running:
        engine = KubernetesEngine({"gpu": CLUSTER}, {"gpu": running.client()})
        for _ in range(passes):
            running.requests.clear()
            status = await engine.status("gpu", many.targets)
        await engine.close()

    assert len(status) == 10_000
    assert {one.state for one in status.values()} == {JobState.RUNNING}
    assert len(running.requests) <= 25, kinds(running)
    forms = {one.query.get("includeObject") for one in running.requests if one.path == _JOBS}
    assert forms == {"Metadata" if passes == 1 else "None"}


async def test_only_what_changed_is_read_as_an_object() -> None:
    many = Many(100, digits_00007_1="Completed", digits_00008_1="Terminating")
    async with server(many.answer) as running:
        engine = KubernetesEngine({"gpu": CLUSTER}, {"gpu": running.client()})
        await engine.status("gpu", many.targets)
        calls = [call for call in running.calls if call.startswith(f"GET {_JOBS}/")]
        await engine.close()

    assert sorted(calls) == [f"GET {_JOBS}/digits-00007-1", f"GET {_JOBS}/digits-00008-1"]


async def test_a_job_of_that_name_with_another_token_is_not_its_own() -> None:
    many = Many(20)
    strangers = [one.model_copy(update={"token": "j_other.1"}) for one in many.targets]
    async with server(many.answer) as running:
        engine = KubernetesEngine({"gpu": CLUSTER}, {"gpu": running.client()})
        status = await engine.status("gpu", strangers)
        await engine.close()

    assert status == {}


async def test_a_pod_of_another_name_means_that_the_job_began_again_and_is_looked_at() -> None:
    many = Many(20)
    async with server(many.answer) as running:
        engine = KubernetesEngine({"gpu": CLUSTER}, {"gpu": running.client()})
        await engine.status("gpu", many.targets)
        before = len(running.calls)
        again = Many(20)
        running.answer = lambda request: _renamed(again.answer(request), request)
        await engine.status("gpu", many.targets)
        looked = [call for call in running.calls[before:] if call.startswith(f"GET {_JOBS}/")]
        await engine.close()

    assert looked == [f"GET {_JOBS}/digits-00003-1"]


def _renamed(reply: Reply, request: Request) -> Reply:
    assert reply is not None
    if request.path == _PODS and "rows" in reply[1]:
        reply[1]["rows"][3]["cells"][0] = "digits-00003-1-0-zzzzz"
    return reply
