"""What a page that watches a job asks for: the job, the end of its log, its new numbers, in one answer."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from shared.answers.output import LiveJob
from shared.core.caller import KEY_HOLDER
from shared.core.engine import FileChunk
from shared.core.errors import Misuse, Transient
from shared.core.job import Job, JobState, Reason, Target
from shared.operate.files.live import live
from shared.operate.files.output import LOG_CHUNK
from tests.doubles.memory_engine import MemoryEngine
from tests.unit.world import World, job_json


async def running(world: World, **files: bytes) -> Job:
    """A job that runs and has written these files, `_` for `.` in their names."""
    job = (await world.message(job_json())).job
    world.engine.output |= {name.replace("_", "."): data for name, data in files.items()}
    world.engine.set_state(world.engine.started[-1], JobState.RUNNING)
    await world.make_pass()
    return job


async def watched(world: World, job: Job, after: str = "", **query: str) -> dict[str, Any]:
    """The answer, which has the form that is declared."""
    body = await live(world.ports, job.id, after, KEY_HOLDER, **query)
    LiveJob.model_validate(body)
    assert body["job"]["id"] == job.id
    return body


def texts(body: dict[str, Any]) -> dict[str, str]:
    return {part["file"]: base64.b64decode(part["data"]).decode() for part in body["log"]}


async def test_the_first_answer_has_both_streams_the_names_and_the_numbers(world: World) -> None:
    line = json.dumps({"slipway": {"epoch": 1, "loss": 0.5}})
    job = await running(world, stdout_txt=f"{line}\n".encode(), stderr_txt=b"warned\n", execution_log=b"x")

    body = await watched(world, job)

    assert texts(body) == {"stdout.txt": f"{line}\n", "stderr.txt": "warned\n"}
    assert body["files"] == ["execution.log", "stderr.txt", "stdout.txt"]
    assert [one["name"] for one in body["metrics"]["series"]] == ["loss"]
    assert (body["job"]["state"], body["restarted"], body.get("note")) == ("running", False, None)


async def test_a_following_answer_has_what_was_written_since_and_is_the_same_while_nothing_is(
    world: World,
) -> None:
    job = await running(world, stdout_txt=b"one\n", stderr_txt=b"warned\n")
    first = await watched(world, job)
    world.engine.output["stdout.txt"] += b"two\n"

    second = await watched(world, job, first["next"])
    third = await watched(world, job, second["next"])

    assert texts(second) == {"stdout.txt": "two\n"}
    assert second["log"][0]["start"] == len(b"one\n")
    assert "files" not in second
    assert third["log"] == []
    assert await watched(world, job, third["next"]) == third  # which its ETag makes a 304
    world.engine.output["stdout-1.txt"] = b""
    assert "stdout-1.txt" in (await watched(world, job, third["next"]))["files"]


async def test_of_much_the_end_comes_and_its_start_says_what_is_left_out(world: World) -> None:
    job = await running(world, stdout_txt=b"a" * (3 * LOG_CHUNK))

    first = await watched(world, job)
    world.engine.output["stdout.txt"] += b"b" * (5 * LOG_CHUNK)
    second = await watched(world, job, first["next"])

    assert (first["log"][0]["start"], first["log"][0]["size"]) == (2 * LOG_CHUNK, 3 * LOG_CHUNK)
    assert (second["log"][0]["start"], len(texts(second)["stdout.txt"])) == (7 * LOG_CHUNK, LOG_CHUNK)


async def test_a_file_that_another_run_began_anew_is_read_from_its_start(world: World) -> None:
    job = await running(world, stdout_txt=b"a long first run\n")
    first = await watched(world, job)
    world.engine.output["stdout.txt"] = b"again\n"

    second = await watched(world, job, first["next"])

    assert (texts(second), second["restarted"]) == ({"stdout.txt": "again\n"}, True)


async def test_another_attempt_begins_anew_and_the_one_before_can_be_watched(world: World) -> None:
    job = (await world.message({"spec": job_json(), "retry": {"user": 1}})).job
    (first,) = world.engine.started
    world.engine.outputs[first] = {"stdout.txt": b"1\n"}
    world.engine.set_state(first, JobState.RUNNING)
    await world.make_pass()
    begun = await watched(world, job)
    world.engine.set_state(first, JobState.FAILED, reason=Reason.USER, exit_code=3)
    await world.make_pass()
    await world.make_pass(3600)
    world.engine.outputs[world.engine.started[-1]] = {"stdout.txt": b"2\n"}
    world.engine.set_state(world.engine.started[-1], JobState.RUNNING)
    await world.make_pass()

    body = await watched(world, job, begun["next"])
    before = await watched(world, job, attempt="1")

    assert (texts(body), body["restarted"], body["job"]["attempt"]) == ({"stdout.txt": "2\n"}, True, 2)
    assert texts(before) == {"stdout.txt": "1\n"}


@pytest.mark.parametrize(
    ("file", "names"),
    [
        ("stdout-1.txt", ["stdout-1.txt", "stderr-1.txt"]),
        ("stderr-0.txt", ["stdout-0.txt", "stderr-0.txt"]),
        ("execution.log", ["execution.log"]),
        ("", ["stdout-0.txt", "stderr-0.txt"]),
    ],
)
async def test_a_process_is_chosen_by_one_of_its_files(world: World, file: str, names: list[str]) -> None:
    written = {f"std{kind}-{rank}.txt": b"x\n" for kind in ("out", "err") for rank in (0, 1)}
    job = await running(world)
    world.engine.output |= {**written, "execution.log": b"x\n"}

    assert list(texts(await watched(world, job, file=file))) == names


async def test_a_job_that_waits_is_shown_without_a_log(world: World) -> None:
    job = (await world.message(job_json(nodeCount=0))).job

    body = await watched(world, job)

    assert (body["log"], "metrics" in body, "note" in body) == ([], False, False)


class Silent(MemoryEngine):
    """The engine while its cluster does not answer for files."""

    async def read(self, target: Target, directory: str, path: str, offset: int, limit: int) -> FileChunk:
        raise Transient("the cluster does not answer")


async def test_a_cluster_that_does_not_answer_hides_its_log_and_not_the_job(world: World) -> None:
    world.engine = world.ports.engines.engine = Silent()  # type: ignore[attr-defined]
    job = await running(world, stdout_txt=b"one\n")

    body = await watched(world, job)

    assert (body["note"], body["log"]) == ("the cluster does not answer.", [])


@pytest.mark.parametrize(
    "query",
    [{"after": "nonsense"}, {"after": "WzEsMl0"}, {"file": "../x"}, {"attempt": "0"}, {"points": "1"}],
)
async def test_a_question_that_is_none_is_refused(world: World, query: dict[str, str]) -> None:
    job = await running(world, stdout_txt=b"one\n")
    with pytest.raises(Misuse) as caught:
        await watched(world, job, **{"after": "", **query})
    assert caught.value.status == 400


async def test_the_log_of_a_job_that_failed_is_that_of_the_process_that_failed_first(world: World) -> None:
    job = await running(world)
    trace = b"Traceback\nValueError: no\n"
    world.engine.output = {"stdout-0.txt": b"x\n", "stdout-1.txt": b"y\n", "stderr-1.txt": trace}
    world.engine.set_state(world.engine.started[-1], JobState.FAILED, reason=Reason.USER, exit_code=1)
    await world.make_pass()

    body = await watched(world, job)

    assert body["job"]["errorLines"]["file"] == "stderr-1.txt"
    assert list(texts(body)) == ["stdout-1.txt", "stderr-1.txt"]
