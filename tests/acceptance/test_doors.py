"""Three doors, one journey: from what a person sends to the verified webhook and the receipt."""

from __future__ import annotations

import asyncio
import json
import uuid
from typing import Any

import pytest

from tests.acceptance.door import Door, eventually, shell, unique

pytestmark = pytest.mark.asyncio(loop_scope="session")

SUCCEEDED = "io.slipway.job.succeeded.v1"
REJECTED = "io.slipway.job.rejected.v1"


async def test_a_request_by_http_runs_and_is_reported(door: Door) -> None:
    name = unique("http")
    status, body, headers = await door.call(
        "POST",
        "jobs",
        {"name": name, "spec": shell("echo hello $SLIPWAY_JOB_ID"), "notify": [door.hook(name)]},
    )
    assert status == 202
    assert headers["Location"] == f"/api/jobs/{body['id']}"

    job = await door.ended(name=name)

    assert (job["state"], job["exitCode"], job["door"]) == ("succeeded", 0, "http")
    (event,) = await door.event(name, SUCCEEDED)
    assert event["verified"]
    assert event["subject"] == f"jobs/{job['id']}"
    _, log, headers = await door.call("GET", f"jobs/{job['id']}/log")
    assert log["text"] == f"hello {job['id']}\n"
    assert headers["Slipway-Next-Offset"] == str(len(log["text"]))
    receipt = await eventually(lambda: _final(door, job["receipt"]), "the receipt")
    assert (receipt["state"], receipt["exitCode"]) == ("succeeded", 0)


@pytest.mark.parametrize("plain", [True, False])
async def test_a_message_plain_or_base64_runs(door: Door, plain: bool) -> None:
    name = unique("queue")
    await door.send({"name": name, "spec": shell("true"), "notify": [door.hook(name)]}, plain=plain)

    job = await door.ended(name=name)

    assert (job["state"], job["door"]) == ("succeeded", "queue")
    assert (await door.event(name, SUCCEEDED))[0]["verified"]


@pytest.mark.parametrize(
    "order", [("train.sh", "job.json"), pytest.param(("job.json", "train.sh"), marks=pytest.mark.thorough)]
)
async def test_a_dropped_folder_runs_in_any_order(door: Door, order: tuple[str, str]) -> None:
    folder = unique("drop")
    script = f"$AZ_BATCHAI_JOB_MOUNT_ROOT/scripts/{folder}/train.sh"
    files = {"job.json": shell(f"bash {script}"), "train.sh": b"echo from the drop container\n"}
    for name in order:
        await door.drop(f"{folder}/{name}", files[name])

    job = await door.ended(experiment=folder)

    assert job["state"] == "succeeded"
    assert job["door"] in ("drop", "inventory")
    _, log, _ = await door.call("GET", f"jobs/{job['id']}/log")
    assert log["text"] == "from the drop container\n"
    receipt = await eventually(lambda: _final(door, job["receipt"]), "the receipt")
    assert {file["name"] for file in receipt["drop"]["files"]} == {f"{folder}/{name}" for name in files}


async def test_with_a_template_dropping_a_script_is_all_it_takes_and_dropping_again_runs_again(
    door: Door,
) -> None:
    folder = unique("template")
    await door.drop(f"{folder}/job.json", shell("bash <SLIPWAY_SCRIPT>"))
    await door.drop(f"{folder}/alice/slipway.json", {"name": "alice", "notify": [door.hook(folder)]})
    await door.drop(f"{folder}/alice/train.py", b"echo first")
    first = await door.ended(experiment=folder)
    assert (first["state"], first["name"]) == ("succeeded", "alice")
    await door.event(folder, SUCCEEDED)

    # The blob's clock has whole seconds, and only a later one is a new drop.
    await eventually(lambda: _second_after(door, first), "the next second")
    await door.drop(f"{folder}/alice/train.py", b"echo first")
    await door.event(folder, SUCCEEDED, 2)

    jobs = await door.jobs(experiment=folder)
    assert sorted(job["generation"] for job in jobs) == [1, 2]


async def test_a_blob_created_event_by_queue_and_by_trigger_starts_one_job(door: Door) -> None:
    folder = unique("event")
    await door.drop(f"{folder}/job.json", shell("true"))
    event = {
        "specversion": "1.0",
        "id": str(uuid.uuid4()),
        "source": "/x",
        "type": "Microsoft.Storage.BlobCreated",
        "subject": f"/blobServices/default/containers/scripts/blobs/{folder}/job.json",
        "data": {},
    }
    for _ in range(3):
        await door.send(event)

    await door.ended(experiment=folder)

    assert len(await door.jobs(experiment=folder)) == 1


async def test_a_job_document_may_be_named_instead_of_sent(door: Door) -> None:
    name = unique("named")
    await door.drop(f"specs-{name}/run/spec.json", shell("true"))
    await door.send({"name": name, "specBlob": f"scripts/specs-{name}/run/spec.json"})

    assert (await door.ended(name=name))["state"] == "succeeded"


async def test_two_nodes_train_together(door: Door) -> None:
    name = unique("gang")
    spec = shell("", nodeCount=2)
    del spec["properties"]["customToolkitSettings"]
    spec["properties"]["pyTorchSettings"] = {
        "pythonScriptFilePath": "$AZ_BATCHAI_JOB_MOUNT_ROOT/scripts/rank.py"
    }
    await door.drop("rank.py", b"import os; print('rank', os.environ['AZ_BATCHAI_TASK_INDEX'])")
    await door.call("POST", "jobs", {"name": name, "spec": _with_drops(spec)})

    job = await door.ended(name=name)

    assert job["state"] == "succeeded", job
    _, listed, _ = await door.call("GET", f"jobs/{job['id']}/files")
    names = {file["name"] for file in listed["files"]}
    assert {"stdout-0.txt", "stdout-1.txt"} <= names
    _, log, _ = await door.call("GET", f"jobs/{job['id']}/log?file=stdout-1.txt")
    assert log["text"] == "rank 1\n"
    assert await _answer(door, "log", name) == "0 | rank 0\n1 | rank 1\n"
    assert await _answer(door, "log", "--follow", "--rank", "1", name) == "rank 1\n"


async def test_a_running_job_is_cancelled(door: Door) -> None:
    name = unique("cancel")
    _, body, _ = await door.call("POST", "jobs", {"name": name, "spec": shell("sleep 60")})
    status, _, _ = await door.call("POST", f"jobs/{body['id']}/cancel")
    assert status == 202

    job = await door.ended(name=name)

    assert (job["state"], job["reason"]) == ("cancelled", "terminated")


async def test_a_job_that_fails_says_with_which_code_and_why(door: Door) -> None:
    name = unique("fails")
    spec = shell("echo ValueError: no data >&2; echo bye >&2; exit 7")
    await door.call("POST", f"jobs?name={name}", {"spec": spec, "notify": [door.hook(name)]})

    job = await door.ended(name=name)

    assert (job["state"], job["reason"], job["exitCode"]) == ("failed", "user", 7)
    assert job["lastError"] == "ValueError: no data"
    assert "ValueError: no data" in await _answer(door, "jobs", "--failed", "--name", name)
    await door.event(name, "io.slipway.job.failed.v1")


@pytest.mark.thorough
async def test_a_receiver_that_is_down_gets_the_event_later(door: Door) -> None:
    name = unique("later")
    hook = door.hook(name, "?status=503&times=1")
    await door.call("POST", "jobs", {"name": name, "spec": shell("true"), "notify": [hook]})

    first, second = await door.event(name, SUCCEEDED, 2)

    assert (first["status"], second["status"]) == (503, 204)
    assert first["id"] == second["id"]


async def test_an_idempotency_key_makes_one_job_of_two_requests(door: Door) -> None:
    key = str(uuid.uuid4())
    one = await door.call("POST", "jobs", shell("true"), Idempotency_Key=key)
    two = await door.call("POST", "jobs", shell("true"), Idempotency_Key=key)
    other = await door.call("POST", "jobs", shell("false"), Idempotency_Key=key)

    assert (one[0], two[0], other[0]) == (202, 200, 422)
    assert one[1]["id"] == two[1]["id"]
    assert other[2]["Content-Type"].startswith("application/problem+json")


async def test_clusters_and_health_are_shown(door: Door) -> None:
    _, body, _ = await door.call("GET", "clusters")
    (cluster,) = body["clusters"]
    assert (cluster["name"], cluster["minimum"], cluster["maximum"]) == ("dev-cluster-00", 0, 2)
    assert (await door.call("GET", "health"))[0] == 200


def _with_drops(spec: dict[str, dict[str, object]]) -> dict[str, dict[str, object]]:
    mount = {
        "accountName": "<AZURE_BATCHAI_STORAGE_ACCOUNT>",
        "containerName": "scripts",
        "relativeMountPath": "scripts",
    }
    return {"properties": {**spec["properties"], "mountVolumes": {"azureBlobFileSystems": [mount]}}}


async def _answer(door: Door, *words: str) -> str:
    """What a command prints on a pipe."""
    command = await asyncio.create_subprocess_exec(
        *(*door.slipway, *words, "--url", door.stack.host_url, "--key", door.key),
        stdout=asyncio.subprocess.PIPE,
    )
    out, _ = await command.communicate()
    assert command.returncode == 0
    return out.decode()


async def _final(door: Door, receipt: str) -> dict[str, Any] | None:
    body = await door.receipt_file(receipt.removeprefix("runs/"))
    document: dict[str, Any] = json.loads(body) if body else {}
    return document if document.get("endedAt") else None


async def _second_after(door: Door, job: dict[str, Any]) -> bool | None:
    from datetime import UTC, datetime, timedelta

    last = datetime.fromisoformat(job["history"][-1]["at"])
    return True if datetime.now(UTC) > last + timedelta(seconds=2) else None
