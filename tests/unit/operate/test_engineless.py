"""A deployment whose settings describe no cluster that jobs can run on: it says so, and accepts no job."""

from __future__ import annotations

import base64
import json
import logging
from dataclasses import replace

import pytest

from shared.configured import ConfiguredEngines
from shared.core.job import JobState
from shared.operate.ready import ready
from shared.settings import TABLE, Settings
from shared.wiring import build, log_faults
from tests.unit.world import World, job_json

STORAGE = "AccountName=acct;AccountKey=a2V5;BlobEndpoint=http://127.0.0.1:1/acct"
SLURM = json.dumps(
    {"gpu": {"engine": "slurm", "url": "https://head:6820", "user": "slipway", "shared": "/shared"}}
)
KEYS = json.dumps({"gpu": base64.b64encode(b"k" * 32).decode()})
#: What a deployment may say of its engines, and what is wrong with it.
WRONG: tuple[tuple[dict[str, str], str], ...] = (
    ({}, "SLIPWAY_BATCHAI_URL names no Batch AI API: describe a Slurm cluster in SLIPWAY_CLUSTERS"),
    ({"SLIPWAY_BATCHAI_URL": "https://management.azure.com"}, "Azure has ended its service Batch AI"),
    ({"SLIPWAY_BATCHAI_URL": "https://Management.Azure.com:443/"}, "Azure has ended its service Batch AI"),
    ({"SLIPWAY_BATCHAI_URL": "https://westeurope.management.azure.com."}, "Azure has ended its service"),
    ({"SLIPWAY_CLUSTERS": SLURM}, "SLIPWAY_SLURM_KEYS holds no key for the cluster gpu"),
)


def world_of(values: dict[str, str]) -> World:
    world, engines = World(), ConfiguredEngines(Settings(values))
    (cluster,) = engines.clusters.values()
    completion = replace(
        world.ports.policy.completion, cluster_id=cluster.id, clusters={cluster.name: cluster.id}
    )
    world.use(engines=engines)
    world.policy(completion=completion)
    return world


@pytest.mark.parametrize(("values", "says"), WRONG)
def test_it_says_so_at_start_with_the_remedy(
    values: dict[str, str], says: str, caplog: pytest.LogCaptureFixture
) -> None:
    log_faults(Settings({"SLIPWAY_STORAGE": STORAGE, **values}))

    (error,) = [one for one in caplog.records if one.levelno == logging.ERROR]
    assert says in error.getMessage()


@pytest.mark.parametrize(("values", "says"), WRONG)
async def test_its_jobs_are_refused_at_the_door_with_the_remedy(values: dict[str, str], says: str) -> None:
    job = (await world_of(values).message({"spec": job_json()})).job

    assert job.state is JobState.REJECTED
    assert [(p["code"], says in p["message"]) for p in job.problems if p["severity"] == "error"] == [
        ("SW101", True)
    ]


@pytest.mark.parametrize(("values", "says"), WRONG)
async def test_its_health_says_that_the_settings_are_wrong(values: dict[str, str], says: str) -> None:
    readiness = await ready(world_of(values).ports)

    assert (dict(readiness.clusters), readiness.settings_wrong) == ({"misconfigured": 1}, True)
    assert readiness.ready, "the app itself works"


def test_one_with_slurm_alone_has_no_other_cluster() -> None:
    settings = Settings({"SLIPWAY_STORAGE": STORAGE, "SLIPWAY_CLUSTERS": SLURM, "SLIPWAY_SLURM_KEYS": KEYS})
    ports = build(settings)

    assert list(ports.engines.clusters) == ["gpu"]
    assert str(ports.policy.completion.cluster_id).endswith("/clusters/gpu")
    assert ConfiguredEngines(settings).faults() == {}


def test_no_setting_has_an_address_of_a_service_that_is_gone() -> None:
    names = {"SLIPWAY_AUTHORITY": "https://login.microsoftonline.com"}
    members = {name: one.default for name, one in TABLE.items() if "://" in one.default}
    assert members == names
