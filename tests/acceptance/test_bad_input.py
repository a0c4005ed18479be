"""Bad input through every door: an answer that names place and remedy, nothing poisoned, nothing delayed."""

from __future__ import annotations

import asyncio
import json
from functools import partial
from typing import Any

import pytest

from tests.acceptance.door import Door, eventually, shell, unique

pytestmark = pytest.mark.asyncio(loop_scope="session")

_ABSENT = "/subscriptions/s/resourceGroups/g/providers/Microsoft.BatchAI/workspaces/w/fileServers/f"

BAD: dict[str, bytes] = {
    "nothing": b"",
    "no json": b"hello",
    "half": b'{"properties": {',
    "utf-16": '{"properties": {}}'.encode("utf-16"),
    "latin-1": b'{"properties": {"a": "\xe9"}}',
    "null byte": b'{"properties": {"nodeCount": "\\u0000"}}',
    "a list": b"[1, 2]",
    "a number": b"17",
    "nesting": b"[" * 50_000 + b"]" * 50_000,
    "duplicate keys": b'{"properties": {"nodeCount": 1, "nodeCount": 500}}',
    "nan": b'{"properties": {"nodeCount": NaN}}',
    "huge number": b'{"properties": {"nodeCount": 1' + b"0" * 5000 + b"}}",
    "unknown keys": json.dumps(shell("true", nodeCuont=2)).encode(),
    "wrong types": json.dumps(shell("true", nodeCount="2")).encode(),
    "empty": b'{"properties": {}}',
    "unknown envelope key": json.dumps({"spec": shell("true"), "notfiy": []}).encode(),
    "missing blob": json.dumps({"specBlob": "scripts/nowhere/job.json"}).encode(),
    "forbidden container": json.dumps({"specBlob": "azure-webjobs-hosts/x"}).encode(),
    "unknown cluster": json.dumps({"spec": shell("true"), "cluster": "nowhere"}).encode(),
    "metadata service": json.dumps(
        {"spec": shell("true"), "notify": [{"url": "https://169.254.169.254/x"}]}
    ).encode(),
    "plain http": json.dumps({"spec": shell("true"), "notify": [{"url": "http://example.com/x"}]}).encode(),
    "absent file server": json.dumps(
        {
            "properties": {
                "nodeCount": 1,
                "customToolkitSettings": {"commandLine": "true"},
                "mountVolumes": {
                    "fileServers": [{"fileServer": {"id": _ABSENT}, "relativeMountPath": "x"}],
                },
                "stdOutErrPathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/logs",
            }
        }
    ).encode(),
}


@pytest.mark.parametrize("what", BAD)
async def test_by_http(door: Door, what: str) -> None:
    status, body, headers = await door.call("POST", "jobs", BAD[what])

    if what == "absent file server":  # only the cluster knows
        assert status == 202
        return
    assert status in (400, 422), body
    assert headers["Content-Type"].startswith("application/problem+json")
    assert body["detail"]
    assert body["remedy"]
    for problem in body.get("errors", []):
        assert problem["remedy"]
        assert "pointer" in problem


async def test_by_queue_every_message_gets_its_record_and_none_is_poisoned(door: Door) -> None:
    start = {job["id"] for job in await door.jobs(door="queue")}
    sendable = {name: body for name, body in BAD.items() if len(body) < 48_000}
    for body in sendable.values():
        await door.send(body)
    marker = unique("after")
    await door.send({"name": marker, "spec": shell("true")})
    records: list[str] = []

    async def refused() -> list[dict[str, Any]] | None:
        jobs = [job for job in await door.jobs(door="queue") if job["id"] not in start]
        result = [job for job in jobs if job["state"] in ("rejected", "failed")]
        records[:] = [job["id"] for job in result]
        return result if len(result) >= len(sendable) else None

    for job in await eventually(refused, "a record for each bad message", records):
        assert job["message"], job
        if job["state"] == "rejected":
            assert all(problem["remedy"] for problem in job["problems"])
    assert (await door.ended(name=marker))["state"] == "succeeded"
    assert await door.poisoned() == []


async def test_by_drop_every_bad_job_file_gets_diagnostics_beside_its_receipt(door: Door) -> None:
    folder = unique("bad")
    droppable = [
        name
        for name in BAD
        if not name.startswith(
            ("unknown envelope", "missing", "forbidden", "plain", "meta", "unknown cluster", "absent")
        )
    ]
    await asyncio.gather(
        *(door.drop(f"{folder}/{n}/job.json", BAD[name]) for n, name in enumerate(droppable))
    )

    records: list[str] = []

    async def answered() -> list[dict[str, Any]] | None:
        jobs = [job for job in await door.jobs(experiment=folder) if job["state"] == "rejected"]
        records[:] = [job["id"] for job in jobs]
        return jobs if len(jobs) == len(droppable) else None

    for job in await eventually(answered, "an answer for each bad drop", records):
        place = job["receipt"].removeprefix("runs/").rpartition("/")[0]
        text = await eventually(partial(door.receipt_file, f"{place}/diagnostics.txt"), "the diagnostics")
        assert job["problems"][0]["code"].encode() in text
    assert await door.poisoned() == []


async def test_without_a_key_no_one_gets_in(door: Door) -> None:
    for path in ("jobs", "clusters", "jobs/j_x", "jobs/j_x/log"):
        status, _, _ = await door.call("GET", path, x_functions_key="wrong")
        assert status == 401, path
    assert (await door.call("GET", "health", x_functions_key="wrong"))[0] == 200


@pytest.mark.parametrize(
    "path",
    [
        "jobs/j_missing",
        "jobs/j_missing/log",
        "jobs?state=sleeping",
        "jobs?limit=0",
        "jobs?limit=x",
        "jobs/%01",  # the host itself answers %00, without a body
    ],
)
async def test_a_wrong_question_gets_a_problem_document(door: Door, path: str) -> None:
    status, body, headers = await door.call("GET", path)
    assert status in (400, 404)
    assert headers["Content-Type"].startswith("application/problem+json"), body
    assert body["remedy"]


async def test_validate_runs_nothing_and_says_everything(door: Door) -> None:
    status, body, _ = await door.call("POST", "validate", shell("true", nodeCount=0, colour="red"))
    assert status == 200
    assert not body["valid"]
    assert {"/properties/nodeCount", "/properties/colour"} <= {p["pointer"] for p in body["problems"]}
    assert (await door.call("POST", "validate", shell("true")))[1]["valid"]
