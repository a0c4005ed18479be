"""What Azure Batch is body for an attempt, and what it cannot honour."""

from __future__ import annotations

import base64
import gzip
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qsl

import pytest

from shared.core.engine import Submission
from shared.engines.batch.engine import BatchEngine
from shared.engines.batch.job.check import check
from shared.engines.batch.job.request import encoded, forgetting, life, queue_submission, submission
from shared.engines.batch.job.site import Life
from shared.engines.batch.storage.access import Access, SharedKey
from shared.engines.batch.wire.client import API
from shared.engines.launch import plan as launch
from shared.jobspec import JobSpec
from tests.unit.engines.batch.described import refusal
from tests.unit.engines.batch.service import CLUSTER, KEY, order
from tests.unit.engines.batch.task_goldens import (
    BOXES,
    CONTAINER,
    EVERYTHING,
    FOLDER,
    MOUNTS,
    ORDERS,
    SERVERS,
    WIDE,
    goldens,
)

NOW = datetime(2026, 9, 7, 12, tzinfo=UTC)
_CONTAINER = {"accountName": "acct", "containerName": "c", "relativeMountPath": "c"}
ENGINE = BatchEngine({"gpu": CLUSTER}, {"gpu": KEY})


def settings(body: Any) -> dict[str, str]:
    return {one["name"]: one["value"] for one in body["environmentSettings"]}


def test_the_tasks_are_the_golden_ones() -> None:
    """`python -m tests.unit.engines.batch.task_goldens` writes them anew."""
    assert goldens() == {file.name: file.read_text(encoding="utf-8") for file in FOLDER.iterdir()}


def test_the_programs_travel_packed_and_whole() -> None:
    environment = settings(submission(CLUSTER, order()).body)

    def unpacked(name: str) -> str:
        return gzip.decompress(base64.b64decode(environment[name])).decode()

    assert unpacked("SLIPWAY_PROGRAM") == launch.script()
    assert unpacked("SLIPWAY_SPREAD") == launch.spreading()
    assert unpacked("SLIPWAY_MOUNTING") == launch.mounting()


@pytest.mark.parametrize("name", ORDERS)
def test_what_is_sent_is_what_is_shown(name: str) -> None:
    shown = submission(*ORDERS[name])

    body = json.loads(encoded(shown))

    assert settings(body) == settings(shown.body)
    assert len(body.pop("environmentSettings")) == len(shown.body["environmentSettings"])
    assert body.items() <= shown.body.items()


def test_the_text_of_a_job_cannot_take_the_place_of_the_programs() -> None:
    text = '"environmentSettings":['
    job = order(environmentVariables=[{"name": "X", "value": text}], experiment=text)
    shown = submission(CLUSTER, job)

    assert settings(json.loads(encoded(shown))) == settings(shown.body)


def test_a_small_task_that_has_one_program_is_encoded_too() -> None:
    shown = forgetting(CLUSTER, "slipway-forget-1", "{}")

    assert settings(json.loads(encoded(shown))) == settings(shown.body)


def test_every_submission_of_an_attempt_is_the_same_but_for_the_key_of_its_agents() -> None:
    cluster, job = ORDERS["everything"]
    one, other = submission(cluster, job, "one").body, submission(cluster, job, "other").body
    (differing,) = [name for name, value in settings(one).items() if settings(other)[name] != value]

    assert differing == "SLIPWAY_AGENT_KEY"


def test_the_plan_is_the_only_place_of_secrets() -> None:
    body = submission(*ORDERS["everything"]).body
    plan = settings(body)[launch.PLAN]
    rest = json.dumps(body).replace(json.dumps(plan), "")

    assert "a $b 'c'" in json.loads(plan)["secrets"].values()
    assert "a $b" not in rest
    assert "canary" not in json.dumps(body), "keys of accounts have no business on the nodes"


def test_keys_of_volumes_are_for_the_step_alone_that_mounts_them() -> None:
    body = submission(*ORDERS["mounts"]).body
    plan = settings(body)[launch.PLAN]
    document = json.loads(plan)
    (mounting,) = document["mounting"]

    assert "canary" not in json.dumps(body).replace(json.dumps(plan), "")
    assert mounting.pop("input").count("canary") == 1, "that of the share: a container gets a signature"
    assert "canary" not in json.dumps(document)


@pytest.mark.parametrize(("options", "rights"), [("-o ro", "rl"), ("", "racwdl")])
def test_a_container_is_opened_by_a_signature_for_it_alone_and_not_by_its_account_s_key(
    options: str, rights: str
) -> None:
    key = base64.b64encode(b"canary").decode()
    mount = {"accountName": "acct", "containerName": "sets", "relativeMountPath": "sets"}
    mount |= {"mountOptions": options, "credentials": {"accountKey": key}}  # type: ignore[dict-item]
    job = order(mountVolumes={"azureBlobFileSystems": [mount]})

    body = submission(CLUSTER, job, life=Life(NOW, datetime(2026, 12, 31, tzinfo=UTC))).body
    shown = submission(CLUSTER, job).body

    (mounting,) = json.loads(settings(body)[launch.PLAN])["mounting"]
    (volume,) = json.loads(mounting["input"])
    way = volume["config"]["azstorage"]
    signature = dict(parse_qsl(way["sas"]))
    assert (way["mode"], way["container"]) == ("sas", "sets")
    assert (signature["sr"], signature["sp"], signature["se"]) == ("c", rights, "2026-12-31T00:00:00Z")
    assert key not in json.dumps(body)
    assert key not in json.dumps(shown)
    assert "sig=" not in json.dumps(shown)


@pytest.mark.parametrize(
    ("limit", "hours"),
    [("PT30M", 24 * 7 + 1), ("P2D", 24 * 9 + 1), ("", 24 * 14 + 1)],
    ids=["30m", "2d", "none"],
)
@pytest.mark.parametrize(
    "blobs", ["", "http://127.0.0.1:10000/devstoreaccount1/records"], ids=["disk", "blobs"]
)
def test_signatures_live_for_a_wait_and_the_job_s_own_limit(limit: str, hours: int, blobs: str) -> None:
    cluster = replace(CLUSTER, blobs=blobs, shared="" if blobs else CLUSTER.shared)
    constraints: Any = {"maxWallClockTime": limit} if limit else {}
    job = order(constraints=constraints)

    lives = life(cluster, job, NOW)

    # With a container, up to an hour is for uploads.
    assert lives.until - NOW <= timedelta(hours=hours + bool(blobs))
    assert lives.until - lives.start_by > timedelta(seconds=launch.seconds(job.document["properties"]))


def test_a_run_may_start_while_its_signatures_outlive_it() -> None:
    cluster = replace(CLUSTER, blobs="http://127.0.0.1:10000/devstoreaccount1/records", shared="")
    lives = life(cluster, order(), NOW)
    signature = Access(cluster, key=SharedKey("devstoreaccount1", "a2V5")).signature(lives.until)

    plan = json.loads(settings(submission(cluster, order(), "k", signature, lives).body)[launch.PLAN])
    without = json.loads(settings(submission(CLUSTER, order(), "k", "", lives).body)[launch.PLAN])

    assert plan["startBy"] == lives.start_by.timestamp()
    assert dict(parse_qsl(signature))["se"] == f"{lives.until:%Y-%m-%dT%H:%M:%SZ}"
    assert "startBy" not in without, "nodes with an identity have no signature"


def test_a_registry_s_password_is_for_the_step_alone_that_logs_in() -> None:
    plan = json.loads(settings(submission(*ORDERS["container"]).body)[launch.PLAN])
    (setup,) = plan["setup"]

    assert setup["literal"].pop("SLIPWAY_IMAGE_PASSWORD") == "canary"
    assert "canary" not in json.dumps(plan)
    assert setup["literal"]["SLIPWAY_IMAGE_SERVER"] == "acct.azurecr.io"


@pytest.mark.parametrize(
    "submitted",
    [
        *(submission(*one) for one in ORDERS.values()),
        forgetting(CLUSTER, "slipway-forget-1", "{}"),
        queue_submission(CLUSTER, "gpu-low"),
    ],
)
def test_what_is_sent_is_valid_by_the_service_s_own_description(submitted: Submission) -> None:
    query = {"api-version": API}

    assert refusal(submitted.method, submitted.path, query, submitted.body) is None
    assert refusal(submitted.method, submitted.path, query, {**submitted.body, "priorty": 1}) is not None
    assert refusal(submitted.method, submitted.path, query, {**submitted.body, "id": 7}) is not None


def test_the_environment_that_explain_shows_has_what_the_service_and_the_job_set() -> None:
    shown = {one.name: one for one in ENGINE.environment(order(**EVERYTHING))}

    assert shown["AZ_BATCHAI_NUM_GPUS"].value == "1"
    assert (
        shown["WHERE"].value
        == "/tmp/slipway/digits-abc-1/<id of the first node of the run>/mounts/data/train/x"
    )
    assert not shown["AZ_BATCHAI_JOB_TEMP"].exact


@pytest.mark.parametrize(
    ("properties", "pointer"),
    [
        ({"containerSettings": {"imageSourceRegistry": {"image": "x"}}}, "/containerSettings"),
        (
            {"environmentVariables": [{"name": "AZ_BATCH_NODE_ID", "value": "x"}]},
            "/environmentVariables/0/name",
        ),
        (
            {"secrets": [{"name": "S", "valueSecretReference": {"secretUrl": "x"}}]},
            "/secrets/0/valueSecretReference",
        ),
        (
            {"mountVolumes": {"fileServers": MOUNTS["mountVolumes"]["fileServers"]}},
            "/mountVolumes/fileServers/0",
        ),
        (
            {"mountVolumes": {"azureBlobFileSystems": [{**_CONTAINER, "mountOptions": "-o ro -o nonempty"}]}},
            "/mountVolumes/azureBlobFileSystems/0/mountOptions",
        ),
        (
            {
                "mountVolumes": {
                    "azureBlobFileSystems": [{**_CONTAINER, "mountOptions": f"-o attr_timeout={'9' * 5000}"}]
                }
            },
            "/mountVolumes/azureBlobFileSystems/0/mountOptions",
        ),
        (
            {
                "mountVolumes": {
                    "azureBlobFileSystems": [
                        {**_CONTAINER, "credentials": {"accountKeySecretReference": {"secretUrl": "x"}}}
                    ]
                }
            },
            "/mountVolumes/azureBlobFileSystems/0/credentials/accountKeySecretReference",
        ),
        ({"customToolkitSettings": {"commandLine": "x" * 50_000}}, ""),
    ],
)
def test_what_a_cluster_cannot_honour_is_named(properties: dict[str, Any], pointer: str) -> None:
    (problem,) = check(CLUSTER, order(**properties).document["properties"])

    assert (problem.code, problem.pointer) == ("SW109", f"/properties{pointer}")
    assert problem.remedy


@pytest.mark.parametrize(
    ("more", "pointer"),
    [
        (
            {
                "containerSettings": {
                    "imageSourceRegistry": {
                        "image": "x:1",
                        "credentials": {"username": "u", "passwordSecretReference": {"secretUrl": "x"}},
                    }
                }
            },
            "/containerSettings/imageSourceRegistry/credentials/passwordSecretReference",
        ),
        (
            {"customMpiSettings": None, "customToolkitSettings": {"commandLine": "mpirun x"}},
            "/customToolkitSettings",
        ),
        ({"secrets": [{"name": "DOCKER_HOST", "value": "tcp://x"}]}, "/secrets/0/name"),
    ],
)
def test_what_a_container_cannot_have_is_named(more: dict[str, Any], pointer: str) -> None:
    (problem,) = check(BOXES, order(**{**CONTAINER, **more}).document["properties"])

    assert (problem.code, problem.pointer) == ("SW109", f"/properties{pointer}")


@pytest.mark.parametrize("option", ["fileMode", "directoryMode", "mountOptions"])
def test_what_the_pool_mounts_has_no_options_of_a_job(option: str) -> None:
    (share,) = EVERYTHING["mountVolumes"]["azureFileShares"]
    volumes = {"azureFileShares": [{**share, option: "0700"}]}
    (problem,) = check(WIDE, order(mountVolumes=volumes).document["properties"])

    assert problem.pointer == f"/properties/mountVolumes/azureFileShares/0/{option}"


def test_a_job_with_everything_is_honoured() -> None:
    assert list(check(WIDE, order(**EVERYTHING).document["properties"])) == []
    assert list(check(BOXES, order(**CONTAINER).document["properties"])) == []
    assert list(check(SERVERS, order(**MOUNTS).document["properties"])) == []
    spec = JobSpec.model_validate(order().document)
    assert ENGINE.check(spec) == ()


def test_parts_of_nodes_cannot_be_had() -> None:
    (problem,) = ENGINE.allots("gpu", {"gpus": 1})
    assert problem.pointer == "/resources/gpus"
