"""A job in the wrong wrapper gets one message about that first, and then what is wrong with the job."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from shared.intake.desk.prepare import prepare
from shared.intake.message import read_request
from shared.jobspec import Limits, Source, applied, mended
from tests.diagnosis import problems_of
from tests.unit.jobspec.patching import patched
from tests.unit.world import World

FILE = Path("/nowhere/digits/job.json")
ID = "/subscriptions/0/resourceGroups/g/providers/Microsoft.BatchAI/workspaces/w/experiments/e/jobs/j"
CLUSTER = "/subscriptions/0/resourceGroups/g/providers/Microsoft.BatchAI/workspaces/w/clusters/dev"
TYPE = "Microsoft.BatchAI/workspaces/experiments/jobs"
SPEC = {
    "nodeCount": 1,
    "customToolkitSettings": {"commandLine": "hostname"},
    "stdOutErrPathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/logs",
}
ANSWERED = {
    "creationTime": "2018-07-18T17:48:02Z",
    "executionInfo": {"startTime": "2018-07-18T17:48:02Z", "exitCode": None},
    "executionState": "running",
    "jobOutputDirectoryPathSegment": "0/g/workspaces/w/experiments/e/jobs/j/u",
    "provisioningState": "succeeded",
    "toolType": "custom",
}
SHOWN = {
    "caffe2Settings": None,
    "cluster": {"id": CLUSTER, "resourceGroup": "g"},
    **SPEC,
    **ANSWERED,
    "experimentName": "e",
    "id": ID,
    "name": "j",
    "resourceGroup": "g",
    "secrets": None,
    "type": TYPE,
}
NFS = {
    "fileServer": {"id": CLUSTER.replace("/clusters/", "/fileServers/"), "resourceGroup": "g"},
    "relativeMountPath": "nfs",
}
WRAPPED: dict[str, tuple[dict[str, Any], str]] = {
    "without properties": (SPEC, "outside"),
    "with a schema": ({"$schema": "https://example.org/job.json", **SPEC}, "outside"),
    "only a toolkit": ({"customMpiSettings": SPEC["customToolkitSettings"], "nodeCount": 1}, "outside"),
    "with a cluster": ({"cluster": "dev", **SPEC}, "outside"),
    "az batchai job show": (SHOWN, "az batchai job show"),
    "answer of the service": (
        {"id": ID, "name": "j", "type": TYPE, "properties": {**ANSWERED, **SPEC, "cluster": {"id": CLUSTER}}},
        "what the service answers",
    ),
    "properties of an answer": ({"properties": {**SPEC, **ANSWERED}}, "what the service answers"),
    "resource of a template": (
        {"type": TYPE, "apiVersion": "2018-05-01", "name": "j", "dependsOn": [], "properties": SPEC},
        "ARM template",
    ),
    "of the older API": (
        {"type": "Microsoft.BatchAI/jobs", "apiVersion": "1", "properties": SPEC},
        "ARM template",
    ),
    "properties twice": ({"properties": {"properties": SPEC}}, 'is inside "properties"'),
    "a job in an object": ({"job": {"properties": SPEC}}, 'inside "job"'),
    "the only one of a list": ({"value": [{"properties": SPEC}], "nextLink": None}, 'inside "value"'),
    "a group beside each id": (
        {**SHOWN, "mountVolumes": {"fileServers": [NFS]}},
        "az batchai job show",
    ),
}
#: Wrappers of which it is not certain what is meant.
UNCERTAIN: dict[str, tuple[dict[str, Any], str]] = {
    "copied": ({"type": TYPE, "apiVersion": "1", "copy": {"count": 2}, "properties": SPEC}, "copy"),
    "conditional": ({"type": TYPE, "apiVersion": "1", "condition": "[x]", "properties": SPEC}, "condition"),
    "behind others": ({"type": TYPE, "apiVersion": "1", "dependsOn": ["x"], "properties": SPEC}, "dependsOn"),
    "properties twice, with more": ({"properties": {"nodeCount": 1, "properties": SPEC}}, "once"),
    "a list": ({"value": [{"properties": SPEC}, {"properties": SPEC}]}, "a file of its own"),
}
TEMPLATE = {
    "$schema": "https://schema.management.azure.com/schemas/2015-01-01/deploymentTemplate.json#",
    "contentVersion": "1.0.0.0",
    "parameters": {"key": {"defaultValue": "canary"}},
    "resources": [
        {"type": "Microsoft.BatchAI/workspaces", "name": "canary"},
        {"type": TYPE, "apiVersion": "2018-05-01", "name": "j", "properties": {**SPEC, "nodeCount": 0}},
    ],
}


_ONE: Any = {"nodeCount": 1}
_COMMAND: Any = {"customMpiSettings": {"commandLine": "a"}}


def _codes(document: Any) -> list[tuple[str, str]]:
    return [(one.code, one.pointer) for one in problems_of(json.dumps(document).encode(), FILE)]


@pytest.mark.parametrize("name", WRAPPED)
@pytest.mark.parametrize("in_message", [False, True])
def test_a_wrong_wrapper_is_one_problem_with_a_certain_fix(name: str, in_message: bool) -> None:
    document, says = WRAPPED[name]
    document = {"spec": document} if in_message else document
    text = json.dumps(document, indent=2)

    (problem,) = problems_of(text.encode(), FILE)

    assert (problem.code, problem.pointer) == ("SW085", "/spec" if in_message else "")
    assert says in problem.message
    assert problem.fix is not None
    after = applied(text, [Source(text.encode()).edits(problem)])
    assert json.loads(after) == patched(document, problem.fix.patch())
    assert _codes(json.loads(after)) == []


@pytest.mark.parametrize("name", UNCERTAIN)
def test_what_would_be_lost_is_not_cut_away(name: str) -> None:
    document, remedy = UNCERTAIN[name]

    (problem,) = problems_of(json.dumps(document).encode(), FILE)

    assert problem.code == "SW085"
    assert problem.fix is None
    assert remedy in problem.remedy


@pytest.mark.parametrize(
    "document",
    [
        [{"properties": SPEC}],
        [{**SPEC, "id": ID, "name": "j", "type": TYPE}],
        {"job": SPEC},
        {"value": [{"id": ID, "type": TYPE, "properties": {**ANSWERED, **SPEC}}]},
    ],
)
def test_wrappers_in_wrappers_are_taken_off_one_by_one(document: Any) -> None:
    source = Source(json.dumps(document).encode())

    after = mended(source, lambda one: problems_of(one.data, FILE))

    assert json.loads(after.text) == {"properties": SPEC}


def test_a_list_of_jobs_is_several_documents() -> None:
    (problem,) = problems_of(json.dumps([{"properties": SPEC}] * 2).encode(), FILE)

    assert (problem.code, problem.fix) == ("SW008", None)
    assert "2 jobs" in problem.message


@pytest.mark.parametrize(
    ("document", "pointer", "says"),
    [
        ({"commandLine": "a", "properties": _ONE}, "/commandLine", "properties.customToolkitSettings"),
        ({"customToolkitSettings": {}, "properties": _ONE}, "/customToolkitSettings", "properties"),
        ({"nodeCount": 1, "spec": {"properties": _COMMAND}}, "/nodeCount", "into properties"),
        ({"commandLine": "a", "spec": {"properties": _ONE}}, "/commandLine", "customToolkitSettings"),
    ],
)
def test_what_stands_beside_the_properties_is_not_called_missing_in_them(
    document: Any, pointer: str, says: str
) -> None:
    (problem,) = problems_of(json.dumps(document).encode(), FILE)

    assert (problem.code, problem.pointer) == ("SW012", pointer)
    assert says in problem.message


@pytest.mark.parametrize("name", WRAPPED)
def test_the_doors_say_the_same_and_run_nothing(name: str) -> None:
    ports = World().ports
    data = json.dumps(WRAPPED[name][0]).encode()

    prepared = prepare(ports, read_request(data, Limits()), key="k", folder="digits")

    codes = [one.code for one in prepared.problems]
    assert codes[0] == "SW085"
    assert set(codes) <= {"SW085", "SW034", "SW047"}  # its mounts are not known, nor is the job's cluster
    assert not prepared.valid
    assert prepared.document is None


def test_what_is_wrong_inside_comes_behind_at_the_place_where_it_stands() -> None:
    text = '{\n  "nodeCount": "2",\n  "customToolkitSettings": {"commandLine": "a"},\n  "zzz": "canary"\n}\n'

    problems = problems_of(text.encode(), FILE)

    assert [(one.code, one.pointer) for one in problems] == [
        ("SW085", ""),
        ("SW011", "/nodeCount"),
        ("SW012", "/zzz"),
    ]
    assert [one.place.line for one in problems if one.place] == [1, 2, 4]
    assert "canary" not in str([one.as_dict() for one in problems])
    after = json.loads(mended(Source(text.encode()), lambda source: problems_of(source.data, FILE)).text)
    assert after == {
        "properties": {"nodeCount": 2, "customToolkitSettings": {"commandLine": "a"}, "zzz": "canary"}
    }


def test_the_job_of_a_template_is_judged_where_it_stands_and_the_rest_is_not_shown() -> None:
    problems = problems_of(json.dumps(TEMPLATE).encode(), FILE)

    places = [(one.code, one.pointer) for one in problems]
    assert places == [("SW085", ""), ("SW013", "/resources/1/properties/nodeCount")]
    assert all(one.fix is None for one in problems)
    assert "canary" not in str([one.as_dict() for one in problems])


@pytest.mark.parametrize(
    "document",
    [
        {"properties": SPEC},
        {"properties": {**SPEC, "toolType": "custom"}},
        {"name": "a", "properties": SPEC},
        {"name": "a", "spec": {"properties": SPEC}},
        {"resources": []},
        {"cluster": "dev"},
        {},
    ],
)
def test_what_is_no_wrapper_is_not_called_one(document: Any) -> None:
    assert "SW085" not in dict(_codes(document))
