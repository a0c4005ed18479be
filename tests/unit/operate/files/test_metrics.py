"""What a job says in numbers: from which files, how much of them at a look, and where the next goes on."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from shared.core.engine import FileChunk, OutputFile
from shared.core.errors import Misuse, NotFound
from shared.core.job import Job, JobState, Target
from shared.lifecycle.archive import archive
from shared.operate.files import metrics as use_case
from shared.operate.files.cursor import START, Cursor, Position, cursor_of
from shared.operate.files.metrics import MOST_BYTES, MOST_FILES, as_json, metrics
from tests.doubles.memory_engine import MemoryEngine
from tests.unit.world import World, job_json

MODELS = {"id": "MODEL", "pathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/logs"}


class Shelves(MemoryEngine):
    """The engine with files in further directories, `MODEL/metrics.jsonl`, that logs what it is asked."""

    def __init__(self) -> None:
        super().__init__()
        self.requests: list[str] = []
        self.bytes = 0
        #: directories of which no list ends
        self.endless: set[str] = set()

    async def files(self, target: Target, directory: str, path: str = ".") -> tuple[OutputFile, ...]:
        if directory in self.endless:
            await asyncio.Event().wait()
        self.requests.append(f"list {directory}")
        return await super().files(target, directory, path)

    async def read(self, target: Target, directory: str, path: str, offset: int, limit: int) -> FileChunk:
        self.requests.append(f"{directory}/{path} {offset}")
        if directory in self.endless and directory != "stdouterr":
            await asyncio.Event().wait()
        name = path if directory == "stdouterr" else f"{directory}/{path}"
        answer = await super().read(target, "stdouterr", name, offset, limit)
        self.bytes += len(answer.data)
        return answer

    @contextmanager
    def requests_of(self) -> Iterator[list[str]]:
        """What is asked of it meanwhile."""
        self.requests, self.bytes = [], 0
        yield self.requests


@pytest.fixture
def shelves(world: World) -> Shelves:
    world.engine = world.ports.engines.engine = Shelves()  # type: ignore[attr-defined]
    return world.engine


async def running(world: World, **properties: Any) -> Job:
    job = (await world.message(job_json(**properties))).job
    world.engine.set_state(world.engine.started[-1], JobState.RUNNING)
    await world.make_pass()
    return job


async def ended(world: World) -> None:
    world.engine.set_state(world.engine.started[0], JobState.SUCCEEDED)
    await world.make_pass()


def line(**members: Any) -> bytes:
    return json.dumps({"slipway": members}).encode() + b"\n"


async def metrics_of(world: World, job: Job, after: str = "") -> dict[str, Any]:
    return as_json(await metrics(world.ports, job.id, after))


def points(answer: dict[str, Any]) -> dict[str, list[Any]]:
    return {f"{one['file']} {one['name']}": one["points"] for one in answer["series"]}


async def test_numbers_come_from_what_is_printed_from_files_of_their_own_and_from_the_nodes(
    world: World, shelves: Shelves
) -> None:
    job = await running(world, outputDirectories=[MODELS])
    shelves.output |= {
        "stdout.txt": b"hello\n" + line(epoch=1, loss=0.5),
        "stdout-1.txt": line(epoch=1, loss=0.6),
        "stdout-job_prep.txt": line(epoch=1, loss=9),
        "stderr.txt": line(epoch=1, loss=9),
        "usage.jsonl": b'{"time": 100, "rank": 0, "cpu_percent": 7}\n',
        "metrics.jsonl": b'{"step": 1, "a": 1}\n',
        "MODEL/metrics.jsonl": b'{"step": 1, "b": 1}\n',
    }

    answer = await metrics_of(world, job)

    assert points(answer) == {
        "MODEL/metrics.jsonl b": [[1, 1]],
        "stdouterr/metrics.jsonl a": [[1, 1]],
        "stdouterr/usage.jsonl cpu_percent": [[100, 7]],
        "stdouterr/stdout-1.txt loss": [[1, 0.6]],
        "stdouterr/stdout.txt loss": [[1, 0.5]],
    }
    assert (answer["more"], answer["restarted"], "note" in answer) == (False, False, False)
    usage = next(one for one in answer["series"] if one["name"] == "cpu_percent")
    assert (usage["axis"], usage["rank"], usage["count"]) == ("time", 0, 1)


async def test_a_look_at_what_has_not_changed_costs_one_list_and_one_read_a_directory(
    world: World, shelves: Shelves
) -> None:
    job = await running(world, outputDirectories=[MODELS])
    shelves.output |= {"stdout.txt": line(epoch=1, loss=1), "MODEL/metrics.jsonl": line(epoch=1, a=1)}
    with shelves.requests_of() as request:
        first = await metrics_of(world, job)
    assert request == ["list stdouterr", "MODEL/metrics.jsonl 0", "stdouterr/stdout.txt 0"]

    with shelves.requests_of() as request:
        idle = await metrics_of(world, job, first["next"])
    assert request == ["list stdouterr", f"MODEL/metrics.jsonl {len(line(epoch=1, a=1)) - 1}"]
    assert shelves.bytes == 1
    assert (idle["series"], idle["next"]) == ([], first["next"])

    shelves.output["stdout.txt"] += line(epoch=2, loss=2)
    assert points(await metrics_of(world, job, idle["next"])) == {"stdouterr/stdout.txt loss": [[2, 2]]}


async def test_lines_are_counted_on_from_answer_to_answer(world: World, shelves: Shelves) -> None:
    job = await running(world)
    shelves.output["stdout.txt"] = line(loss=1) + b"words\n" + line(loss=2) + b'{"slipway": {"los'
    first = await metrics_of(world, job)
    shelves.output["stdout.txt"] += b's": 3}}\n'
    second = await metrics_of(world, job, first["next"])

    assert points(first) == {"stdouterr/stdout.txt loss": [[1, 1], [2, 2]]}
    assert points(second) == {"stdouterr/stdout.txt loss": [[3, 3]]}


async def test_the_last_line_counts_after_the_end_also_without_its_break(
    world: World, shelves: Shelves
) -> None:
    job = await running(world)
    shelves.output["stdout.txt"] = line(epoch=1, loss=1).rstrip()
    before = await metrics_of(world, job)
    await ended(world)
    after = await metrics_of(world, job, before["next"])
    late = await metrics_of(world, job, after["next"])

    assert [points(one) for one in (before, after, late)] == [
        {},
        {"stdouterr/stdout.txt loss": [[1, 1]]},
        {},
    ]


@pytest.mark.long
async def test_an_answer_reads_a_bounded_part_and_the_next_one_goes_on(
    world: World, shelves: Shelves
) -> None:
    job = await running(world)
    lines = b"".join(line(step=number, loss=number, note=400 * "x") for number in range(25_000))
    shelves.output |= {"stdout.txt": lines, "stdout-1.txt": line(step=1, loss=1)}
    assert len(lines) > MOST_BYTES
    answers: list[dict[str, Any]] = []
    while not answers or answers[-1]["more"]:
        with shelves.requests_of():
            answers.append(await metrics_of(world, job, answers[-1]["next"] if answers else ""))
        assert shelves.bytes <= MOST_BYTES
    series = [one for answer in answers for one in answer["series"]]
    steps = [x for one in series if one["file"] == "stdouterr/stdout.txt" for x, _ in one["points"]]

    assert len(answers) == len(lines) // MOST_BYTES + 1
    assert sum(one["count"] for one in series) == 25_001
    assert all(len(one["points"]) <= 500 for one in series)
    assert steps == sorted(steps)
    assert (steps[0], steps[-1]) == (0, 24_999)


async def test_reading_begins_anew_with_another_attempt_or_a_shorter_file(
    world: World, shelves: Shelves
) -> None:
    job = await running(world)
    shelves.output["stdout.txt"] = line(epoch=1, loss=1) + line(epoch=2, loss=2)
    first = await metrics_of(world, job)
    shelves.output["stdout.txt"] = line(epoch=1, loss=9)
    second = await metrics_of(world, job, first["next"])
    cursor = cursor_of(second["next"])
    other = await metrics_of(world, job, Cursor((cursor.run[0] + 1, cursor.run[1]), cursor.positions).text())

    for answer in (second, other):
        assert answer["restarted"]
        assert points(answer) == {"stdouterr/stdout.txt loss": [[1, 9]]}


async def test_files_beyond_the_bound_are_said_to_be_left_out(world: World, shelves: Shelves) -> None:
    job = await running(world)
    shelves.output |= {f"stdout-{rank}.txt": line(epoch=1, loss=rank) for rank in range(MOST_FILES + 5)}
    shelves.output |= {f"stdout-{'n' * 80}.txt": line(epoch=1, loss=1), "stdout-\n.txt": line(a=1)}
    shelves.output["usage.jsonl"] = b'{"rank": 0, "time": 1, "memory_mib": 1}\n'

    answer = await metrics_of(world, job)

    assert [one["file"] for one in answer["series"]] == [
        *(f"stdouterr/stdout-{rank}.txt" for rank in range(MOST_FILES - 1)),
        "stdouterr/usage.jsonl",
    ]
    assert answer["note"] == "left out: 6 files beyond 32"
    assert len(answer["next"]) < 8000


async def test_series_beyond_the_bound_are_said_to_be_left_out(world: World, shelves: Shelves) -> None:
    job = await running(world)
    shelves.output["stdout.txt"] = b"".join(line(step=1, **{f"m{number}": 1}) for number in range(210))
    assert (await metrics_of(world, job))["note"] == "left out: 10 numbers beyond 200 series"


async def test_no_secret_of_the_job_stands_in_a_name(world: World, shelves: Shelves) -> None:
    job = await running(world, secrets=[{"name": "TOKEN", "value": "canary-4711"}])
    shelves.output["stdout.txt"] = line(epoch=1, **{"canary-4711": 1, "of canary-4711 too": 2, "loss": 3})

    answer = await metrics_of(world, job)

    assert [one["name"] for one in answer["series"]] == ["***", "of *** too", "loss"]
    assert "canary" not in json.dumps(answer)


async def test_a_job_without_a_node_has_no_numbers_yet(world: World, shelves: Shelves) -> None:
    waits = (await world.message(job_json(nodeCount=0))).job
    with pytest.raises(Misuse) as early:
        await metrics_of(world, waits)
    assert early.value.status == 409
    assert (await metrics_of(world, await running(world)))["series"] == []


async def test_where_a_cluster_shows_no_files_its_reason_is_given_after_the_end(
    world: World, shelves: Shelves, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = await running(world)

    async def unseen(target: Target, directory: str, path: str = ".") -> tuple[OutputFile, ...]:
        raise NotFound("the files of dev cannot be seen from here")

    monkeypatch.setattr(shelves, "files", unseen)
    assert (await metrics_of(world, job))["series"] == []
    await ended(world)
    with pytest.raises(Misuse, match="cannot be seen from here") as absent:
        await metrics_of(world, job)
    assert absent.value.status == 404


async def test_an_archived_job_has_no_files_any_more(world: World, shelves: Shelves) -> None:
    job = await running(world)
    await ended(world)
    world.pass_time(31 * 86_400)
    assert (await archive(world.ports)).jobs == 1
    with pytest.raises(Misuse, match="the job is archived"):
        await metrics_of(world, job)


@pytest.mark.parametrize(
    "text",
    [
        "x",
        "é",
        "!!!!",
        "bnVsbA",
        "W10",
        "A" * 9000,
        Cursor((-1, 0), {}).text(),
        Cursor((1, 2), {"f": Position(-5, 0)}).text(),
        Cursor((1, 2), {"f": Position(2**60, 0)}).text(),
        Cursor((1, 2), {"f": Position(True, 0)}).text(),
        "W" * 7000,
    ],
)
async def test_what_is_no_cursor_is_refused(world: World, shelves: Shelves, text: str) -> None:
    job = await running(world)
    with pytest.raises(Misuse) as refused:
        await metrics_of(world, job, text)
    assert (refused.value.status, refused.value.remedy) == (400, "leave it out to start from the beginning")


def test_a_cursor_is_read_as_it_was_written() -> None:
    cursor = Cursor((2, 7), {"stdouterr/stdout.txt": Position(123, 4), "MODEL/metrics.jsonl": Position(0, 0)})
    assert cursor_of(cursor.text()) == cursor
    assert cursor_of("") is START


async def test_a_caller_chooses_how_many_points_there_are(world: World, shelves: Shelves) -> None:
    job = await running(world)
    shelves.output["stdout.txt"] = b"".join(line(step=step, loss=step) for step in range(1000))
    answer = await metrics(world.ports, job.id)

    assert [len(one["points"]) for one in as_json(answer, "10")["series"]] == [10]
    for text in ("3", "2001", "-4", "x", "٤", "9" * 5000):
        with pytest.raises(Misuse, match="points must be a number from 4 to 2000"):
            as_json(answer, text)


async def test_many_series_share_the_points_of_an_answer(world: World, shelves: Shelves) -> None:
    job = await running(world)
    shelves.output["stdout.txt"] = b"".join(
        line(step=step, **{f"m{number}": step for number in range(10)}) for step in range(50)
    )
    answer = as_json(await metrics(world.ports, job.id), most_points=100)
    assert {len(one["points"]) for one in answer["series"]} == {10}


def test_files_are_read_in_the_order_of_the_numbers_in_their_names() -> None:
    names = ["stdout-10.txt", "stdout-9.txt", "stdout-1²2.txt", "stdout-1.txt"]
    assert sorted(names, key=use_case._in_order) == [
        "stdout-1.txt",
        "stdout-1²2.txt",
        "stdout-9.txt",
        "stdout-10.txt",
    ]


@pytest.mark.parametrize("slow", ["MODEL", "stdouterr"])
async def test_a_folder_that_takes_long_to_search_costs_its_own_numbers_only(
    world: World, shelves: Shelves, slow: str
) -> None:
    job = await running(world, outputDirectories=[MODELS])
    shelves.output |= {"stdout.txt": line(epoch=1, loss=1), "MODEL/metrics.jsonl": line(epoch=1, a=1)}
    world.policy(metrics_patience=0.0)
    shelves.endless.add(slow)

    answer = await metrics_of(world, job)

    if slow == "MODEL":
        assert list(points(answer)) == ["stdouterr/stdout.txt loss"]
        assert answer["note"] == "left out: 1 files in folders with too many names to search now"
    else:  # its files are read by their usual names
        assert list(points(answer)) == ["MODEL/metrics.jsonl a", "stdouterr/stdout.txt loss"]
    shelves.endless.clear()
    assert "note" not in await metrics_of(world, job)
