"""What is left for a person in `runs`, and running exactly that again."""

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


async def test_status_follows_a_drop_to_its_end(door: Door) -> None:
    folder = unique("status")
    gate = f"$AZ_BATCHAI_MOUNT_ROOT/logs/{folder}.go"
    await _drop(door, folder, f"while [ ! -e {gate} ]; do sleep 0.1; done")

    place = await eventually(lambda: _place(door, folder), "an answer")
    line = await eventually(lambda: _line(door, place, "running"), "the line of a running job")
    job_id = line.split()[2]
    assert not (await _receipt(door, place)).get("endedAt")

    opener = await door.call("POST", "jobs", {"name": unique("opens"), "spec": shell(f"touch {gate}")})
    assert opener[0] == 202
    line = await eventually(lambda: _line(door, place, "succeeded"), "the line of the end")
    assert line.split()[2] == f"{job_id}:"
    assert "exit code 0" in line
    assert (await _receipt(door, place))["state"] == "succeeded"


async def test_the_receipt_of_a_success_has_everything_that_went_in_and_came_out(door: Door) -> None:
    folder = unique("receipt")
    await _drop(door, folder, "true")
    job = await door.ended(experiment=folder)
    place = job["receipt"].removeprefix("runs/").removesuffix("/receipt.json")
    await eventually(lambda: _line(door, place, "succeeded"), "the end")

    receipt = await _receipt(door, place)

    assert {one["name"] for one in receipt["drop"]["files"]} == {f"{folder}/job.json", f"{folder}/train.sh"}
    assert receipt["versions"]["engine"] == "Batch AI 2018-05-01"
    assert (receipt["exitCode"], receipt["nodes"]) == (0, 1)
    assert receipt["nodeHours"] >= 0
    assert receipt["attempts"][0]["state"] == "succeeded"
    for output in receipt["outputs"]:
        status, listed, _ = await door.call("GET", output["files"].removeprefix("/api/"))
        assert status == 200, listed
    assert "sig=" not in json.dumps(receipt)


async def test_the_receipt_of_a_failure_ends_with_the_last_lines(door: Door) -> None:
    folder = unique("fails")
    await _drop(door, folder, "echo no such data >&2; exit 3")
    job = await door.ended(experiment=folder)
    place = job["receipt"].removeprefix("runs/").removesuffix("/receipt.json")
    line = await eventually(lambda: _line(door, place, "failed"), "the end")

    receipt = await _receipt(door, place)

    assert "exit code 3" in line
    assert receipt["lastLines"] == {"file": "stderr.txt", "lines": ["no such data"]}
    assert receipt["lastError"] == job["lastError"] == "no such data"


async def test_a_rejected_drop_has_its_diagnostics_for_people_and_machines(door: Door) -> None:
    folder = unique("rejected")
    await door.drop(f"{folder}/job.json", shell("true", nodeCuont=1))
    job = await door.ended(experiment=folder)
    place = job["receipt"].removeprefix("runs/").removesuffix("/receipt.json")
    await eventually(lambda: _line(door, place, "rejected"), "the end")

    document = json.loads(await door.receipt_file(f"{place}/diagnostics.json") or b"{}")
    assert document["problems"][0]["code"] == "SW012"
    assert b"nodeCuont" in (await door.receipt_file(f"{place}/diagnostics.txt") or b"")


async def test_rerun_runs_exactly_that_again_also_after_an_edit_of_the_script(
    door: Door, tmp_path: Path
) -> None:
    folder = unique("rerun")
    await _drop(door, folder, "echo once more")
    first = await door.ended(experiment=folder)
    place = first["receipt"].removeprefix("runs/").removesuffix("/receipt.json")
    await eventually(lambda: _line(door, place, "succeeded"), "the end")
    receipt = tmp_path / "receipt.json"
    receipt.write_bytes(await door.receipt_file(f"{place}/receipt.json") or b"")

    code, output = await _rerun(door, str(receipt))
    assert code == 0, output
    second = await eventually(lambda: _rerun_of(door, first["id"]), "the second run to end")

    assert (second["state"], second["door"]) == ("succeeded", "rerun")
    _, log, _ = await door.call("GET", f"jobs/{second['id']}/log")
    assert log["text"] == "once more\n"
    await door.drop(f"other-{folder}/x.txt", b"")
    await door.drop(f"{folder}/train.sh", b"echo changed\n")
    code, output = await _rerun(door, str(receipt))
    assert code == 0, output
    third = await eventually(lambda: _rerun_of(door, first["id"], second["id"]), "the third run to end")
    _, log, _ = await door.call("GET", f"jobs/{third['id']}/log")
    assert log["text"] == "once more\n"


@pytest.mark.thorough
async def test_a_receipt_starts_nothing_wherever_it_is_put(door: Door) -> None:
    folder = unique("inert")
    await _drop(door, folder, "true")
    job = await door.ended(experiment=folder)
    place = job["receipt"].removeprefix("runs/").removesuffix("/receipt.json")
    await eventually(lambda: _line(door, place, "succeeded"), "the end")
    body = await door.receipt_file(f"{place}/receipt.json") or b""

    for name in ("receipt.json", "job.json"):
        content = body if name == "receipt.json" else json.dumps(shell("true")).encode()
        await door.blobs.get_blob_client("runs", f"again-{folder}/{name}").upload_blob(content)
    subject = f"/blobServices/default/containers/runs/blobs/again-{folder}/job.json"
    await door.send({"specversion": "1.0", "id": "1", "source": "/x", "type": _CREATED, "subject": subject})
    await door.send({"name": f"named-{folder}", "specBlob": f"runs/again-{folder}/job.json"})
    await door.send(body)
    marker = unique("after")
    await door.send({"name": marker, "spec": shell("true")})
    await door.ended(name=marker)

    # By name, for what other tests dropped may still be starting.
    new = [one for one in await door.jobs() if folder in json.dumps(one) and one["id"] != job["id"]]
    assert {one["state"] for one in new} == {"rejected"}


_CREATED = "Microsoft.Storage.BlobCreated"


async def _drop(door: Door, folder: str, script: str) -> None:
    path = f"$AZ_BATCHAI_JOB_MOUNT_ROOT/scripts/{folder}/train.sh"
    await door.drop(f"{folder}/train.sh", f"{script}\n".encode())
    await door.drop(f"{folder}/job.json", shell(f"bash {path}"))


async def _place(door: Door, folder: str) -> str | None:
    names = [name for name in await door.receipt_files(folder) if name.endswith("/STATUS")]
    return names[0].removesuffix("/STATUS") if names else None


async def _line(door: Door, place: str, state: str) -> str | None:
    line = (await door.receipt_file(f"{place}/STATUS") or b"").decode()
    return line if line.startswith(f"{state} ") else None


async def _receipt(door: Door, place: str) -> dict[str, Any]:
    receipt: dict[str, Any] = json.loads(await door.receipt_file(f"{place}/receipt.json") or b"{}")
    return receipt


async def _rerun_of(door: Door, job_id: str, *others: str) -> dict[str, Any] | None:
    jobs = await door.jobs(rerunOf=job_id)
    return next((job for job in jobs if job.get("endedAt") and job["id"] not in others), None)


async def _rerun(door: Door, receipt: str) -> tuple[int | None, str]:
    process = await asyncio.create_subprocess_exec(
        *(*door.slipway, "rerun", receipt, "--url", door.stack.host_url),
        cwd=ROOT,
        env={**os.environ, "SLIPWAY_KEY": door.key},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    out, _ = await process.communicate()
    return process.returncode, out.decode()
