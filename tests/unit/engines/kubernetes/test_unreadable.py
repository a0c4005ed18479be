"""Answers with any JSON in any place: they end no active job, hide no other, and all errors are the port's.

The answers have the form of those of a real server of 1.36 with Kueue.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.core.engine import Observation
from shared.core.errors import EngineError
from shared.core.job import JobState, Target
from shared.engines.kubernetes.cluster import KubernetesCluster
from shared.engines.kubernetes.engine import KubernetesEngine
from shared.engines.kubernetes.wire.access import Access
from shared.engines.kubernetes.wire.bearer import FixedToken
from shared.engines.kubernetes.wire.client import Answer, KubernetesClient
from tests.breadth import examples, share

CLUSTER = KubernetesCluster(
    "gpu", shared="/data", volumes={"/data": "pvc:data"}, image="python:3.13", queue="team"
)
_NAMESPACE = "namespaces/slipway"
_JOBS, _PODS = f"/apis/batch/v1/{_NAMESPACE}/jobs", f"/api/v1/{_NAMESPACE}/pods"
_WORKLOADS = f"/apis/kueue.x-k8s.io/v1beta2/{_NAMESPACE}/workloads"
_AT = "2026-11-22T02:48:56Z"
#: One runs, one waits in its queue, one is read as an object, since its pod is ending.
NAMES = ("runs-abc-1", "queued-abc-1", "ending-abc-1")
#: The most telling first.
_VALUES: tuple[Any, ...] = ("word", -1, ["x"], {"x": 1}, None, [], {}, [None], [{}], True, 1.5, "")

Path = tuple[str | int, ...]


def target(name: str) -> Target:
    return Target(engine="kubernetes", cluster="gpu", experiment="exp", name=name, token=f"j_{name}.1")


def _metadata(name: str, **more: Any) -> dict[str, Any]:
    labels = {"slipway/cluster": "gpu", "kueue.x-k8s.io/queue-name": "team"}
    own = {"name": name, "uid": f"u-{name}", "creationTimestamp": _AT, "labels": labels}
    return {**own, "annotations": {"slipway/token": f"j_{name}.1"}, **more}


def _table(columns: tuple[str, ...], *rows: tuple[str, ...]) -> dict[str, Any]:
    table = {"kind": "Table", "metadata": {"resourceVersion": "1"}}
    named = [{"name": name, "type": "string"} for name in columns]
    return {
        **table,
        "columnDefinitions": named,
        "rows": [{"cells": list(row), "object": None} for row in rows],
    }


def _job(name: str, *, suspend: bool = False) -> dict[str, Any]:
    conditions = [{"type": "Suspended", "status": str(suspend), "lastTransitionTime": _AT, "reason": "x"}]
    count = 0 if suspend else 1
    status = {"conditions": conditions, "startTime": _AT, "active": count, "ready": count, "terminating": 0}
    spec = {"suspend": suspend, "parallelism": 1, "completions": 1}
    return {"kind": "Job", "metadata": _metadata(name), "spec": spec, "status": status}


def _pods(name: str) -> dict[str, Any]:
    state = {"running": {"startedAt": _AT}}
    status = {
        "phase": "Running",
        "startTime": _AT,
        "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": _AT}],
        "containerStatuses": [{"name": "main", "state": state, "restartCount": 0}],
    }
    return {
        "kind": "PodList",
        "metadata": {},
        "items": [{"metadata": _metadata(f"{name}-0-abcde"), "status": status}],
    }


def _workload(name: str) -> dict[str, Any]:
    owner = {"kind": "Job", "name": name, "uid": f"u-{name}"}
    conditions = [{"type": "QuotaReserved", "status": "False", "reason": "Pending", "message": "it is full"}]
    metadata = _metadata(f"job-{name}", ownerReferences=[owner])
    return {"metadata": metadata, "spec": {"active": True}, "status": {"conditions": conditions}}


def answers() -> dict[str, Any]:
    """Each answer, by the path of its request and what it asks for."""
    runs, queued, ending = NAMES
    words = [(runs, "Running"), (queued, "Suspended"), (ending, "Running")]
    pods = [(f"{runs}-0-abcde", "Running", "gpu-0"), (f"{ending}-0-abcde", "Terminating", "gpu-1")]
    objects = {f"{_JOBS}/{name}": _job(name, suspend=name == queued) for name in NAMES}
    return {
        "/version": {"major": "1", "minor": "36", "gitVersion": "v1.36.2"},
        "/apis/kueue.x-k8s.io": {"preferredVersion": {"groupVersion": "kueue.x-k8s.io/v1beta2"}},
        f"{_JOBS} as table": _table(("Name", "Status"), *words),
        f"{_PODS} as table": _table(("Name", "Status", "Node"), *pods),
        **objects,
        **{f"{_PODS} {name}": _pods(name) for name in (runs, ending)},
        f"{_PODS} {queued}": {"kind": "PodList", "metadata": {}, "items": []},
        f"/api/v1/{_NAMESPACE}/events": {"kind": "EventList", "metadata": {}, "items": []},
        _WORKLOADS: {"kind": "WorkloadList", "metadata": {}, "items": [_workload(queued)]},
    }


_ABSENT = {"kind": "Status", "reason": "NotFound", "code": 404}


class Canned(KubernetesClient):
    """A server with those answers, without a connection."""

    def __init__(self, documents: Mapping[str, Any]) -> None:
        super().__init__(Access("http://127.0.0.1:9"), FixedToken(""))
        self._documents = documents

    async def _send(
        self, method: str, path: str, query: Mapping[str, str], content: bytes, headers: Mapping[str, str]
    ) -> Answer:
        kind = " as table" if "as=Table" in headers["Accept"] else ""
        selector = query.get("labelSelector", "")
        kind = f" {selector.partition('=')[2]}" if selector.startswith("job-name=") else kind
        document = self._documents.get(f"{path}{kind}", _ABSENT)
        code = document.get("code", 200) if isinstance(document, dict) else 200
        return Answer(code if code in (403, 404) else 200, json.dumps(document).encode())


def places(value: Any, path: Path = ()) -> Iterator[Path]:
    """Every place of a document, itself among them."""
    yield path
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, part in parts:
        yield from places(part, (*path, name))


def changed(documents: Mapping[str, Any], path: Path, value: Any) -> dict[str, Any]:
    """The documents with that value in that place."""
    head = str(path[0])
    result = {**documents, head: copy.deepcopy(documents[head])}
    *above, last = path
    part: Any = result
    for name in above:
        part = part[name]
    part[last] = value
    return result


PLACES = [path for path in places(answers()) if path]
ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


async def _listed(
    documents: Mapping[str, Any],
) -> tuple[Mapping[str, Observation] | None, dict[str, JobState]]:
    """What a pass and a look at each job find; None where the cluster has no list that can be read."""
    engine = KubernetesEngine({"gpu": CLUSTER}, {"gpu": Canned(documents)})
    bulk: Mapping[str, Observation] | None = None
    looks = dict[str, JobState]()
    for _ in range(2):  # the second one knows the tokens
        try:
            bulk = await engine.status("gpu", [target(name) for name in NAMES])
        except EngineError:
            bulk = None
    for name in NAMES:
        try:
            looks[name] = (await engine.see(target(name))).state
        except EngineError:
            continue
    for ask in (engine.at_work("gpu"), engine.nodes("gpu")):
        try:
            await ask
        except EngineError:
            continue
    await engine.close()
    return bulk, looks


def _concerned(path: Path) -> str:
    """The job that a place is of; "" for what all of them share."""
    head = str(path[0])
    for name in NAMES:
        if name in head or (path[1:2] and "rows" in path and _row(path) == name):
            return name
    return NAMES[1] if head == _WORKLOADS and len(path) > 2 else ""


def _row(path: Path) -> str:
    """The job of a row of a table; "" for the whole list of them."""
    if len(path) < 3 or not isinstance(path[2], int):
        return ""
    cells = answers()[str(path[0])]["rows"][path[2]]["cells"]
    return next((name for name in NAMES if str(cells[0]).startswith(name)), "")


async def _check(path: Path, value: Any) -> None:
    bulk, looks = await _listed(changed(answers(), path, value))
    states = {name: one.state for name, one in (bulk or {}).items()}
    assert not [state for state in (*states.values(), *looks.values()) if state.terminal], (path, value)
    concerned = _concerned(path)
    if concerned:
        assert bulk is not None, (path, value)
        assert states.keys() >= set(NAMES) - {concerned}, (path, value)


async def test_the_answers_as_they_are_say_what_the_jobs_do() -> None:
    bulk, looks = await _listed(answers())

    expected = dict(zip(NAMES, (JobState.RUNNING, JobState.QUEUED, JobState.RUNNING), strict=True))
    assert bulk is not None
    assert {name: one.state for name, one in bulk.items()} == expected == looks


async def test_without_the_right_to_list_workloads_only_the_reasons_of_waits_are_missing() -> None:
    forbidden = {"kind": "Status", "reason": "Forbidden", "code": 403, "message": "workloads is forbidden"}
    bulk, looks = await _listed(answers() | {_WORKLOADS: forbidden})

    assert bulk is not None
    states = dict(zip(NAMES, (JobState.RUNNING, JobState.QUEUED, JobState.RUNNING), strict=True))
    assert {name: one.state for name, one in bulk.items()} == states == looks
    assert bulk[NAMES[1]].why is None


@pytest.mark.parametrize("head", sorted(answers()))
async def test_a_value_of_another_kind_in_any_place_ends_no_job_and_hides_no_other(head: str) -> None:
    places = [path for path in PLACES if path[0] == head]
    for number, path in enumerate(places):
        for value in share(_VALUES, number, len(_VALUES) // 2):
            await _check(path, value)


@pytest.mark.long
@settings(max_examples=examples(400))
@given(st.sampled_from(PLACES), ANY_JSON)
async def test_any_json_in_any_place_ends_no_job_and_hides_no_other(path: Path, value: Any) -> None:
    await _check(path, value)
