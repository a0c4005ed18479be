"""Checking, translating and showing documents: the pure parts between the wire and the nodes."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from local.batchai.api import routes
from local.batchai.api.rules import cluster_problems, job_problems
from local.batchai.api.shapes import Many, Object, Text, Whole, Words, check, seconds
from local.batchai.api.views import redacted
from local.batchai.launch.layout import job_environment, variables
from local.batchai.launch.vault import MissingSecret, Vault
from local.batchai.launch.volumes import volumes
from local.batchai.state import ids
from local.batchai.state.records import Job
from local.batchai.state.transitions import end_job, halted, start_job
from local.nodes.environment import expand
from local.nodes.machine import Directories, Machine
from local.nodes.settings import SettingsError, account
from local.nodes.work import Outcome

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SHAPE = Object(
    {"name!": Text(), "count": Whole(1), "kind": Text(("a", "b")), "tags": Words(), "list": Many(Text())},
    "id",
)


@pytest.mark.parametrize(
    ("value", "places"),
    [
        ({"name": "x", "count": 1, "kind": "a", "tags": {"k": "v"}, "list": ["y"]}, []),
        ({"name": "x", "id": 5, "count": None}, []),
        ({}, ["/name"]),
        ({"name": None}, ["/name"]),
        ({"name": 1}, ["/name"]),
        ({"name": "x", "count": True}, ["/count"]),
        ({"name": "x", "count": 1.0}, ["/count"]),
        ({"name": "x", "count": 0}, ["/count"]),
        ({"name": "x", "count": 2**31}, ["/count"]),
        ({"name": "x", "kind": "c"}, ["/kind"]),
        ({"name": "a\0b"}, ["/name"]),
        ({"name": "\ud800"}, ["/name"]),
        ({"name": "x", "tags": {"k": 1}}, ["/tags"]),
        ({"name": "x", "list": ["y", 1, None]}, ["/list/1", "/list/2"]),
        ({"name": "x", "list": "y"}, ["/list"]),
        ({"name": "x", "a/b~c": 1}, ["/a~1b~0c"]),
        ([], [""]),
    ],
)
def test_a_document_is_checked_against_its_shape(value: Any, places: list[str]) -> None:
    _, problems = check(value, SHAPE)

    assert [problem.target for problem in problems] == places


def test_nulls_and_read_only_fields_are_taken_out() -> None:
    assert check({"name": "x", "id": "y", "count": None}, SHAPE) == ({"name": "x"}, [])


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("P7D", 604800),
        ("P1W", 604800),
        ("PT36H", 129600),
        ("PT1.5S", 1.5),
        ("P1DT2H48M5.4775807S", 96485.4775807),
        ("P1DT1M", 86460),
        ("P", None),
        ("PT", None),
        ("P1DT", None),
        ("P1M", None),
        ("7.00:00:00", None),
        ("-P1D", None),
        ("", None),
    ],
)
def test_durations_are_read_as_iso_8601(text: str, length: float | None) -> None:
    assert seconds(text) == length


def secret(url: str) -> dict[str, Any]:
    return {"sourceVault": {"id": "/vault"}, "secretUrl": url}


def job_document(**more: Any) -> dict[str, Any]:
    return {
        "cluster": {"id": "/c"},
        "nodeCount": 1,
        "stdOutErrPathPrefix": "/out",
        "customToolkitSettings": {"commandLine": "true"},
    } | more


def blob(at: str, **credentials: Any) -> dict[str, Any]:
    key = credentials or {"accountKey": "k"}
    return {"accountName": "a", "containerName": "c", "credentials": key, "relativeMountPath": at}


@pytest.mark.parametrize(
    ("more", "places"),
    [
        ({}, []),
        ({"customToolkitSettings": {}}, ["/customToolkitSettings/commandLine"]),
        ({"customMpiSettings": {"commandLine": "x"}}, [""]),
        (
            {"mountVolumes": {"unmanagedFileSystems": [{"mountCommand": "m", "relativeMountPath": "a"}]}},
            ["/mountVolumes/unmanagedFileSystems"],
        ),
        (
            {"mountVolumes": {"azureBlobFileSystems": [blob("a"), blob("a/b"), blob("../c"), blob("/d")]}},
            [f"/mountVolumes/azureBlobFileSystems/{index}/relativeMountPath" for index in (1, 2, 3)],
        ),
        (
            {
                "mountVolumes": {
                    "azureBlobFileSystems": [blob("a", accountKeySecretReference=secret("http://x"))]
                }
            },
            ["/mountVolumes/azureBlobFileSystems/0/credentials/accountKeySecretReference/secretUrl"],
        ),
        (
            {
                "inputDirectories": [
                    {"id": "A", "path": "x"},
                    {"id": "A", "path": "y"},
                    {"id": "1-", "path": "z"},
                ]
            },
            ["/inputDirectories/1/id", "/inputDirectories/2/id"],
        ),
        (
            {"outputDirectories": [{"id": "stdouterr", "pathPrefix": "x", "pathSuffix": "../y"}]},
            ["/outputDirectories/0/id", "/outputDirectories/0/pathSuffix"],
        ),
        (
            {"environmentVariables": [{"name": "A", "value": "x"}], "secrets": [{"name": "A", "value": "y"}]},
            ["/secrets/0/name"],
        ),
        ({"secrets": [{"name": "A"}]}, ["/secrets/0/value"]),
        ({"secrets": [{"name": "A", "valueSecretReference": secret("https://v.net/secrets/a")}]}, []),
        (
            {"secrets": [{"name": "A", "valueSecretReference": secret("secrets/a")}]},
            ["/secrets/0/valueSecretReference/secretUrl"],
        ),
        *(
            ({"containerSettings": {"imageSourceRegistry": {"image": image}}}, [])
            for image in ("ubuntu:16.04", "batchaitraining/chainermn:openMPI", "a.io:5000/x/y@sha256:0123")
        ),
        (
            {"containerSettings": {"imageSourceRegistry": {"image": "--privileged", "serverUrl": "-x"}}},
            [f"/containerSettings/imageSourceRegistry/{name}" for name in ("image", "serverUrl")],
        ),
        (
            {"containerSettings": {"imageSourceRegistry": {"image": "x"}, "shmSize": "lots"}},
            ["/containerSettings/shmSize"],
        ),
        (
            {"containerSettings": {"imageSourceRegistry": {"image": "x", "credentials": {"username": "u"}}}},
            ["/containerSettings/imageSourceRegistry/credentials/password"],
        ),
        ({"constraints": {"maxWallClockTime": "P8D"}}, ["/constraints/maxWallClockTime"]),
        ({"constraints": {"maxWallClockTime": "soon"}}, ["/constraints/maxWallClockTime"]),
    ],
)
def test_a_job_is_checked_beyond_its_shape(more: dict[str, Any], places: list[str]) -> None:
    problems = job_problems(job_document(**more))

    assert [problem.target for problem in problems] == [f"/properties{place}" for place in places]


def test_unmanaged_file_systems_are_volumes_where_they_are_allowed() -> None:
    mounts = {"unmanagedFileSystems": [{"mountCommand": "mount  -t nfs\nh:/x", "relativeMountPath": "x"}]}

    (volume,) = volumes(mounts)

    assert job_problems(job_document(mountVolumes=mounts), unmanaged=True) == []
    assert (volume.name, volume.label) == ("mount -t nfs h:/x", "x")


def test_references_are_replaced_by_the_secrets_of_the_file_wherever_they_are(tmp_path: Path) -> None:
    file = tmp_path / "secrets.json"
    file.write_text(json.dumps({"https://Keys.vault.azure.net/secrets/A": "value of a"}))
    reference = secret("https://keys.vault.azure.net/secrets/a/")
    document = {"secrets": [{"name": "X", "valueSecretReference": reference}], "nodeCount": 1}

    result = Vault(file).resolved(document)

    assert result == {"secrets": [{"name": "X", "value": "value of a"}], "nodeCount": 1}


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        (None, "--secrets-file"),
        ("{}", "Add it to"),
        ("[", "no JSON document"),
        ('{"x": {"y": "canary"}}', "values are all texts"),
    ],
)
def test_a_missing_secret_is_reported_with_the_remedy(tmp_path: Path, text: str | None, remedy: str) -> None:
    file = tmp_path / "secrets.json" if text else None
    if file and text:
        file.write_text(text)

    with pytest.raises(MissingSecret, match=remedy) as absent:
        Vault(file).resolved({"valueSecretReference": secret("https://v.net/secrets/a")})

    assert "https://v.net/secrets/a" in absent.value.fault.message
    assert "canary" not in absent.value.fault.message


@pytest.mark.parametrize(
    ("scale", "place"),
    [
        ({"manual": {"targetNodeCount": 1}, "autoScale": {}}, ""),
        ({"autoScale": {"minimumNodeCount": 2, "maximumNodeCount": 1}}, "/autoScale"),
        ({"autoScale": {"minimumNodeCount": 0, "maximumNodeCount": 101}}, "/autoScale/maximumNodeCount"),
        ({"manual": {"targetNodeCount": 101}}, "/manual/targetNodeCount"),
    ],
)
def test_a_scale_that_cannot_be_is_refused(scale: dict[str, Any], place: str) -> None:
    if len(scale) > 1:
        scale = scale | {"autoScale": {"minimumNodeCount": 0, "maximumNodeCount": 1}}
    user = {"adminUserName": "u", "adminUserPassword": "p"}

    (problem,) = cluster_problems(
        {"vmSize": "STANDARD_D1", "userAccountSettings": user, "scaleSettings": scale}
    )

    assert problem.target == f"/properties/scaleSettings{place}"


def test_known_variables_are_replaced_and_others_stay() -> None:
    assert expand("$A/${B}/$C/$A_B $", {"A": "1", "B": "2"}) == "1/2/$C/$A_B $"


def test_variables_may_use_earlier_ones_and_secrets_are_literal() -> None:
    document = {
        "environmentVariables": [{"name": "X", "value": "$ROOT/x"}, {"name": "Y", "value": "$X/y"}],
        "secrets": [{"name": "S", "value": "$X"}],
    }

    assert variables(document, {"ROOT": "/r"}) == {"X": "/r/x", "Y": "/r/x/y", "S": "$X"}


def test_output_directories_are_named_by_the_job_instance() -> None:
    job = _job(stdOutErrPathPrefix="$AZ_BATCHAI_MOUNT_ROOT/logs")
    node = Machine("n", 300)

    env = job_environment(job, Directories(Path("/n"), ("w", "e", "j")), [node], [])

    segment = "s/g/workspaces/w/experiments/e/jobs/j/instance"
    assert env["AZ_BATCHAI_STDOUTERR_DIR"] == f"/n/mounts/logs/{segment}/stdouterr"
    assert env["AZ_BATCHAI_JOB_MOUNT_ROOT"] == "/n/jobs/w/e/j/mounts"
    assert env["AZ_BATCH_HOST_LIST"] == "127.0.2.46"


def test_the_output_of_the_attempt_before_is_named_when_a_job_is_retried() -> None:
    node = Machine("n", 1)
    job = _job(outputDirectories=[{"id": "MODEL", "pathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/logs"}])
    place = Directories(Path("/n"), ("w", "e", "j"))

    first = job_environment(job, place, [node], [])
    second = job_environment(job.evolve(attempt=1), place, [node], [])

    assert first["AZ_BATCHAI_PREV_OUTPUT_MODEL"] == ""
    assert second["AZ_BATCHAI_PREV_OUTPUT_MODEL"] == first["AZ_BATCHAI_OUTPUT_MODEL"]


def test_a_relative_prefix_is_one_of_the_working_directory() -> None:
    node = Machine("n", 1)

    job = _job(stdOutErrPathPrefix="logs/$UNKNOWN")
    env = job_environment(job, Directories(Path("/n"), ("w", "e", "j")), [node], [])

    assert env["AZ_BATCHAI_STDOUTERR_DIR"].startswith("/n/jobs/w/e/j/wd/logs/$UNKNOWN/s/g/")


@pytest.mark.parametrize(
    ("url", "share", "inside"),
    [
        ("https://acct.file.core.windows.net/logs", "logs", ""),
        ("https://acct.file.core.windows.net/logs/a/b%20c/", "logs", "a/b c"),
        ("http://127.0.0.1:99/acct/logs", "logs", ""),
        ("https://acct.file.core.windows.net/acct", "acct", ""),
    ],
)
def test_a_share_is_found_in_its_address(url: str, share: str, inside: str) -> None:
    mount = {
        "accountName": "acct",
        "azureFileUrl": url,
        "credentials": {"accountKey": "k"},
        "relativeMountPath": "x",
    }

    (volume,) = volumes({"azureFileShares": [mount]})

    assert (volume.name, volume.inside) == (share, inside)


def test_secrets_leave_no_value_behind() -> None:
    document = {
        "secrets": [{"name": "A", "value": "hidden"}],
        "deep": [{"credentials": {"accountKey": "hidden", "username": "me"}}],
        "user": {"adminUserPassword": "hidden"},
    }

    assert redacted(document) == {
        "secrets": [{"name": "A"}],
        "deep": [{"credentials": {"username": "me"}}],
        "user": {},
    }


def test_a_stopped_job_ends_for_the_first_reason_given() -> None:
    job = halted(halted(start_job(_job(), ("n",), NOW), "timeout", NOW), "terminated", NOW)

    over = end_job(job, Outcome(exit_code=137), NOW)

    assert (over.state, over.exit_code) == ("failed", None)
    assert over.errors[0].code == "JobMaxWallClockTimeReached"


def test_a_lost_run_goes_back_to_the_queue_as_another_attempt() -> None:
    job = end_job(start_job(_job(), ("n",), NOW), Outcome(requeue=True), NOW)

    assert (job.state, job.attempt, job.nodes, job.started) == ("queued", 1, (), None)


def test_a_job_that_is_lost_again_and_again_fails() -> None:
    job = _job()
    while job.active:
        assert job.attempt < 10
        job = end_job(start_job(job, ("n",), NOW), Outcome(requeue=True), NOW)

    assert job.errors[0].code == "NodeFailed"


def test_a_job_that_finished_while_it_was_asked_to_requeue_stays_finished() -> None:
    job = halted(start_job(_job(), ("n",), NOW), "requeue", NOW)

    assert end_job(job, Outcome(exit_code=0), NOW).state == "succeeded"


def test_ids_are_found_without_regard_to_case() -> None:
    result = routes.find("/subscriptions/S/resourcegroups/G/providers/microsoft.batchai/WORKSPACES/w")

    assert result is not None
    assert (
        ids.workspace(result[1])
        == "/subscriptions/S/resourceGroups/G/providers/Microsoft.BatchAI/workspaces/w"
    )
    assert routes.find("/subscriptions/S/other") is None


def test_the_account_is_read_from_a_connection_string_and_its_key_never_shown() -> None:
    result = account("AccountName=a;AccountKey=secret==;BlobEndpoint=http://h/a/")

    assert (result.name, result.key, result.blob_endpoint) == ("a", "secret==", "http://h/a")
    assert "secret" not in repr(result)
    with pytest.raises(SettingsError, match="accountname"):
        account("AccountKey=secret")


def _job(**more: Any) -> Job:
    group = "/subscriptions/s/resourceGroups/g/providers/Microsoft.BatchAI"
    return Job(
        id=f"{group}/workspaces/w/experiments/e/jobs/j",
        sequence=1,
        created=NOW,
        since=NOW,
        document=job_document(**more),
        cluster="/c",
        instance="instance",
        wall_clock=60,
    )
