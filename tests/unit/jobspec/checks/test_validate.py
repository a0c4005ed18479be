"""One mistake, one finding; and everything that the service accepted passes."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from pydantic import ValidationError

from shared.jobspec import JobSpec, JsonObject, Limits, Problem, validate, wall_clock
from shared.jobspec.format.base import Model
from shared.jobspec.format.toolkits import (
    TOOLKITS,
    Caffe2Settings,
    CaffeSettings,
    ChainerSettings,
    CntkSettings,
    CustomMpiSettings,
    CustomToolkitSettings,
    HorovodSettings,
    PyTorchSettings,
    TensorFlowSettings,
)
from shared.jobspec.text.tree import copied
from tests.unit.jobspec.bad_jobs import BAD_JOBS, Bad
from tests.unit.jobspec.jobs import (
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

    assert [(one.code, one.pointer, one.severity) for one in problems] == [
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
    "a script that a command fetches": job(
        customToolkitSettings=None,
        caffe2Settings={"pythonScriptFilePath": "./train.py"},
        jobPreparation={"commandLine": "wget https://example.org/train.py"},
    ),
    "an image by its digest": job(
        containerSettings={"imageSourceRegistry": {"image": f"R.io:5000/a_b/c-d:V1@sha256:{'0a' * 32}"}}
    ),
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
    ("document", "block"),
    [
        (job(), CustomToolkitSettings),
        (toolkit("customMpiSettings", commandLine="a"), CustomMpiSettings),
        (toolkit("caffeSettings", configFilePath="a"), CaffeSettings),
        (script_toolkit("cntkSettings"), CntkSettings),
        (script_toolkit("pyTorchSettings"), PyTorchSettings),
        (script_toolkit("tensorFlowSettings"), TensorFlowSettings),
        (script_toolkit("caffe2Settings"), Caffe2Settings),
        (script_toolkit("chainerSettings"), ChainerSettings),
        (script_toolkit("horovodSettings"), HorovodSettings),
    ],
)
def test_a_spec_holds_the_block_of_its_toolkit(document: dict[str, Any], block: type[Model]) -> None:
    spec, _ = validate(document)

    assert spec is not None
    blocks = [one for _, one in spec.properties if type(one) in TOOLKITS.values()]
    assert [type(one) for one in blocks] == [block]


def test_the_wall_clock_limit_defaults_to_a_week_or_to_what_the_cluster_allows() -> None:
    for written, longest, expected in (
        (None, None, timedelta(days=7)),
        (None, timedelta(days=30), timedelta(days=7)),
        (None, timedelta(days=1), timedelta(days=1)),
        ("PT90M", timedelta(days=1), timedelta(minutes=90)),
        ("P2D", timedelta(days=1), timedelta(days=2)),
    ):
        assert wall_clock(written, longest) == expected


def test_all_problems_come_at_once_errors_first_and_in_document_order() -> None:
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

    assert [(one.code, one.pointer) for one in problems] == [
        ("SW010", "/properties/cluster"),
        ("SW012", "/properties/nodeCuont"),
        ("SW033", "/properties/stdOutErrPathPrefix"),
        ("SW033", "/properties/horovodSettings/pythonScriptFilePath"),
        ("SW021", "/properties/customToolkitSettings"),
        ("SW011", "/properties/customToolkitSettings/commandLine"),
        ("SW012", "/extra"),
        ("SW044", "/properties/horovodSettings/commandLineArgs"),  # a warning
    ]
    assert validate(document)[1] == problems


def _codes(problems: tuple[Problem, ...]) -> list[tuple[str, str]]:
    return [(one.code, one.severity) for one in problems]


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


@pytest.mark.parametrize(
    ("written", "says"),
    [
        (CLUSTER.replace("/resourceGroups/group", "/resourceGroups/other"), "not that of this id"),
        (CLUSTER.replace("/workspaces/dev", ""), "2017-09-01"),
        (
            CLUSTER.replace("BatchAI/workspaces/dev/clusters", "Compute/virtualMachines"),
            "is not the id of a cluster",
        ),
        (CLUSTER.replace("cluster-00", "cluster-01"), 'did you mean "dev-cluster-00"'),
    ],
)
def test_an_id_of_no_cluster_here_says_what_is_wrong_with_it(written: str, says: str) -> None:
    (problem,) = validate(job(cluster={"id": written}), clusters={"dev-cluster-00": CLUSTER})[1]

    assert (problem.code, problem.fix) == ("SW047", None)
    assert says in problem.message


@pytest.mark.parametrize("clusters", [None, {"dev-cluster-00": CLUSTER}])
def test_a_slash_behind_an_id_is_certainly_none_of_it(clusters: dict[str, str] | None) -> None:
    (problem,) = validate(job(cluster={"id": f"{CLUSTER}/"}), clusters=clusters)[1]

    assert problem.code == "SW047"
    assert problem.fix is not None
    assert problem.fix.value == CLUSTER


def test_a_mount_that_is_missing_is_reported_once_where_it_matters_most() -> None:
    document = job(
        customToolkitSettings={"commandLine": "ls $AZ_BATCHAI_JOB_MOUNT_ROOT/nfs/a"},
        inputDirectories=[{"id": name, "path": f"$AZ_BATCHAI_JOB_MOUNT_ROOT/nfs/{name}"} for name in "AB"],
    )

    (problem,) = validate(document)[1]

    assert (problem.code, problem.severity) == ("SW033", "error")
    assert problem.pointer == "/properties/inputDirectories/0/path"
    assert "used here and in 2 more places" in problem.message


def test_an_account_needs_a_key_once_the_accounts_are_known() -> None:
    assert _codes(validate(job(), accounts=["account"])[1]) == []
    assert _codes(validate(job(), accounts=[])[1]) == [("SW039", "error")] * 2
    with_key = share(credentials={"accountKey": "a"})
    assert [one.pointer for one in validate(with_key, accounts=[])[1]] == [
        "/properties/mountVolumes/azureBlobFileSystems/0"
    ]


def test_the_key_of_an_account_is_given_only_for_what_the_deployment_names() -> None:
    def judged(document: JsonObject, *mountable: str) -> list[tuple[str, str]]:
        limits = Limits(mountable=frozenset(mountable))
        return _codes(validate(document, accounts=["account"], limits=limits)[1])

    assert judged(job(), "logs", "data") == []
    assert judged(job()) == [("SW082", "error")] * 2
    assert judged(share(credentials={"accountKey": "a"}), "data") == []
    assert _codes(validate(job(), limits=Limits(mountable=frozenset()))[1]) == [("SW082", "error")] * 2
    assert [
        one.pointer for one in validate(job(), accounts=["account"], limits=Limits(mountable=frozenset()))[1]
    ] == [
        "/properties/mountVolumes/azureFileShares/0/azureFileUrl",
        "/properties/mountVolumes/azureBlobFileSystems/0/containerName",
    ]


def test_an_operator_may_lower_the_limits_and_allow_mount_commands() -> None:
    limits = Limits(max_nodes=1, max_wall_clock=timedelta(hours=1), unmanaged_mounts=True)
    document = mounts(unmanagedFileSystems=[{"mountCommand": "mount x", "relativeMountPath": "u"}])
    document["properties"]["constraints"] = {"maxWallClockTime": "PT61M"}

    _, problems = validate(document, limits=limits)

    assert [(one.code, one.pointer) for one in problems] == [
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
    document = job(environmentVariables=[{"name": f"A{n}", "value": f"{ROOT}/x{n}"} for n in range(9)])

    spec, problems = validate(document, cluster_mounts=[], limits=Limits(max_problems=3))

    assert spec is not None
    assert _codes(problems)[-1] == ("SW016", "warning")


@pytest.mark.parametrize(
    "document", [None, [], "text", 7, True, {}, {"properties": None}, {"properties": []}]
)
def test_what_is_no_job_at_all_is_reported_as_that(document: Any) -> None:
    spec, problems = validate(document)

    assert spec is None
    assert problems[0].code in ("SW008", "SW010", "SW011")


def test_a_problem_can_be_placed_under_another_document() -> None:
    result = Problem("SW001", "/a", "message", "remedy")

    assert result.relocate("/spec").as_dict() == {
        "code": "SW001",
        "severity": "error",
        "pointer": "/spec/a",
        "message": "message",
        "remedy": "remedy",
    }


@pytest.mark.parametrize(
    "text",
    [
        "echo '\u4f60\u597d\uff0c\u4e16\u754c\uff08\u4e00\uff09\uff1b\u597d'",
        "echo '\U0001f469\u200d\U0001f4bb'",
        "echo '\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645'",
        "ls /donn\u00e9es/\u00e9t\u00e9 /\u043c\u043e\u0434\u0435\u043b\u044c1 /\u0441\u043e\u04402",
    ],
)
def test_texts_of_other_languages_are_left_alone(text: str) -> None:
    paths = [{"id": "A", "path": f"/opt/{text.rpartition(' ')[2]}"}]

    assert validate(job(customToolkitSettings={"commandLine": text}, inputDirectories=paths))[1] == ()


@pytest.mark.parametrize(
    ("mount", "code_at", "codes"),
    [
        ("scripts", "scripts/digits", ["SW032"]),
        ("scripts/digits", "scripts/digits", ["SW032"]),
        ("scripts/digits/data", "scripts/digits", ["SW032"]),
        ("scripts/deep", "scripts/deep/down", ["SW032"]),
        ("scripts", "scripts", ["SW032"]),
        ("scripts", "work", []),
        ("work", "work", []),
        ("None", None, []),
        ("scripts/digit", "scripts/digits", []),
        ("data", "scripts/digits", []),
    ],
)
def test_code_of_its_own_is_in_no_mount_of_the_job(mount: str, code_at: str | None, codes: list[str]) -> None:
    document = toolkit("pyTorchSettings", pythonScriptFilePath="train.py")
    document["properties"]["mountVolumes"] = {"azureFileShares": [SHARE | {"relativeMountPath": mount}]}

    _, problems = validate(document, code_at=code_at)

    of_mount = [(one.code, one.severity) for one in problems if one.pointer.endswith("relativeMountPath")]
    assert of_mount == [(code, "error") for code in codes]


@pytest.mark.parametrize(
    ("path", "code_at", "codes"),
    [
        ("train.py", None, ["SW087"]),
        ("train.py", "work", []),
        ("train.py", "scripts/digits", ["SW087"]),
        ("$AZ_BATCHAI_JOB_MOUNT_ROOT/scripts/digits/train.py", None, ["SW033"]),
        ("$AZ_BATCHAI_JOB_MOUNT_ROOT/scripts/digits/train.py", "work", ["SW033"]),
        ("$AZ_BATCHAI_JOB_MOUNT_ROOT/scripts/digits/train.py", "scripts/digits", []),
        ("$AZ_BATCHAI_JOB_MOUNT_ROOT/scripts/other/train.py", "scripts/digits", ["SW033"]),
    ],
)
def test_code_of_its_own_is_where_a_job_may_look_for_it(
    path: str, code_at: str | None, codes: list[str]
) -> None:
    document = toolkit("pyTorchSettings", pythonScriptFilePath=path)
    document["properties"]["mountVolumes"] = {"azureFileShares": [SHARE]}

    _, problems = validate(document, code_at=code_at)

    assert [one.code for one in problems if one.pointer.endswith("FilePath")] == codes


@pytest.mark.parametrize(
    "name", ["my data/train.py", "time series/a.py", "R&D/a.py", "a;b/train.py", "cost in $/a.py", "sh/a.py"]
)
@pytest.mark.parametrize("root", ["$AZ_BATCHAI_JOB_MOUNT_ROOT/data", "/opt", "/opt/time"])
def test_a_path_with_signs_that_a_name_may_have_is_no_command(root: str, name: str) -> None:
    _, problems = validate(toolkit("pyTorchSettings", pythonScriptFilePath=f"{root}/{name}"))

    assert [one.message for one in problems if one.pointer.endswith("FilePath")] == []


@pytest.mark.parametrize("key", [{}, {"credentials": {"accountKey": "a"}}])
@pytest.mark.parametrize(("account", "container"), [("account", "snapshots"), ("other", "snapshots")])
def test_no_key_opens_the_code_of_all_jobs(account: str, container: str, key: dict[str, Any]) -> None:
    mount = {"accountName": account, "containerName": container, "relativeMountPath": "x", **key}
    limits = Limits(mountable=frozenset({container}), all_code=("account", "snapshots"))
    document = job(mountVolumes={"azureBlobFileSystems": [mount]})

    problems = validate(document, accounts=["account", "other"], limits=limits)[1]

    assert [one.code for one in problems if one.code == "SW082"] == ["SW082"] * (account == "account")


def test_a_directory_of_the_nodes_is_judged_with_any_key() -> None:
    keyed = {"credentials": {"accountKey": "a"}}
    document = job(
        mountVolumes={
            "azureFileShares": [{**SHARE, **keyed}],
            "azureBlobFileSystems": [
                {"accountName": "elsewhere", "containerName": one, "relativeMountPath": one, **keyed}
                for one in ("listed", "open", "not-listed")
            ],
        }
    )
    limits = Limits(mountable=frozenset({"open"}))
    listed = {SHARE["azureFileUrl"].lower(), "elsewhere/listed", "elsewhere/open"}

    problems = validate(document, accounts=["account"], limits=limits, directories=listed)[1]

    assert [(one.code, one.pointer.partition("mountVolumes/")[2]) for one in problems] == [
        ("SW082", "azureFileShares/0/azureFileUrl"),
        ("SW082", "azureBlobFileSystems/0/containerName"),
    ]
    assert all("asks for no key" in one.message and one.remedy == "mount open" for one in problems)


@pytest.mark.parametrize("credentials", [{}, {"credentials": {"accountKey": "a"}}])
@pytest.mark.parametrize("accounts", [None, ["account"]])
@pytest.mark.parametrize(
    ("options", "named"),
    [
        ("--container-name=snapshots", "--container-name"),
        ("--container-name snapshots", "--container-name"),
        ("-o ro --config-file=/tmp/x.cfg", "--config-file"),
        ("-o --config-file=/tmp/x.cfg", "--config-file"),
        ("-o ro,--account-name=other", "--account-name"),
        ("-o--container-name=x", "--container-name"),
        ("--account-key=c2VjcmV0", "--account-key"),
        ("--sas-token=c2VjcmV0", "--sas-token"),
        ("--tmp-path=/mnt/cache --log-level=LOG_ERR", ""),
        ("-o allow_other -o ro --file-cache-timeout-in-seconds=60", ""),
    ],
)
def test_no_option_of_a_mount_names_another_container_account_or_file_of_settings(
    options: str, named: str, accounts: list[str] | None, credentials: dict[str, Any]
) -> None:
    mount = {"accountName": "account", "containerName": "data", "relativeMountPath": "x"}
    document = job(mountVolumes={"azureBlobFileSystems": [{**mount, "mountOptions": options, **credentials}]})

    problems = validate(document, accounts=accounts, limits=Limits(mountable=frozenset({"data"})))[1]

    refused = [one for one in problems if one.code == "SW082" and one.pointer.endswith("/mountOptions")]
    is_kept_back = not credentials and "tmp-path" in options
    assert len(refused) == (bool(named) or is_kept_back)
    assert all(named in one.message and "c2VjcmV0" not in one.message for one in refused)
