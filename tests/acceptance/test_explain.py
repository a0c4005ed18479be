"""What would happen, asked by three ways; and that it is what happens."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.door import Door, eventually, shell, unique

pytestmark = pytest.mark.asyncio(loop_scope="session")
ROOT = Path(__file__).resolve().parents[2]


async def test_by_http_nothing_runs_and_the_answer_is_what_then_happens(door: Door) -> None:
    name, key = unique("asked"), unique("key")
    out = [{"id": "MODEL", "pathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/logs", "pathSuffix": "model"}]
    spec = shell("env", outputDirectories=out, environmentVariables=[{"name": "OWN", "value": "1"}])
    request = {"name": name, "spec": spec}

    status, answer, _ = await door.call("POST", "explain", request, Idempotency_Key=key)

    assert (status, answer["verdict"], answer["cluster"]["maximum"]) == (200, "runs", 2)
    assert await door.jobs(name=name) == []
    _, messages, _ = await door.call("POST", "jobs", request, Idempotency_Key=key)
    assert messages["id"] == answer["job"]["id"]
    job = await door.ended(name=name)
    assert job["engine"]["name"] == answer["engineName"]
    _, log, _ = await door.call("GET", f"jobs/{job['id']}/log")
    observation = dict(line.split("=", 1) for line in log["text"].splitlines() if "=" in line)
    names = {one["name"] for one in answer["environment"]}
    ours = {n for n in observation if n.startswith(("AZ_BATCH", "SLIPWAY_"))}
    assert names == ours | {"OWN", "PYTHONUNBUFFERED"}
    assert observation["PYTHONUNBUFFERED"] == "1"
    assert observation["SLIPWAY_JOB_ID"] == messages["id"]
    _, again, _ = await door.call("POST", "explain", request, Idempotency_Key=key)
    assert again["verdict"] == "duplicate"


async def test_by_http_for_people(door: Door) -> None:
    secrets = [{"name": "PASSWORD", "value": "canary-4711"}]
    status, body, headers = await door.call(
        "POST", "explain?format=markdown", shell("true", secrets=secrets, nodeCount=3)
    )
    assert status == 200
    assert headers["Content-Type"].startswith("text/markdown")
    assert "**not met**" in body["text"]
    assert "canary-4711" not in body["text"]


async def test_a_bad_document_is_explained_and_no_document_is_a_problem(door: Door) -> None:
    status, body, _ = await door.call("POST", "explain", shell("true", nodeCuont=1))
    assert (status, body["verdict"]) == (200, "rejected")
    assert (await door.call("POST", "explain", b""))[0] == 400


async def test_a_drop_with_the_mode_explain_is_explained_in_runs_and_starts_nothing(door: Door) -> None:
    folder = unique("mode")
    script = f"$AZ_BATCHAI_JOB_MOUNT_ROOT/scripts/{folder}/train.sh"
    await door.drop(f"{folder}/train.sh", b"echo hello\n")
    blob = door.blobs.get_blob_client("scripts", f"{folder}/job.json")
    document = json.dumps(shell(f"bash {script}")).encode()
    await blob.upload_blob(document, metadata={"Mode": "explain"})

    place = f"{folder}/{folder}"
    text = await eventually(lambda: door.receipt_file(f"{place}/explain.md"), "the explanation")

    answer = json.loads(await door.receipt_file(f"{place}/explain.json") or b"{}")
    assert answer["verdict"] == "runs"
    assert answer["job"]["id"].encode() in text
    assert await door.jobs(experiment=folder) == []
    await blob.upload_blob(document, overwrite=True)  # without the mode it runs, as it was said
    assert (await door.ended(experiment=folder))["id"] == answer["job"]["id"]


async def test_by_command_offline_and_asked_of_the_deployment(door: Door, tmp_path: Path) -> None:
    folder = tmp_path / unique("slipway")
    folder.mkdir()
    script = f"$AZ_BATCHAI_JOB_MOUNT_ROOT/scripts/{folder.name}/train.sh"
    (folder / "job.json").write_text(json.dumps(shell(f"bash {script}")))
    (folder / "train.sh").write_text("echo hello\n")
    file = tmp_path / "local.settings.json"
    file.write_text(json.dumps({"Values": dict(door.stack.settings)}))

    offline = await _slipway(door, "explain", str(folder), "--json", "--settings", str(file))
    request = await _slipway(
        door, "explain", str(folder / "job.json"), "--json", "--url", door.stack.host_url, key=door.key
    )

    first, second = json.loads(offline), json.loads(request)
    of_folder, of_document = (one["request"]["body"]["properties"].keys() for one in (first, second))
    # The deployment sees one document, not its folder, and knows that the folder would be frozen.
    assert of_folder == of_document
    assert "mountVolumes" not in of_document
    assert (first["cluster"]["note"], second["cluster"]["maximum"]) == ("was not queried", 2)
    for name in ("train.sh", "job.json"):
        await door.drop(f"{folder.name}/{name}", (folder / name).read_bytes())
    assert (await door.ended(experiment=folder.name))["id"] == first["job"]["id"]


async def test_every_run_below_a_template_is_asked_of_the_deployment(door: Door, tmp_path: Path) -> None:
    folder = tmp_path / unique("template")
    for name in ("big", "small"):
        (folder / name).mkdir(parents=True)
        (folder / name / "train.sh").write_text("echo hello\n")
    (folder / "job.json").write_text(json.dumps(shell("bash <SLIPWAY_SCRIPT:*.sh>")))

    bodies = json.loads(
        await _slipway(door, "explain", str(folder), "--json", "--url", door.stack.host_url, key=door.key)
    )

    assert [body["verdict"] for body in bodies] == ["runs", "runs"]
    requests = [body["document"]["properties"]["customToolkitSettings"]["commandLine"] for body in bodies]
    root = f"bash $AZ_BATCHAI_JOB_MOUNT_ROOT/scripts/{folder.name}"
    assert requests == [f"{root}/big/train.sh", f"{root}/small/train.sh"]


async def test_what_lies_in_the_container_is_known_to_validation(door: Door) -> None:
    folder = unique("lint")
    await door.drop(f"{folder}/windows.sh", b"#!/bin/sh\r\necho 1\r\n")
    spec = shell(
        f"bash $AZ_BATCHAI_JOB_MOUNT_ROOT/scripts/{folder}/windows.sh",
        jobPreparation={"commandLine": f"bash $AZ_BATCHAI_JOB_MOUNT_ROOT/scripts/{folder}/nowhere.sh"},
        mountVolumes={
            "azureBlobFileSystems": [
                {
                    "accountName": "<AZURE_BATCHAI_STORAGE_ACCOUNT>",
                    "containerName": "scripts",
                    "relativeMountPath": "scripts",
                }
            ]
        },
    )

    _, answer, _ = await door.call("POST", "validate", spec)

    assert answer["valid"]
    assert {one["code"] for one in answer["problems"]} >= {"SW070", "SW071"}


async def _slipway(door: Door, *arguments: str, key: str = "") -> str:
    process = await asyncio.create_subprocess_exec(
        *(*door.slipway, *arguments),
        cwd=ROOT,
        env={**os.environ, "SLIPWAY_KEY": key},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, error = await process.communicate()
    assert process.returncode == 0, error.decode()
    return out.decode()


async def test_a_message_of_the_wrong_kind_is_still_answered(door: Door) -> None:
    body: dict[str, Any] = {"specBlob": "runs/x/receipt.json"}
    _, answer, _ = await door.call("POST", "explain", body)
    assert (answer["verdict"], answer["problems"][0]["code"]) == ("rejected", "SW106")
