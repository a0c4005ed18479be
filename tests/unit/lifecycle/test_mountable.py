"""For which mounts a submission fills in the deployment's key."""

from __future__ import annotations

from typing import Any

import pytest

from shared.core.job import Job, JobState
from shared.jobspec import Limits, with_credentials
from tests.unit.intake.drops.test_freeze import MOUNT, dropped
from tests.unit.intake.drops.test_freeze import job as job_file
from tests.unit.lifecycle.permits import submit_accepted
from tests.unit.lifecycle.teams.test_changed_teams import teams
from tests.unit.world import World, job_json

KEY = "the-key-of-the-account"
_OWN_KEY = {"credentials": {"accountKey": "another"}}


def mounting(*containers: str) -> dict[str, Any]:
    mounts = [
        {"accountName": "acct", "containerName": name, "relativeMountPath": name} for name in containers
    ]
    return {"team": "a", "spec": job_json(mountVolumes={"azureBlobFileSystems": mounts})}


async def job_of(world: World, message: dict[str, Any]) -> Job:
    return (await world.message(message)).job


def keyed(world: World) -> dict[str, bool]:
    """Each container of the last submission, and whether it came with the key."""
    (order,) = world.engine.orders
    mounts = order.document["properties"]["mountVolumes"]["azureBlobFileSystems"]
    return {one["containerName"]: one.get("credentials") == {"accountKey": KEY} for one in mounts}


@pytest.fixture
def own(world: World) -> World:
    world.use(account_keys={"acct": KEY})
    world.policy(limits=Limits(mountable=frozenset({"datalake"})))
    return world


async def test_a_container_that_the_deployment_or_the_team_names_gets_the_key(own: World) -> None:
    await teams(own, a={"containers": ["eyes"]}, b={"containers": ["ears"]})

    job = await job_of(own, mounting("datalake", "eyes"))

    assert job.state is JobState.QUEUED
    assert keyed(own) == {"datalake": True, "eyes": True}


@pytest.mark.parametrize("container", ["runs", "archive", "snapshots", "azure-webjobs-secrets", "ears"])
async def test_any_other_container_is_refused_with_its_place(own: World, container: str) -> None:
    await teams(own, a={"containers": ["eyes"]}, b={"containers": ["ears"]})

    job = await job_of(own, mounting("datalake", container))

    assert job.state is JobState.REJECTED
    (error,) = [one for one in job.problems if one["severity"] == "error"]
    at = "/spec/properties/mountVolumes/azureBlobFileSystems/1/containerName"
    assert (error["code"], error["pointer"]) == ("SW082", at)
    assert own.engine.calls == 0


async def test_a_container_that_the_team_lost_meanwhile_is_not_mounted(own: World) -> None:
    await teams(own, a={"containers": ["eyes"]})
    own.policy(paused=True)
    job = await job_of(own, mounting("datalake", "eyes"))
    own.policy(paused=False)
    await teams(own, a={})

    await submit_accepted(own, job.id)

    assert own.engine.orders == []
    ended = await own.job(job.id)
    assert ended.state is JobState.FAILED
    assert "the mount of eyes in acct is not open to this job any more" in ended.message


async def test_the_container_of_drops_is_only_read_by_the_deployment_s_key(own: World) -> None:
    drops = own.ports.policy.completion.drop_container or ""
    own.policy(limits=Limits(mountable=frozenset()))
    mine = {"accountName": "acct", "containerName": drops, "relativeMountPath": "mine"}
    mine |= {"mountOptions": "-o allow_other"}
    keyed_by_itself = {**mine, "relativeMountPath": "own", "credentials": {"accountKey": "another"}}
    mounts = {"azureBlobFileSystems": [mine, keyed_by_itself]}

    job = await job_of(own, {"spec": job_json(mountVolumes=mounts)})

    assert job.state is JobState.QUEUED, job.problems
    (order,) = own.engine.orders
    ours, theirs = order.document["properties"]["mountVolumes"]["azureBlobFileSystems"][:2]
    assert (ours["mountOptions"], theirs["mountOptions"]) == ("-o allow_other -o ro", "-o allow_other")


async def test_a_job_of_a_team_gets_no_key_for_the_drops_of_all_teams(own: World) -> None:
    drops = own.ports.policy.drop_container
    await teams(own, a={"containers": ["eyes"]}, b={"folders": ["b"]})

    job = await job_of(own, mounting("datalake", drops))

    assert job.state is JobState.REJECTED
    (error,) = [one for one in job.problems if one["severity"] == "error"]
    assert (error["code"], error["pointer"]) == (
        "SW082",
        "/spec/properties/mountVolumes/azureBlobFileSystems/1/containerName",
    )
    assert "slipway run" in error["remedy"]


async def test_an_operator_may_let_all_teams_mount_the_drops_by_name(own: World) -> None:
    drops = own.ports.policy.drop_container
    own.policy(limits=Limits(mountable=frozenset({"datalake", drops})))
    await teams(own, a={})

    await job_of(own, mounting("datalake", drops))

    assert keyed(own) == {"datalake": True, drops: True}


async def test_a_job_that_got_its_team_before_the_drops_were_closed_does_not_mount_them(own: World) -> None:
    drops = own.ports.policy.drop_container
    await teams(own, a={"containers": [drops]})
    own.policy(paused=True)
    job = await job_of(own, mounting("datalake", drops))
    own.policy(paused=False)
    await teams(own, a={})

    await submit_accepted(own, job.id)

    assert own.engine.orders == []
    assert (await own.job(job.id)).state is JobState.FAILED


@pytest.mark.parametrize("mounts_itself", [False, True])
async def test_a_drop_of_a_team_has_its_own_folder_without_the_mount(own: World, mounts_itself: bool) -> None:
    """That is at `$AZ_BATCHAI_JOB_MOUNT_ROOT/scripts`, as in the documents of Batch AI."""
    await teams(own, a={"folders": ["d"]}, b={"folders": ["b"]})
    more: dict[str, Any] = {"mountVolumes": {"azureBlobFileSystems": [MOUNT]}} if mounts_itself else {}

    (job,) = await dropped(own, {"d/job.json": job_file(**more), "d/train.py": b"1"})

    assert job.team == "a"
    if mounts_itself:
        assert job.state is JobState.REJECTED
        assert "SW082" in {one["code"] for one in job.problems}
        return
    assert job.state is JobState.QUEUED, job.problems
    assert job.code is not None
    assert job.code.at == "scripts/d"
    (order,) = own.engine.orders
    assert "mountVolumes" not in order.document["properties"]


@pytest.mark.parametrize(
    ("options", "refused"),
    [
        ("-o ro", ""),
        ("-o allow_other -o attr_timeout=240,entry_timeout=240 --use-https=true --cache-size-mb=500", ""),
        ("-oro --file-cache-timeout-in-seconds=120 --log-level=LOG_DEBUG", ""),
        ("--container-name=runs", "--container-name"),
        ("-o ro --container-name runs", "--container-name"),
        ("--config-file=/tmp/mine", "--config-file"),
        ("--account-name=other", "--account-name"),
        ("--tmp-path=/mnt/of-others", "--tmp-path=/mnt/of-others"),
        ("--https-proxy=http://evil.example", "--https-proxy=http://evil.example"),
        ("--use-https=false", "--use-https=false"),
        ("-o ro,--container-name=runs", "--container-name"),
        ("-o", "-o "),
        ("runs", "runs"),
    ],
)
async def test_no_option_of_a_mount_leads_the_deployment_s_key_to_another_container(
    own: World, options: str, refused: str
) -> None:
    own.policy(limits=Limits(mountable=frozenset({"datalake"})))
    mount = {"accountName": "acct", "containerName": "datalake", "relativeMountPath": "x"}
    with_options = {"azureBlobFileSystems": [{**mount, "mountOptions": options}]}
    with_key = {"azureBlobFileSystems": [{**with_options["azureBlobFileSystems"][0], **_OWN_KEY}]}

    job = await job_of(own, {"spec": job_json(mountVolumes=with_options)})
    keyed_job = await own.message({"name": "keyed", "spec": job_json(mountVolumes=with_key)}, "m2")

    errors = [one for one in job.problems if one["severity"] == "error"]
    assert [one["pointer"].rpartition("/")[2] for one in errors] == ["mountOptions"] * bool(refused)
    assert all(refused.strip() in one["message"] for one in errors)
    names_another = refused.startswith(("--container", "--config", "--account"))
    assert (keyed_job.job.state is JobState.REJECTED) is names_another, keyed_job.job.problems
    document = {"properties": {"mountVolumes": with_options}}
    filled = with_credentials(document, {"acct": KEY}, mountable={"datalake"})
    assert (KEY in str(filled)) is (not refused)
