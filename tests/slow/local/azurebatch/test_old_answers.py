"""What the service answered in March 2020 to a client for Node.js, the emulator answers to the same calls.

The bodies of these requests are masked, so each call is made here with a body of the test's own, and what is
compared is the answer: status, error code, the headers that clients read, and the members that the service
fills in by itself. The recordings are not committed: see `test_replay`. `NOT_CALLED` and `DIFFERENT` say what
does not fit, and why.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from azure.batch import BatchClient
from azure.core.exceptions import HttpResponseError
from azure.core.rest import HttpRequest

from tests.slow.local.azurebatch.node_recordings import OLD, READ, Old, document, recorded
from tests.slow.local.azurebatch.test_replay import shape
from tests.slow.local.azurebatch.world import IMAGE, emulator, until

VERSION = "2020-03-01.11.0"
#: Calls that are not made, by a part of their path, and why.
NOT_CALLED = {
    "jobschedules": "the emulator has no job schedules",
    "certificates": "the service has no certificates any more",
    "/rdp": "nodes here are of no Windows",
    "uploadbatchservicelogs": "nodes here have no agent whose logs could be sent",
    "lifetime": "the service has no statistics of a lifetime any more",
    "poolusagemetrics": "the emulator keeps no usage",
    "applications/": "the emulator has no application packages",
    "ApplicationPacakgeReferenceTask": "the emulator has no application packages",
    "TaskWithAuthTokenSettings": "the emulator gives tasks no tokens",
    "TaskWithUserIdentity": "its files and identity are masked",
    "nodesdkdatadiskpool": "its pool has disks, which nodes here have not",
    "nodesdkinboundendpointpool": "nodes here have no public address",
    "nodesdktestpool_licenses": "nodes here need no licences",
    "POST /pools 403": "nodes here are in no network of Azure",
    "POST /pools 400": "images are not looked up",
}
#: Members that the service fills in: of every resource, of pools, nodes, counts, files and errors.
FILLED = frozenset(
    {
        "odata.metadata",
        "odata.nextLink",
        "value",
        "id",
        "url",
        "eTag",
        "creationTime",
        "lastModified",
        "state",
    }
    | {"stateTransitionTime", "allocationState", "allocationStateTransitionTime", "currentDedicatedNodes"}
    | {"currentLowPriorityNodes", "targetDedicatedNodes", "targetLowPriorityNodes", "resizeTimeout"}
    | {
        "affinityId",
        "ipAddress",
        "isDedicated",
        "schedulingState",
        "totalTasksRun",
        "vmSize",
        "runningTasksCount",
    }
    | {
        "active",
        "running",
        "completed",
        "succeeded",
        "failed",
        "name",
        "isDirectory",
        "properties",
        "results",
    }
    | {"contentLength", "contentType", "timestamp", "error", "code", "message", "lang", "key", "poolId"}
    | {"dedicated", "lowPriority", "nodeAgentSKUId", "imageReference", "verificationType", "osType", "total"}
)
_JOB, _T1 = "/jobs/HelloWorldJobNodeSDKTest", "HelloWorldNodeSDKTestTask"
_T2 = f"{_T1}2"
_HELLO = "/pools/nodesdktestpool1/nodes/NODE/files/startup%2Fwd%2Fhello.txt"
_FILE_TAG = "files here have an ETag, as the description of 2024 says"
#: What is otherwise, and why.
DIFFERENT = {
    "GET /applications 200: no /value[]/id": "there are no application packages here",
    f"GET {_JOB}/tasks/{_T2}/files/stdout.txt 200: has etag": _FILE_TAG,
    f"HEAD {_JOB}/tasks/{_T2}/files/stderr.txt 200: has etag": _FILE_TAG,
    f"GET {_HELLO} 200: has etag": _FILE_TAG,
    f"HEAD {_HELLO} 200: has etag": _FILE_TAG,
    "GET /pools?maxresults=1&$skiptoken= 200: no /odata.nextLink": "there are two pools here, and more there",
    f"POST {_JOB}/tasks/{_T1}/reactivate 204: has dataserviceid": "no client reads it",
    "POST /pools/nodesdktestpool1/evaluateautoscale 200: no dataserviceid": "no client reads it",
}
POOL, OTHER = "/pools/nodesdktestpool1", "/pools/nodesdktestpool2"
JOB, TASK, SECOND = _JOB, f"{_JOB}/tasks/{_T1}", f"{_JOB}/tasks/{_T2}"
NODE = f"{POOL}/nodes/NODE"
_FORMULA = {"autoScaleFormula": "$TargetDedicatedNodes=3", "autoScaleEvaluationInterval": "PT10M"}


class Caller:
    """Makes the calls of the recordings, one by one, and notes what is different."""

    def __init__(self, client: BatchClient, old: list[Old]) -> None:
        self._client, self.node, self.next = client, "", ""
        self.old, self.called, self.problems = old, set[str](), set[str]()

    def answer(self, method: str, path: str, body: Any = None) -> tuple[int, frozenset[str], Any]:
        mark = "&" if "?" in path else "?"
        url = f"{path.replace('NODE', self.node)}{mark}api-version={VERSION}"
        if self.next and "$skiptoken" in path:
            parts = urlsplit(self.next)
            url = f"{parts.path}?{parts.query}"
        options = {} if body is None else {"json": body}
        try:
            answer: Any = self._client.send_request(
                HttpRequest(method, url, **options), stream=method == "GET" and "/files/" in url
            )
        except HttpResponseError as error:
            answer = error.response
        text = answer.read().decode()
        return answer.status_code, frozenset(map(str.lower, answer.headers)) & READ, document(text)

    def call(self, method: str, path: str, body: Any = None, status: int = 0) -> Any:
        """Make one call; all recordings of it, with this status if it has several, must have its answer."""
        code, headers, answer = self.answer(method, path, body)
        same = [one for one in self.old if one.call == f"{method} {path}" and one.status == (status or code)]
        same = [one for one in same if ("error" in (one.body or ())) == ("error" in (answer or ()))]
        assert same, f"{method} {path}: {code}, which was never recorded: {answer}"
        for one in same:
            self.called.add(one.name)
            if code != one.status:
                self.problems.add(f"{one.name}: {code}")
            theirs, ours = (
                {*names, *shape(value)} for names, value in ((one.headers, one.body), (headers, answer))
            )
            self.problems |= {f"{one.name}: no {place}" for place in theirs - ours if counts(place)}
            self.problems |= {f"{one.name}: has {place}" for place in ours - theirs if counts(place)}
            if isinstance(one.body, Mapping) and one.body.get("code") != (answer or {}).get("code"):
                self.problems.add(f"{one.name}: {answer}")
        return answer


def counts(place: str) -> bool:
    """Whether it is a header, or a member that the service fills in, with all that is above it."""
    return set(filter(None, re.split(r"/|\[\]", place))) <= FILLED | READ


def play(calls: Caller) -> None:
    """A life of two pools, a job and its tasks: each call once, in an order in which it can succeed."""
    call = calls.call
    machine = {"vmSize": "standard_d1_v2", "virtualMachineConfiguration": IMAGES}
    start = {"commandLine": "/bin/sh -c 'echo hello > hello.txt'", "waitForSuccess": True}
    call("POST", "/pools", {"id": POOL[7:], **machine, "targetDedicatedNodes": 3, "startTask": start}, 201)
    call("POST", "/pools", {"id": OTHER[7:], **machine, "targetDedicatedNodes": 0}, 201)
    calls.node = until(lambda: ready(calls))
    for path in ("/pools", POOL, f"{POOL}/nodes", NODE, f"{NODE}/files", "/nodecounts", "/supportedimages"):
        call("GET", path)
    call("HEAD", POOL)
    call("GET", "/applications")
    call("GET", f"{POOL}?$select=id%2Cstate&$expand=stats")
    call("GET", "/pools?$filter=startswith(id%2C%27nodesdktestpool1%27)&$select=id%2Cstate&$expand=stats")
    call("GET", "/pools?maxresults=-5")
    calls.next = call("GET", "/pools?maxresults=1")["odata.nextLink"]
    call("GET", "/pools?maxresults=1&$skiptoken=")
    call("POST", f"{NODE}/users", {"name": "NodeSDKTestUser", "isAdmin": False, "password": "x"})
    call("PUT", f"{NODE}/users/NodeSDKTestUser", {"password": "y"})
    call("DELETE", f"{NODE}/users/NodeSDKTestUser")
    for method in ("HEAD", "GET", "DELETE"):
        call(method, f"{NODE}/files/startup%2Fwd%2Fhello.txt")
    tasks(calls)
    scale(calls)


def tasks(calls: Caller) -> None:
    call = calls.call
    call("POST", "/jobs", {"id": JOB[6:], "poolInfo": {"poolId": POOL[7:]}})
    call("POST", f"{JOB}/tasks", {"id": TASK.rpartition("/")[2], "commandLine": "/bin/sleep 600"})
    call(
        "POST",
        f"{JOB}/tasks",
        {"id": SECOND.rpartition("/")[2], "commandLine": "/bin/sh -c 'sleep 3; echo hello'"},
    )
    call("PUT", SECOND, {"constraints": {"maxTaskRetryCount": 3}})
    until(lambda: calls.answer("GET", SECOND)[2]["state"] == "completed")
    for path in (JOB, "/jobs", f"{JOB}/tasks", f"{JOB}/taskcounts", TASK, f"{TASK}/subtasksinfo"):
        call("GET", path)
    call("GET", f"{JOB}/jobpreparationandreleasetaskstatus")
    call("GET", f"{SECOND}/files")
    call("GET", f"{SECOND}/files/stdout.txt")
    call("HEAD", f"{SECOND}/files/stderr.txt")
    call("DELETE", f"{SECOND}/files/stderr.txt")
    call("POST", f"{TASK}/terminate")
    call("POST", f"{TASK}/reactivate")
    conditions = {"poolInfo": {"poolId": POOL[7:]}, "priority": 500}
    call("PUT", JOB, conditions)
    call("POST", f"{JOB}/disable", {"disableTasks": "terminate"})
    until(lambda: calls.answer("GET", JOB)[2]["state"] == "disabled")
    call("POST", f"{JOB}/enable")
    call("DELETE", TASK)
    call("DELETE", SECOND)
    done = "/jobs/JobWithAutoComplete"
    auto = {"id": done[6:], "poolInfo": {"poolId": POOL[7:]}, "onTaskFailure": "performexitoptionsjobaction"}
    call("POST", "/jobs", auto)
    exits = {
        "exitCodes": [{"code": 1, "exitOptions": {"jobAction": "none", "dependencyAction": "block"}}],
        "default": {"jobAction": "terminate", "dependencyAction": "satisfy"},
    }
    last = {"id": "TaskWithAutoComplete", "commandLine": "/bin/sleep 600", "exitConditions": exits}
    call("POST", f"{done}/tasks", last)
    call("GET", f"{done}/tasks/TaskWithAutoComplete")
    call("DELETE", done)
    box = "/jobs/ContainerJobNodeSDKTest"
    call("POST", "/jobs", {"id": box[6:], "poolInfo": {"poolId": POOL[7:]}})
    inside = {"id": "boxed", "commandLine": "true", "containerSettings": {"imageName": "ubuntu"}}
    call("POST", f"{box}/tasks", inside)
    call("DELETE", box)
    call("POST", f"{JOB}/terminate", {})
    call("DELETE", JOB)


def scale(calls: Caller) -> None:
    call = calls.call
    call("POST", f"{NODE}/disablescheduling", {})
    call("POST", f"{NODE}/enablescheduling")
    call("PATCH", POOL, {"metadata": [{"name": "foo", "value": "bar"}]})
    update: dict[str, Any] = {"metadata": [], "applicationPackageReferences": [], "certificateReferences": []}
    call("POST", f"{POOL}/updateproperties", update)
    call("POST", f"{POOL}/enableautoscale", _FORMULA)
    call("POST", f"{POOL}/evaluateautoscale", {"autoScaleFormula": "$TargetDedicatedNodes=3"})
    call("POST", f"{POOL}/evaluateautoscale", {"autoScaleFormula": "$TargetDedicatedNodes=nothing"})
    call("POST", f"{POOL}/disableautoscale")
    until(lambda: calls.answer("GET", POOL)[2]["allocationState"] == "steady")
    call("POST", f"{NODE}/reboot", {})
    until(lambda: calls.answer("GET", NODE)[2]["state"] == "idle")
    call("POST", f"{NODE}/reimage", {})
    until(lambda: calls.answer("GET", NODE)[2]["state"] == "idle")
    call("POST", f"{POOL}/removenodes", {"nodeList": [calls.node]})
    call("POST", f"{OTHER}/resize", {"targetDedicatedNodes": 50, "targetLowPriorityNodes": 0})
    call("POST", f"{OTHER}/stopresize")
    call("DELETE", POOL, status=202)
    call("DELETE", POOL, status=409)
    call("DELETE", OTHER)


def ready(calls: Caller) -> str:
    nodes = calls.answer("GET", f"{POOL}/nodes")[2]["value"]
    return str(nodes[0]["id"]) if len(nodes) == 3 and {one["state"] for one in nodes} == {"idle"} else ""


IMAGES = {"imageReference": IMAGE, "nodeAgentSKUId": "batch.node.ubuntu 24.04"}


def test_old_answers_are_those_of_the_emulator(tmp_path: Path) -> None:
    if not OLD.is_dir():
        pytest.skip(f"{OLD.name} is not there: set BATCH_RECORDINGS to the folder of the recordings")
    old = list(recorded())
    # Slow enough that a resize can be stopped.
    with emulator(tmp_path, "--provisioning-seconds=2") as running, running.client() as client:
        calls = Caller(client, old)
        play(calls)

    not_called = [one.name for one in old if one.name not in calls.called]
    unexplained = [name for name in not_called if not any(part in name for part in NOT_CALLED)]
    assert sorted(calls.problems - set(DIFFERENT)) == []
    assert set(DIFFERENT) <= calls.problems
    assert unexplained == []
    assert (len(old), len(old) - len(not_called)) == (109, 78)
