"""docs/how-to/run-jobs-in-order.md: its commands and its message, and what it says of every door."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

import pytest

from shared.jobspec import read_envelope
from tests.acceptance.commands.person import slipway
from tests.acceptance.door import Door, shell, unique
from tests.acceptance.pages.page import blocks, play

PAGE = "how-to/run-jobs-in-order.md"
pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_the_page_does_what_it_says(door: Door, tmp_path: Path) -> None:
    texts = zip(("prepare", "train", "report"), (*blocks(PAGE, "python")[:2], "print(1)"), strict=True)
    for name, text in texts:
        (tmp_path / f"{name}.py").write_text(f"import time\ntime.sleep(1)\n{text}\n")

    output = await play(door, tmp_path, "\n".join(blocks(PAGE, "sh")))

    assert "dependency" in output
    train, report = (await door.jobs(name="train"))[0], (await door.jobs(name="report"))[0]
    assert train["state"] == "succeeded"
    _, printed, _ = await slipway(door, tmp_path, "log", "train", "--stdout")
    assert printed == "trains with 1,2\n\n"
    assert (report["state"], report["reason"]) == ("cancelled", "dependency")
    assert train["after"][0]["job"] == report["afterFailure"][0]["job"]


async def test_its_message_is_an_envelope() -> None:
    (message,) = blocks(PAGE, "json")

    assert read_envelope(json.loads(message)).problems == ()


@pytest.mark.thorough
async def test_jobs_run_in_the_order_that_they_ask_for(door: Door, tmp_path: Path) -> None:
    data, clean, test = unique("data"), unique("clean"), unique("test")
    _, first, _ = await door.call("POST", "jobs", {"name": data, "spec": shell("sleep 2")})
    members = {"name": clean, "spec": shell("true"), "afterFailure": [data], "notify": [door.hook(clean)]}
    status, waits, _ = await door.call("POST", "jobs", members)
    assert (status, waits["state"], waits["waiting"]["word"]) == (202, "accepted", "Dependency")
    assert waits["afterFailure"] == [{"job": first["id"], "name": data, "met": False}]
    folder = unique("train")
    await door.drop(f"{folder}/slipway.json", {"after": [data]})
    await door.drop(f"{folder}/job.json", shell("true"))
    (tmp_path / f"{test}.sh").write_text("true\n")
    code, out, err = await slipway(
        door, tmp_path, "run", "--detach", "--after", first["id"][:12], f"{test}.sh"
    )
    assert code == 0, err

    ended = await door.ended(name=data)
    trained, tested = await door.ended(experiment=folder), await door.ended(id=out.strip())
    cancelled = await door.ended(name=clean)

    assert [job["state"] for job in (ended, trained, tested)] == ["succeeded"] * 3
    for job in (trained, tested):
        assert datetime.fromisoformat(job["startedAt"]) >= datetime.fromisoformat(ended["endedAt"])
        assert job["after"] == [{"job": first["id"], "name": data, "met": True}]
    assert (cancelled["state"], cancelled["reason"]) == ("cancelled", "dependency")
    (event,) = await door.event(clean, "io.slipway.job.cancelled.v1")
    assert event["verified"]


async def test_a_job_that_is_not_there_is_refused_with_the_name_that_was_meant(door: Door) -> None:
    name = unique("prepare")
    await door.call("POST", "jobs", {"name": name, "spec": shell("true")})

    status, problem, _ = await door.call("POST", "jobs", {"spec": shell("true"), "after": [f"{name[:-1]}"]})

    assert status == 422
    (error,) = (one for one in problem["errors"] if one["severity"] == "error")
    assert (error["code"], error["pointer"]) == ("SW112", "/after/0")
    assert f'did you mean "{name}"?' in error["message"]
