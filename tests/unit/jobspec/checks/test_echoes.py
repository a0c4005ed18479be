"""One message for one mistake, and the one that matters first."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from shared.core.facts import ClusterFacts
from shared.jobspec import Source, mended, validate
from slipway.client.request.diagnose import diagnosed
from tests.diagnosis import problems_of
from tests.unit.jobspec.jobs import BLOBS, CLUSTER, SHARE, job, script_toolkit, toolkit

ROOT, CLUSTER_ROOT = "$AZ_BATCHAI_JOB_MOUNT_ROOT", "$AZ_BATCHAI_MOUNT_ROOT"
_ON_DATA = toolkit("caffe2Settings", pythonScriptFilePath=f"{ROOT}/data/a.py")["properties"]
ONE: dict[str, tuple[dict[str, Any], str, str]] = {
    "a misspelt command": (job(customToolkitSettings={"commandLin": "a"}), "SW012",
        "/customToolkitSettings/commandLin"),
    "a misspelt toolkit": (job(customToolkitSettings=None, customMpiSetings={"commandLine": "a"}), "SW012",
        "/customMpiSetings"),
    "misspelt mounts": ({"properties": {**_ON_DATA, "mountVolumes": None, "mountVolume": {}}}, "SW012",
        "/mountVolume"),
    "a misspelt mount path": ({"properties": {**_ON_DATA, "mountVolumes": {"azureFileShares": [SHARE],
        "azureBlobFileSystems": [{"accountName": "a23", "containerName": "data", "relativeMountPth": "d"}]}}},
        "SW012", "/mountVolumes/azureBlobFileSystems/0/relativeMountPth"),
    "a bad mount path": ({"properties": {**_ON_DATA, "mountVolumes": {"azureFileShares": [SHARE],
        "azureBlobFileSystems": [{**BLOBS, "relativeMountPath": "/data"}]}}},
        "SW031", "/mountVolumes/azureBlobFileSystems/0/relativeMountPath"),
    "misspelt directories": (job(inputDirectoris=[{"id": "A", "path": "/opt"}],
        customToolkitSettings={"commandLine": "ls $AZ_BATCHAI_INPUT_A"}), "SW012", "/inputDirectoris"),
    "a bad directory id": (job(inputDirectories=[{"id": "A-B", "path": "/opt"}],
        customToolkitSettings={"commandLine": "ls $AZ_BATCHAI_INPUT_A"}), "SW040", "/inputDirectories/0/id"),
    "too many nodes": ({"properties": {**script_toolkit("horovodSettings", processCount=3)["properties"],
        "nodeCount": 500}}, "SW013", "/nodeCount"),
    "a bad address": (job(mountVolumes={"azureBlobFileSystems": [BLOBS],
        "azureFileShares": [{"azureFileUrl": "a", "relativeMountPath": "logs"}]}), "SW035",
        "/mountVolumes/azureFileShares/0/azureFileUrl"),
    "an image a level too high": (job(containerSettings={"image": "a:1"}), "SW012",
        "/containerSettings/image"),
}  # fmt: skip


@pytest.mark.parametrize("name", ONE)
def test_what_follows_from_a_mistake_is_not_reported(name: str) -> None:
    document, code, pointer = ONE[name]
    values = {key: value for key, value in document["properties"].items() if value is not None}

    _, problems = validate({"properties": values})

    assert [(one.code, one.pointer) for one in problems] == [(code, f"/properties{pointer}")]


_TOOLKIT = '"customToolkitSettings": {"commandLine": "a"}'
_CREDENTIALS = '"imageSourceRegistry": {"image": "a:1", "credentials": {"username": "u", "pasword": "x"}}'
#: A text → its one problem, and a piece of its message or its remedy.
ONE_OF_TEXT: dict[str, tuple[str, str, str, str]] = {
    "a hidden character in a name": (
        f'"node\u200bCount": 1, {_TOOLKIT}', "SW012", "node\\u200bCount", "U+200B"),
    "a hidden character in a toolkit": (
        '"nodeCount": 1, "customToolkit\u200bSettings": {"commandLine": "a"}', "SW012",
        "customToolkit\\u200bSettings", "U+200B"),
    "a value misspelt": (f'"nodeCount": 1, {_TOOLKIT}, "secrets": [{{"name": "A", "vlaue": "b"}}]', "SW012",
        "secrets/0/vlaue", '"value"'),
    "a password misspelt": (f'"nodeCount": 1, {_TOOLKIT}, "containerSettings": {{{_CREDENTIALS}}}', "SW012",
        "containerSettings/imageSourceRegistry/credentials/pasword", '"password"'),
    "a toolkit that is none": ('"nodeCount": 1, "kerasSettings": {"pythonScriptFilePath": "/a.py"}', "SW012",
        "kerasSettings", "customToolkitSettings"),
    "one for many": ('"nodeCount": 1, "customToolkitSettings": {"commandLine": "ls $AZ_BATCHAI_INPUT_A"}, '
        '"inputDirectory": [{"id": "A", "path": "/opt"}]', "SW012", "inputDirectory", "inputDirectories"),
    "an image that is none": (f'"nodeCount": 1, {_TOOLKIT}, "containerSettings": {{"imageSourceRegistry": '
        '{"image": "Ubuntu"}}', "SW017", "containerSettings/imageSourceRegistry/image", "capital letters"),
    "a mount at the root": (f'"nodeCount": 1, {_TOOLKIT}, "mountVolumes": {{"azureBlobFileSystems": [{{'
        '"accountName": "account", "containerName": "data", "relativeMountPath": "/"}]}, '
        f'"inputDirectories": [{{"id": "A", "path": "{ROOT}/data"}}]', "SW031",
        "mountVolumes/azureBlobFileSystems/0/relativeMountPath", '"/"'),
    "a letter of another alphabet in an address": (f'"nodeCount": 1, {_TOOLKIT}, "mountVolumes": {{'
        '"azureFileShares": [{"azureFileUrl": "https://acc\u043eunt.file.core.windows.net/logs", '
        '"relativeMountPath": "data"}]}', "SW089", "mountVolumes/azureFileShares/0/azureFileUrl", "U+043E"),
    "a placeholder for a number": (f'"nodeCount": "<SLIPWAY_SCRIPT>", {_TOOLKIT}', "SW046", "nodeCount",
        "SLIPWAY_SCRIPT"),
    "a placeholder for an object": (f'"nodeCount": 1, {_TOOLKIT}, "containerSettings": "<SLIPWAY_SCRIPT>"',
        "SW046", "containerSettings", "SLIPWAY_SCRIPT"),
    "properties twice": (f'"nodeCount": 1}}, "properties": {{{_TOOLKIT}', "SW005", "", "twice"),
}  # fmt: skip


@pytest.mark.parametrize("name", ONE_OF_TEXT)
def test_what_follows_from_a_mistake_of_a_text_is_not_reported(name: str) -> None:
    properties, code, pointer, says = ONE_OF_TEXT[name]

    problems = problems_of(f'{{"properties": {{{properties}}}}}'.encode(), Path("/nowhere/digits/job.json"))

    assert [(one.code, one.pointer) for one in problems] == [(code, f"/properties/{pointer}".rstrip("/"))]
    assert says in problems[0].message + problems[0].remedy


def test_the_wrapper_is_reported_before_what_is_missing_in_it() -> None:
    assert [code for _, code, _ in _problems({"customMpiSettings": {"commandLine": "a"}})] == [
        "SW085",
        "SW010",
    ]


def test_a_name_with_a_hidden_character_is_mended_with_certainty() -> None:
    text = f'{{"properties": {{"node\u200bCount": 1, {_TOOLKIT}}}}}'
    source = Source(text.encode())

    after = mended(source, lambda one: problems_of(one.data, Path("/nowhere/digits/job.json")))

    assert after.text == text.replace("\u200b", "")


def _problems(document: Any) -> list[tuple[str, str, str]]:
    problems = problems_of(json.dumps(document, indent=1).encode(), Path("/nowhere/digits/job.json"))
    return [(one.severity, one.code, one.message) for one in problems]


def test_errors_come_first_then_warnings_then_hints() -> None:
    document = job(
        stdOutErrPathPrefix=f"{CLUSTER_ROOT}/external",
        containerSettings={"imageSourceRegistry": {"image": "ubuntu"}},
        customToolkitSettings={"commandLine": "echo $AZ_BATCHAI_TASK_INDX"},
        zzz=1,
        nodeCount=0,
    )

    assert [severity for severity, _, _ in _problems(document)] == [
        "error",
        "error",
        "warning",
        "warning",
        "hint",
    ]


def test_a_cut_list_keeps_the_errors() -> None:
    variables = [{"name": f"AZ_BATCHAI_{number}", "value": ""} for number in range(150)]

    _, problems = validate(job(environmentVariables=variables, zzz=1))

    assert problems[0].code == "SW012"
    assert problems[-1].code == "SW016"


def test_a_mount_of_the_cluster_that_is_not_known_is_asked_about_once() -> None:
    document = job(
        mountVolumes=None,
        stdOutErrPathPrefix=f"{CLUSTER_ROOT}/external",
        inputDirectories=[
            {"id": "A", "path": f"{CLUSTER_ROOT}/external/a"},
            {"id": "B", "path": f"{CLUSTER_ROOT}/other"},
        ],
        outputDirectories=[{"id": "C", "pathPrefix": f"{CLUSTER_ROOT}/external"}],
    )

    assert [message for _, code, message in _problems(document) if code == "SW034"] == [
        'it is not known whether the cluster mounts "external" (used here and in 2 more places)',
        'it is not known whether the cluster mounts "other"',
    ]
    assert [one.code for one in validate(document, cluster_mounts=["external", "other"])[1]] == []


def test_a_property_that_is_given_twice_says_where_it_was_given_first() -> None:
    text = '{"properties": {\n "nodeCount": 1,\n  "nodeCount": 2, "customMpiSettings": {"commandLine": "a"}}}'

    (problem,) = problems_of(text.encode(), Path("/nowhere/digits/job.json"))

    assert problem.message == '"nodeCount" is given twice, first in line 2, column 2'
    assert problem.place is not None
    assert problem.place.line == 3


def test_the_mounts_of_a_cluster_say_nothing_of_another_one_of_its_name() -> None:
    facts = {"dev-cluster-00": ClusterFacts(mounts=frozenset({"afs"}))}
    facts[CLUSTER.lower()] = facts["dev-cluster-00"]
    other = CLUSTER.replace("/resourceGroups/group", "/resourceGroups/other")
    codes = {}
    for cluster in ("dev-cluster-00", CLUSTER, CLUSTER.upper(), other, f"{CLUSTER}/"):
        document = job(cluster=cluster, stdOutErrPathPrefix=f"{CLUSTER_ROOT}/nfs")
        problems = diagnosed(Source(json.dumps(document).encode()), Path("/nowhere/digits/job.json"), facts)
        codes[cluster] = [one.code for one in problems]

    assert codes == {
        "dev-cluster-00": ["SW033"],
        CLUSTER: ["SW033"],
        CLUSTER.upper(): ["SW033"],
        other: ["SW034"],
        f"{CLUSTER}/": ["SW047", "SW034"],
    }
