"""One mistake, one finding; and everything that the service accepted passes."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from pydantic import ValidationError

from shared.spec import JobSpec, Limits, Problem, validate
from shared.spec.tree import copied
from tests.unit.spec.bad_jobs import BAD_JOBS, Bad
from tests.unit.spec.jobs import (
    CLUSTER,
    SCRIPT,
    SHARE,
    blobs,
    everything,
    job,
    mounts,
    script_toolkit,
    share,
    toolkit,
)

ROOT = "$AZ_BATCHAI_MOUNT_ROOT"


@pytest.mark.parametrize("bad", BAD_JOBS, ids=lambda bad: bad.name)
def test_each_mistake_gives_exactly_its_finding(bad: Bad) -> None:
    before = copied(bad.document)

    spec, problems = validate(bad.document)

    assert [(found.code, found.pointer, found.severity) for found in problems] == [
        (bad.code, f"/properties{bad.pointer}", bad.severity)
    ]
    assert bad.says in problems[0].message + problems[0].remedy
    assert problems[0].remedy
    assert (spec is None) is (bad.severity == "error")
    assert bad.document == before


GOOD: dict[str, dict[str, Any]] = {
    "the smallest": job(),
    "everything": everything(),
    "nulls are absent": job(secrets=[], constraints={"maxWallClockTime": None}) | {"$schema": None},
    "no mounts": job(mountVolumes=None, stdOutErrPathPrefix="$HOME/logs"),
    "gloo in lower case": script_toolkit("pyTorchSettings", communicationBackend="gloo", processCount=8),
    "tcp": script_toolkit("pyTorchSettings", communicationBackend="tcp"),
    "MPI": script_toolkit("pyTorchSettings", communicationBackend="MPI"),
    "python in lower case": script_toolkit("cntkSettings", languageType="python", processCount=2),
    "BrainScript": toolkit("cntkSettings", languageType="BrainScript", configFilePath="a.cntk"),
    "configuration without language": toolkit("cntkSettings", configFilePath="a.cntk", commandLineArgs="x=y"),
    "script without language": script_toolkit("cntkSettings", pythonInterpreterPath="/usr/bin/python3"),
    "Caffe by configuration": toolkit("caffeSettings", configFilePath="solver.prototxt"),
    "Caffe by script": script_toolkit("caffeSettings", pythonInterpreterPath="python3", processCount=2),
    "Caffe2": script_toolkit("caffe2Settings", commandLineArgs="--shard_id $AZ_BATCHAI_TASK_INDEX"),
    "Chainer": script_toolkit("chainerSettings", processCount=8, commandLineArgs=""),
    "Horovod": script_toolkit("horovodSettings"),
    "MPI command": toolkit("customMpiSettings", commandLine="hostname", processCount=2),
    "TensorFlow": script_toolkit(
        "tensorFlowSettings",
        masterCommandLineArgs="$AZ_BATCHAI_PS_HOSTS",
        workerCommandLineArgs="",
        parameterServerCommandLineArgs="",
        workerCount=2,
        parameterServerCount=1,
    ),
    "shell redirections": job(
        customToolkitSettings={"commandLine": "python a.py <in >out 2>&1 | tee x; ls *"}
    ),
    "a mount's parent in a command": job(
        mountVolumes={"azureFileShares": [SHARE, {**SHARE, "relativeMountPath": "x/y"}]},
        customToolkitSettings={"commandLine": "ls $AZ_BATCHAI_JOB_MOUNT_ROOT $AZ_BATCHAI_JOB_MOUNT_ROOT/x"},
    ),
    "a script that a command fetches": toolkit("caffe2Settings", pythonScriptFilePath="./train.py"),
    "a variable of one's own": job(
        environmentVariables=[{"name": "MINE", "value": ""}],
        customToolkitSettings={"commandLine": "echo $MINE ${HOME} $1 $$"},
    ),
    "a previous output": job(customToolkitSettings={"commandLine": "ls $AZ_BATCHAI_PREV_OUTPUT_MODEL"}),
    "a secret from elsewhere": job(environmentVariables=[{"name": "A_TOKEN", "value": "$OTHER"}]),
    "weeks": job(constraints={"maxWallClockTime": "P1W"}),
    "a fraction of a second": job(constraints={"maxWallClockTime": "P1DT2H3M4.5S"}),
    "another cloud": share(azureFileUrl="https://account.file.core.chinacloudapi.cn/logs/below/"),
    "options of the documentation": blobs(
        mountOptions="--use-https=true -o big_writes -o max_read=131072 -o fsname=blobfuse -o allow_other"
    ),
}


@pytest.mark.parametrize("document", GOOD.values(), ids=GOOD)
def test_what_the_service_accepted_passes_without_a_finding(document: dict[str, Any]) -> None:
    spec, problems = validate(document)

    assert problems == ()
    assert spec is not None


def test_a_spec_gives_back_the_document_it_was_made_of() -> None:
    spec, _ = validate(everything())

    assert spec is not None
    assert spec.document() == {"properties": everything()["properties"]}
    assert JobSpec.model_validate(spec.document()) == spec.model_copy(update={"schema_url": None})


def test_a_spec_is_frozen_and_does_not_show_its_secrets() -> None:
    document = share(credentials={"accountKey": "canary-1"})
    document["properties"]["secrets"] = [{"name": "A", "value": "canary-2"}]
    registry = {"image": "a", "credentials": {"username": "u", "password": "canary-3"}}
    document["properties"]["containerSettings"] = {"imageSourceRegistry": registry}
    spec, _ = validate(document)

    assert spec is not None
    assert "canary" not in repr(spec)
    with pytest.raises(ValidationError):
        spec.properties = None  # type: ignore[assignment,misc]


@pytest.mark.parametrize(
    ("document", "tool_type"),
    [
        (job(), "custom"),
        (toolkit("customMpiSettings", commandLine="a"), "custommpi"),
        (toolkit("caffeSettings", configFilePath="a"), "caffe"),
        (script_toolkit("cntkSettings"), "cntk"),
        (script_toolkit("pyTorchSettings"), "pytorch"),
        (script_toolkit("tensorFlowSettings"), "tensorflow"),
        (script_toolkit("caffe2Settings"), "caffe2"),
        (script_toolkit("chainerSettings"), "chainer"),
        (script_toolkit("horovodSettings"), "horovod"),
    ],
)
def test_a_spec_names_its_toolkit(document: dict[str, Any], tool_type: str) -> None:
    spec, _ = validate(document)

    assert spec is not None
    assert spec.properties.tool_type == tool_type
    assert type(spec.properties.toolkit).__name__.lower().removesuffix("settings").startswith(tool_type[:5])


def test_the_wall_clock_limit_defaults_to_a_week() -> None:
    for document, expected in (
        (job(), timedelta(days=7)),
        (job(constraints={}), timedelta(days=7)),
        (job(constraints={"maxWallClockTime": "PT90M"}), timedelta(minutes=90)),
    ):
        spec, _ = validate(document)
        assert spec is not None
        assert spec.properties.wall_clock == expected


def test_all_problems_come_at_once_in_document_order() -> None:
    document = {
        "properties": {
            "nodeCuont": 2,
            "stdOutErrPathPrefix": "$AZ_BATCHAI_JOB_MOUNT_ROOT/logs",
            "horovodSettings": {"pythonScriptFilePath": SCRIPT, "commandLineArgs": "$AZ_BATCHAI_INPUT_A"},
            "customToolkitSettings": {"commandLine": 7},
        },
        "extra": 1,
    }

    _, problems = validate(document)

    assert [(found.code, found.pointer) for found in problems] == [
        ("SW010", "/properties/cluster"),
        ("SW012", "/properties/nodeCuont"),
        ("SW033", "/properties/stdOutErrPathPrefix"),
        ("SW033", "/properties/horovodSettings/pythonScriptFilePath"),
        ("SW044", "/properties/horovodSettings/commandLineArgs"),
        ("SW021", "/properties/customToolkitSettings"),
        ("SW011", "/properties/customToolkitSettings/commandLine"),
        ("SW012", "/extra"),
    ]
    assert validate(document)[1] == problems


def _codes(problems: tuple[Problem, ...]) -> list[tuple[str, str]]:
    return [(found.code, found.severity) for found in problems]


def test_cluster_mounts_are_an_error_once_they_are_known() -> None:
    document = job(stdOutErrPathPrefix=f"{ROOT}/afs/x")

    assert _codes(validate(document)[1]) == [("SW034", "warning")]
    assert _codes(validate(document, cluster_mounts=["afs"])[1]) == []
    assert _codes(validate(document, cluster_mounts=["afs/y"])[1]) == [("SW033", "error")]
    assert _codes(validate(document, cluster_mounts=[])[1]) == [("SW033", "error")]


def test_a_path_under_the_wrong_root_names_the_right_one() -> None:
    document = job(stdOutErrPathPrefix=f"{ROOT}/logs")
    other = job(stdOutErrPathPrefix="$AZ_BATCHAI_JOB_MOUNT_ROOT/afs")

    assert "$AZ_BATCHAI_JOB_MOUNT_ROOT" in validate(document, cluster_mounts=[])[1][0].remedy
    assert f"{ROOT}:" in validate(other, cluster_mounts=["afs"])[1][0].remedy


def test_a_cluster_has_to_be_configured_once_those_are_known() -> None:
    clusters = {"dev-cluster-00": CLUSTER.upper()}
    document = job(cluster={"id": "dev-cluster-01"})

    _, problems = validate(document, clusters=clusters)

    assert validate(job(), clusters=clusters)[1] == ()
    assert _codes(problems) == [("SW047", "error")]
    assert "did you mean" in problems[0].message
    assert "configure" in validate(job(), clusters={})[1][0].remedy


def test_an_account_needs_a_key_once_the_accounts_are_known() -> None:
    assert _codes(validate(job(), accounts=["account"])[1]) == []
    assert _codes(validate(job(), accounts=[])[1]) == [("SW039", "error")] * 2
    with_key = share(credentials={"accountKey": "a"})
    assert [found.pointer for found in validate(with_key, accounts=[])[1]] == [
        "/properties/mountVolumes/azureBlobFileSystems/0"
    ]


def test_an_operator_may_lower_the_limits_and_allow_mount_commands() -> None:
    limits = Limits(max_nodes=1, max_wall_clock=timedelta(hours=1), unmanaged_mounts=True)
    document = mounts(unmanagedFileSystems=[{"mountCommand": "mount x", "relativeMountPath": "u"}])
    document["properties"]["constraints"] = {"maxWallClockTime": "PT61M"}

    _, problems = validate(document, limits=limits)

    assert [(found.code, found.pointer) for found in problems] == [
        ("SW013", "/properties/nodeCount"),
        ("SW051", "/properties/constraints/maxWallClockTime"),
    ]


def test_only_so_many_problems_are_shown_and_the_rest_is_counted() -> None:
    document = job(**{f"unknown{index}": index for index in range(500)})

    _, problems = validate(document, limits=Limits(max_problems=10))

    assert len(problems) == 11
    assert problems[-1].code == "SW016"
    assert "490" in problems[-1].message
    assert problems[-1].severity == "error"


def test_warnings_beyond_the_limit_stop_nothing() -> None:
    document = job(environmentVariables=[{"name": f"A{n}", "value": f"{ROOT}/x"} for n in range(9)])

    spec, problems = validate(document, cluster_mounts=[], limits=Limits(max_problems=3))

    assert spec is not None
    assert _codes(problems)[-1] == ("SW016", "warning")


@pytest.mark.parametrize(
    "document", [None, [], "text", 7, True, {}, {"properties": None}, {"properties": []}]
)
def test_what_is_no_job_at_all_is_told_so(document: Any) -> None:
    spec, problems = validate(document)

    assert spec is None
    assert problems[0].code in ("SW008", "SW010", "SW011")


def test_a_problem_can_be_placed_under_another_document() -> None:
    found = Problem("SW001", "/a", "message", "remedy")

    assert found.under("/spec").as_dict() == {
        "code": "SW001",
        "severity": "error",
        "pointer": "/spec/a",
        "message": "message",
        "remedy": "remedy",
    }
