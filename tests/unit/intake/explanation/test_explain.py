"""What explain says: from the functions that would do it, without doing any of it, and without a secret."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from typing import Any

import pytest

from shared.core.cost.prices import prices_from
from shared.core.errors import Misconfigured, Transient
from shared.core.job import Drop, JobState
from shared.intake.arrive import blob_arrived, message_arrived
from shared.intake.drops.explained import explain_folder
from shared.intake.drops.inventory import inventory
from shared.intake.explanation.explain_text import markdown
from shared.intake.message import read_request
from shared.intake.request_door import request_explained
from shared.jobspec import Limits
from tests.unit.archived_code import archived
from tests.unit.priced_cluster import ROW, view_of
from tests.unit.world import CLUSTER, World, job_json

SCRIPT = "$AZ_BATCHAI_JOB_MOUNT_ROOT/scripts/digits/run/train.py"
JOB = json.dumps(job_json(customToolkitSettings={"commandLine": f"python {SCRIPT}"})).encode()


async def _explain(world: World, document: Any, key: str | None = None, **how: Any) -> dict[str, Any]:
    request = read_request(json.dumps(document).encode(), world.ports.policy.limits)
    return await request_explained(world.ports, request, source="http:", key=key, **how)


async def test_nothing_runs_and_nothing_is_written(world: World) -> None:
    rows = dict(world.ledger.rows)

    body = await _explain(world, job_json(), "k")

    assert body["verdict"] == "runs"
    assert world.ledger.rows == rows
    assert world.drops.receipt_files == {}
    assert world.queues.messages == []
    assert world.engine.orders == []


async def test_the_id_is_that_of_the_job_that_runs_afterwards(world: World) -> None:
    answer = await _explain(world, {"spec": job_json(), "idempotencyKey": "k"})
    assert "joins" in answer["job"]["duplicates"]

    dropped = await _dropped(world, mode="explain")
    ran = await _dropped(world)

    assert "uploading a file again after its end runs it again" in dropped["job"]["duplicates"]
    assert dropped["job"]["id"] == ran["id"]
    assert dropped["engineName"] == ran["engine"]["name"]
    assert dropped["job"]["receipt"] == ran["receipt"]
    assert dropped["document"] == ran["accepted"]


async def _dropped(world: World, mode: str = "") -> dict[str, Any]:
    """What explain says of a drop, or the receipt of what ran."""
    world.drops.upload("digits/run/train.py", b"print(1)")
    world.drops.upload("digits/run/job.json", JOB, mode)
    world.pass_time(10)
    looked = await blob_arrived(world.ports, "scripts", "digits/run/job.json")
    if mode:
        assert looked.accepted == ()
        document: dict[str, Any] = json.loads(
            world.drops.receipt_files[f"{looked.explained[0]}/explain.json"]
        )
        return document
    job = looked.accepted[0].job
    world.engine.set_state(world.engine.started[-1], JobState.SUCCEEDED)
    await world.make_pass()
    return world.receipt(job)


@pytest.mark.parametrize("marked", ["job.json", "train.py"])
async def test_a_drop_with_the_mode_explain_is_explained_and_never_runs(world: World, marked: str) -> None:
    for name, body in (("train.py", b"print(1)"), ("job.json", JOB)):
        world.drops.upload(f"digits/run/{name}", body, "explain" if name == marked else "")
        await blob_arrived(world.ports, "scripts", f"digits/run/{name}")
    world.pass_time(10)
    for _, check, _ in list(world.queues.messages):
        await message_arrived(world.ports, check.encode(), "m")
    await inventory(world.ports)

    assert world.engine.started == []
    assert [row for _, row in world.ledger.rows if row.startswith("j|")] == []
    assert set(world.drops.receipt_files) == {"digits/run/run/explain.json", "digits/run/run/explain.md"}
    world.drops.upload(f"digits/run/{marked}", JOB if marked == "job.json" else b"print(1)")
    world.pass_time(10)
    looked = await blob_arrived(world.ports, "scripts", f"digits/run/{marked}")
    assert looked.accepted[0].job.state is JobState.QUEUED


@pytest.mark.parametrize("elsewhere", [False, True])
async def test_a_document_is_explained_as_that_of_a_folder_which_would_be_frozen(
    world: World, elsewhere: bool
) -> None:
    root = "$AZ_BATCHAI_JOB_MOUNT_ROOT/scripts"
    script = f"{root}/shared/go.py" if elsewhere else f"{root}/digits/run/train.py"
    document = job_json(customToolkitSettings={"commandLine": f"python {script}"})
    world.drops.upload("digits/run/job.json", json.dumps(document).encode())
    world.drops.upload(script.removeprefix(f"{root}/"), b"1")
    world.pass_time(60)
    request = read_request(json.dumps(document).encode(), world.ports.policy.limits)
    drop = Drop(container="scripts", folder="digits/run", job_file="job.json", files={}, etags={})

    alone = await request_explained(world.ports, request, source="http:", key=None, drop=drop)
    (folder,) = (await explain_folder(world.ports, "digits/run/", live=True)).bodies

    assert alone["document"] == folder["document"]
    assert alone["notes"] == folder["notes"]
    assert "mountVolumes" not in alone["document"]["properties"]
    assert [verb for verb, _ in world.snapshots.requests] == []


@pytest.mark.parametrize("by_identity", [True, False])
async def test_what_a_long_wait_means_for_code_is_said_where_the_app_signs_by_its_identity(
    world: World, by_identity: bool
) -> None:
    world.snapshots.longest = timedelta(days=7) if by_identity else None
    with_code = await _explain(world, {"spec": job_json(), "code": archived(world)})
    without = await _explain(world, {"spec": job_json()})

    assert ("an address that lasts for 7 days" in str(with_code["notes"])) is by_identity
    assert "7 days" not in str(without["notes"])


async def test_a_template_that_is_explained_runs_nothing_below_it(world: World) -> None:
    template = json.dumps(job_json(customToolkitSettings={"commandLine": "python <SLIPWAY_SCRIPT>"})).encode()
    world.drops.upload("digits/job.json", template, "explain")
    world.drops.upload("digits/alice/train.py", b"x")
    world.pass_time(10)
    looked = await blob_arrived(world.ports, "scripts", "digits/alice/train.py")
    assert looked.explained == ("digits/alice/train",)
    assert world.engine.started == []


async def test_an_explained_folder_is_left_alone_by_later_inventories(world: World) -> None:
    world.drops.upload("digits/run/train.py", b"x")
    world.drops.upload("digits/run/job.json", JOB, "explain")
    world.pass_time(60)
    assert (await inventory(world.ports)).looked == 1
    world.pass_time(3600)
    assert (await inventory(world.ports)).looked == 0


async def test_a_job_that_would_join_another_says_which(world: World) -> None:
    first = (await world.message({"spec": job_json(), "idempotencyKey": "k"}, "m")).job
    request = read_request(json.dumps({"spec": job_json(), "idempotencyKey": "k"}).encode(), Limits())
    body = await request_explained(world.ports, request, source="queue", key="k")
    assert (body["verdict"], body["job"]["existing"]["id"]) == ("duplicate", first.id)
    other = read_request(
        json.dumps({"spec": job_json(nodeCount=2), "idempotencyKey": "k"}).encode(), Limits()
    )
    body = await request_explained(world.ports, other, source="queue", key="k")
    assert body["verdict"] == "refused"
    assert "another payload" in body["summary"]


async def test_a_drop_that_has_run_and_was_uploaded_again_would_run_again(world: World) -> None:
    ran = await _dropped(world)
    world.pass_time(60)
    again = await _dropped(world, mode="explain")
    assert again["verdict"] == "runs"
    assert again["job"]["id"] != ran["id"]


async def test_without_a_key_the_id_is_a_placeholder_everywhere(world: World) -> None:
    body = await _explain(world, job_json())
    text = json.dumps(body)
    assert body["job"]["id"] is None
    assert "<job id>" in body["request"]["path"]
    assert not re.search(r"j_[a-z2-7]{24}", text)


async def test_a_bad_document_gets_its_problems_and_no_request(world: World) -> None:
    body = await _explain(world, job_json(nodeCuont=2, nodeCount="two"))
    assert body["verdict"] == "rejected"
    assert {"/properties/nodeCuont", "/properties/nodeCount"} <= {p["pointer"] for p in body["problems"]}
    assert "request" not in body
    assert "SW012" in markdown(body)


async def test_a_document_may_hold_what_a_request_holds(world: World) -> None:
    body = await _explain(world, {**job_json(), "method": "PUT"})
    assert body["verdict"] == "rejected"
    assert "`/method`" in markdown(body)


@pytest.mark.parametrize("error", [Transient("down"), Misconfigured("login")])
async def test_a_cluster_that_cannot_be_asked_leaves_the_rest_of_the_answer(world: World, error: Any) -> None:
    world.engine.fail = [error]
    body = await _explain(world, job_json())
    assert body["cluster"]["note"] == f"could not be queried: {error}"
    assert body["wait"]["to"] is None
    assert any("could not be queried" in text for text in body["warnings"])
    assert body["request"]["method"] == "PUT"


@pytest.mark.parametrize(
    ("document", "why"),
    [
        (job_json(), "it is the default of this deployment"),
        (job_json(cluster={"id": CLUSTER.id}), "the job names it"),
        ({"spec": job_json(), "cluster": "dev"}, "the message names it"),
    ],
    ids=["default", "job", "message"],
)
async def test_it_says_which_cluster_and_why(world: World, document: Any, why: str) -> None:
    body = await _explain(world, document)
    assert (body["cluster"]["name"], body["cluster"]["why"]) == ("dev", why)


async def test_nodes_to_add_limits_wait_and_price_come_from_the_cluster_as_it_is(world: World) -> None:
    world.engine.view = view_of()
    world.policy(prices=prices_from([ROW]))
    spec = job_json(nodeCount=3, constraints={"maxWallClockTime": "PT2H"})

    body = await _explain(world, spec)

    assert body["cluster"]["nodesToAdd"] == 2
    assert all(limit["met"] is not False for limit in body["limits"])
    assert body["cost"]["nodeHours"] == {"from": 0, "to": 6.0}
    (price,) = body["cost"]["price"]
    assert (price["currency"], price["total"]["to"], price["perHour"]["to"]) == ("EUR", 3.0, 1.5)
    text = markdown(body)
    assert "Nodes to add: **2**" in text
    assert "an example" in text


async def test_no_secret_is_in_the_answer(world: World) -> None:
    mounts = {
        "azureBlobFileSystems": [
            {"accountName": "acct", "containerName": "data", "relativeMountPath": "data"},
            {
                "accountName": "other",
                "containerName": "data",
                "relativeMountPath": "more",
                "credentials": {"accountKey": "canary-key"},
            },
        ]
    }
    spec = job_json(
        mountVolumes=mounts,
        secrets=[{"name": "PASSWORD", "value": "canary-secret"}],
        environmentVariables=[
            {"name": "API_TOKEN", "value": "canary-token"},
            {"name": "PLACE", "value": "https://x.example/y?sig=canary-sig"},
        ],
    )
    hook = {"url": "https://hooks.example.com/x?code=canary-hook"}

    for document in (
        {"spec": spec, "notify": [hook]},
        {"spec": {**spec, "propertees": {"password": "canary-x"}}},
    ):
        body = await _explain(world, document, "k")
        text = json.dumps(body) + markdown(body)
        assert "canary" not in text
        assert "storage-key" not in text
        assert "sealed:" not in text
        assert "***" in text


async def test_a_job_file_may_be_explained_as_that_of_a_folder(world: World) -> None:
    drop = Drop(container="scripts", folder="digits/run", job_file="job.json", files={}, etags={})
    template = job_json(customToolkitSettings={"commandLine": "python <SLIPWAY_SCRIPT>"})
    body = await _explain(world, template, drop=drop, script="train.py")
    assert SCRIPT in json.dumps(body["request"])
    assert (body["job"]["experiment"], body["job"]["name"], body["job"]["id"]) == ("digits", "train", None)


async def test_offline_neither_ledger_nor_cluster_is_asked(world: World) -> None:
    world.drops.upload("digits/run/train.py", b"x")
    world.drops.upload("digits/run/job.json", JOB)
    world.use(ledger=None)
    world.engine.fail = [Transient("must not be asked")]

    result = await explain_folder(world.ports, "digits/run/", live=False)

    assert result.bodies[0]["cluster"]["note"] == "was not queried"
    assert world.engine.fail != []
    assert world.engine.queries == []
