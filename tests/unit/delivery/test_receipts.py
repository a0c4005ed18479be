"""What is left for a person: the receipt and the diagnostics; and that it starts nothing."""

from __future__ import annotations

import json
import tomllib
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import shared
from shared.core.engine import OutputFile
from shared.core.errors import Misconfigured, Transient
from shared.core.job import Entry, Job, JobState, Reason
from shared.core.messages import digest
from shared.delivery.receipt import attempts
from shared.intake.arrive import blob_arrived, message_arrived
from tests.doubles.memory_engine import MemoryEngine
from tests.unit.dropped_folder import drop_folder, end, status_line_of, status_lines
from tests.unit.world import World, job_json


async def test_a_rejected_drop_has_its_line_and_its_diagnostics_twice(world: World) -> None:
    job = await drop_folder(world, nodeCuont=2)

    assert status_lines(world) == ["rejected"]
    assert "invalid" in status_line_of(world, job)
    assert b"nodeCuont" in world.drops.receipt_files[f"{job.receipt}/diagnostics.txt"]
    receipt = json.loads(world.drops.receipt_files[f"{job.receipt}/diagnostics.json"])
    assert not receipt["valid"]
    assert receipt["problems"] == list(job.problems)


async def test_what_ran_before_a_requeue_is_not_counted(world: World) -> None:
    job = await drop_folder(world, nodeCount=2)
    name = world.engine.started[0]
    world.engine.set_state(name, JobState.RUNNING, started=world.now)
    await world.make_pass()
    world.engine.set_state(name, JobState.QUEUED)
    await world.make_pass(36_000)
    world.engine.set_state(name, JobState.RUNNING, started=world.now)
    await world.make_pass()
    # Requeued once more, and unseen: between two passes.
    again = world.now + timedelta(seconds=30)
    await end(world, JobState.SUCCEEDED, started=again, ended=again + timedelta(seconds=18))

    assert (world.receipt(job)["ranSeconds"], world.receipt(job)["nodeHours"]) == (18.0, 0.01)


async def test_the_receipt_says_what_went_in_what_came_out_and_what_it_took(world: World) -> None:
    outputs = [{"id": "MODEL", "pathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/logs", "pathSuffix": "model"}]
    job = await drop_folder(world, nodeCount=2, outputDirectories=outputs)
    started = world.now
    world.pass_time(1800)
    await end(
        world,
        JobState.SUCCEEDED,
        exit_code=0,
        started=started,
        ended=started.replace(hour=started.hour + 1),
    )

    receipt = world.receipt(job)

    assert {file["name"] for file in receipt["drop"]["files"]} == {
        "digits/run/job.json",
        "digits/run/train.py",
    }
    assert all(file["etag"] and len(file["sha256"]) == 64 for file in receipt["drop"]["files"])
    assert receipt["spec"]["sha256"] == digest(receipt["accepted"])
    assert receipt["versions"] == {"slipway": shared.__version__, "format": "2018-05-01", "engine": "memory"}
    assert (receipt["cluster"], receipt["nodes"], receipt["nodeHours"], receipt["exitCode"]) == (
        "dev",
        2,
        2.0,
        0,
    )
    assert receipt["ranSeconds"] == 3600
    (attempt,) = receipt["attempts"]
    assert (attempt["attempt"], attempt["state"]) == (1, "succeeded")
    assert {"acceptedAt", "submittingAt", "queuedAt", "endedAt"} <= attempt.keys()
    assert [(one["id"], one["files"]) for one in receipt["outputs"]] == [
        ("stdouterr", f"/api/jobs/{job.id}/files?directory=stdouterr"),
        ("MODEL", f"/api/jobs/{job.id}/files?directory=MODEL"),
    ]


async def test_a_failed_jobs_receipt_ends_with_what_it_wrote_last_without_its_secrets(world: World) -> None:
    job = await drop_folder(world, secrets=[{"name": "TOKEN", "value": "canary-4711"}])
    words = [f"line {n}" for n in range(900)] + ["the key is canary-4711", "and storage-key", "boom"]
    world.engine.output = {"stdout.txt": b"out", "stderr.txt": "\n".join(words).encode()}
    await end(world, JobState.FAILED, exit_code=1, reason=Reason.USER)

    last = world.receipt(job)["lastLines"]

    assert last["file"] == "stderr.txt"
    assert last["lines"][-3:] == ["the key is ***", "and ***", "boom"]
    assert len(last["lines"]) == 20
    assert "canary-4711" not in str(world.drops.receipt_files) + str(world.ledger.rows)


async def test_a_failed_preparation_shows_its_own_lines(world: World) -> None:
    job = await drop_folder(world)
    world.engine.output = {"stderr.txt": b"not this", "stderr-job_prep.txt": b"no such package"}
    await end(world, JobState.FAILED, exit_code=1, reason=Reason.PREPARATION)
    assert world.receipt(job)["lastLines"] == {"file": "stderr-job_prep.txt", "lines": ["no such package"]}


@pytest.mark.parametrize("error", [Transient("away"), Misconfigured("login")])
async def test_an_engine_that_gives_no_lines_delays_no_receipt(world: World, error: Exception) -> None:
    class Mute(MemoryEngine):
        async def files(self, *args: Any, **named: Any) -> tuple[OutputFile, ...]:
            raise error

    world.engine.__class__ = Mute
    job = await drop_folder(world)
    await end(world, JobState.FAILED, exit_code=1)

    assert world.receipt(job)["state"] == "failed"
    assert "lastLines" not in world.receipt(job)


def test_attempts_are_kept_apart(world: World) -> None:
    history = tuple(
        Entry(sequence=n, state=state, at=world.now, token=f"t{n}", attempt=attempt)
        for n, (state, attempt) in enumerate(
            [
                (JobState.ACCEPTED, 1),
                (JobState.SUBMITTING, 1),
                (JobState.RUNNING, 1),
                (JobState.ACCEPTED, 2),
                (JobState.SUCCEEDED, 2),
            ]
        )
    )
    job = Job(
        id="j_x",
        key="k",
        payload="p",
        door="http",
        name="n",
        experiment="e",
        cluster="c",
        state=JobState.SUCCEEDED,
        attempt=2,
        created=world.now,
        due=world.now,
        history=history,
    )
    assert [(one["attempt"], one["state"]) for one in attempts(job)] == [(1, "failed"), (2, "succeeded")]


def test_the_version_in_receipts_is_that_of_the_project() -> None:
    root = Path(__file__).resolve().parents[3]
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    assert shared.__version__ == project["version"]


async def test_a_receipt_starts_nothing(world: World) -> None:
    job = await drop_folder(world)
    await end(world, JobState.SUCCEEDED)
    receipt = world.drops.receipt_files[f"{job.receipt}/receipt.json"]
    document = json.dumps(job_json()).encode()
    event = {
        "specversion": "1.0",
        "type": "Microsoft.Storage.BlobCreated",
        "source": "/x",
        "id": "1",
        "subject": f"/blobServices/default/containers/runs/blobs/{job.receipt}/job.json",
        "data": {},
    }

    for name, body in (("receipt.json", receipt), ("job.json", document)):
        await world.drops.put_receipt_file(f"{job.receipt}/{name}", body, replace=True)
        looked = await blob_arrived(world.ports, "runs", f"{job.receipt}/{name}")
        assert looked.accepted == ()
    assert await message_arrived(world.ports, json.dumps(event).encode(), "m1") == []
    named = await world.message({"specBlob": f"runs/{job.receipt}/job.json"}, "m2")
    queued = await world.message(receipt, "m3")
    world.drops.upload("again/job.json", receipt)
    world.pass_time(10)
    dropped = await blob_arrived(world.ports, "scripts", "again/job.json")

    states = [named.job.state, queued.job.state, dropped.accepted[0].job.state]
    assert states == [JobState.REJECTED] * 3
    assert len(world.engine.started) == 1


@pytest.mark.parametrize("name", ["stderr\udcff", "stderr\n\x1b[2J"])
async def test_any_name_of_a_file_of_a_job_leaves_it_a_receipt(world: World, name: str) -> None:
    job = await drop_folder(world)
    world.engine.output = {name: b"boom"}
    await end(world, JobState.FAILED, reason=Reason.USER, exit_code=1, message="text \ud800 \0")

    last = world.receipt(job)["lastLines"]
    assert last["lines"] == ["boom"]
    assert last["file"].isprintable()


async def test_a_directory_that_breaks_its_reader_costs_the_last_lines_alone(world: World) -> None:
    world.engine.refuses["files"] = OverflowError("year 3170843 is out of range")
    job = await drop_folder(world)
    await end(world, JobState.FAILED, reason=Reason.USER, exit_code=1)

    assert world.receipt(job)["state"] == "failed"
    assert "lastLines" not in world.receipt(job)


async def test_notes_of_an_attempt_that_waits_leave_the_end_of_the_one_before_it(world: World) -> None:
    job = (await world.message({"spec": job_json(), "retry": {"infrastructure": 1}})).job
    world.engine.set_state(
        world.engine.started[0], JobState.FAILED, reason=Reason.INFRASTRUCTURE, message="lost"
    )
    await world.make_pass()
    first = attempts(await world.job(job.id))
    world.use(engines=type(world.ports.engines)(world.engine, {}))  # type: ignore[call-arg]
    await world.make_pass(700)

    assert attempts(await world.job(job.id)) == first
    assert (await world.job(job.id)).waiting.word == "Parked"  # type: ignore[union-attr]
