"""Event files of jobs, appended where they lie: a reader that keeps them open sees every point."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from shared.core.identity import short_id
from slipway.client.calls.refusal import Changed, Unanswered
from slipway.client.files.room import Room
from slipway.client.mirror.mirror import MOST_OF_JOB, MOST_OF_ROUND, Chosen, Mirror, chosen
from slipway.failure import Failure
from tests.breadth import size
from tests.unit.slipway.client.mirror.board import ONE, SWEEP, THREE, TWO, Board, Deployment, points

EVENTS = "MODEL/runs/events.out.tfevents.1700000000.node-0.17.0"
RUN = f"train-{short_id(ONE)}/MODEL/runs"


def paths(directory: Path, pattern: str = "*tfevents*") -> list[Path]:
    """What is in a directory, however deep."""
    return sorted(directory.rglob(pattern))


@pytest.fixture
def board(tmp_path: Path) -> Iterator[Board]:
    board = Board(tmp_path)
    yield board
    board.close()


def mirror_of(
    api: Deployment, to: Path, *jobs: str, sweeps: tuple[str, ...] = ()
) -> tuple[Mirror, list[str]]:
    remarks = list[str]()
    return Mirror(api, Chosen(jobs, sweeps), to, remarks.append), remarks


async def until_done(mirror: Mirror) -> int:
    for number in range(20):
        if await mirror.round():
            return number + 1
    raise AssertionError("it never ends")


async def test_a_reader_that_keeps_the_file_open_sees_every_point_live_and_after_the_end(
    tmp_path: Path, board: Board
) -> None:
    api = Deployment()
    files = api.add(ONE)
    mirror, remarks = mirror_of(api, tmp_path, ONE)
    for count in range(0, 3000, 500):
        files[EVENTS] = points(0, count)
        assert not await mirror.round()
        assert board.read().get(RUN, b"") == points(0, count)

    files[EVENTS] = points(0, 3001)
    api.records[ONE]["state"] = "succeeded"
    await until_done(mirror)

    assert board.read() == {RUN: points(0, 3001)}
    assert paths(tmp_path, ".slipway-part*") == []
    assert remarks == []


@pytest.mark.parametrize(
    "later",
    [points(0, 3, "b"), points(0, 50, "b"), points(0, 10, "b"), b"", points(0, 5)],
    ids=["shorter", "longer", "as long", "empty", "cut"],
)
async def test_a_file_that_begins_anew_does_so_beside_the_old_one(
    tmp_path: Path, board: Board, later: bytes
) -> None:
    api = Deployment()
    files = api.add(ONE)
    mirror, remarks = mirror_of(api, tmp_path, ONE)
    files[EVENTS] = points(0, 10)
    await mirror.round()
    assert board.read() == {RUN: points(0, 10)}

    files[EVENTS] = later
    await mirror.round()
    files[EVENTS] = later + points(60, 62, "b")
    await mirror.round()

    assert board.read() == {RUN: points(0, 10) + later + points(60, 62, "b")}
    assert remarks == []


async def test_a_file_that_begins_anew_again_and_again_is_given_up(tmp_path: Path) -> None:
    api = Deployment()
    files = api.add(ONE)
    mirror, remarks = mirror_of(api, tmp_path, ONE)
    for number in range(40):
        files[EVENTS] = points(0, 3, str(number))
        await mirror.round()

    assert len(paths(tmp_path)) == 20
    assert len(remarks) == 1
    assert "begun anew 19 times" in remarks[0]


async def test_the_next_call_goes_on_from_what_is_there_also_after_a_new_beginning(
    tmp_path: Path, board: Board
) -> None:
    api = Deployment()
    files = api.add(ONE)
    for run in "ab":
        files[EVENTS] = points(0, 10, run)
        mirror, _ = mirror_of(api, tmp_path, ONE)
        await mirror.round()
    files[EVENTS] = points(0, 20, "b")
    api.calls.clear()

    mirror, _ = mirror_of(api, tmp_path, ONE)
    await mirror.round()

    assert board.read() == {RUN: points(0, 10, "a") + points(0, 20, "b")}
    assert api.calls.count("content") == 1


async def test_a_changed_answer_and_no_answer_are_met_by_the_next_round(tmp_path: Path, board: Board) -> None:
    api = Deployment()
    files = api.add(ONE)
    files[EVENTS] = points(0, 10)
    mirror, remarks = mirror_of(api, tmp_path, ONE)
    api.troubles.append(Changed("416"))
    await mirror.round()
    lost = Unanswered("the app does not answer")
    lost.spent = True
    files[EVENTS] = points(0, 11)
    api.troubles.append(lost)
    await mirror.round()
    await mirror.round()

    assert board.read() == {RUN: points(0, 11)}
    assert remarks == [f"{ONE}: the app does not answer"]


async def test_each_attempt_and_each_job_of_a_sweep_has_a_folder_of_its_own(
    tmp_path: Path, board: Board
) -> None:
    api = Deployment()
    for number, job in enumerate((ONE, TWO, THREE)):
        api.add(job, name=f"lr-{number}")[EVENTS] = points(0, 10, job)
    mirror, remarks = mirror_of(api, tmp_path, sweeps=(SWEEP,))
    await mirror.round()
    api.written[TWO, 2] = {EVENTS: points(0, 5, "again")}
    api.records[TWO]["attempt"] = 2
    for record in api.records.values():
        record["state"] = "succeeded"
    for _ in range(5):
        assert not await mirror.round()
    api.sweep_state = "ended"
    await until_done(mirror)

    runs = {
        f"lr-{n}-{short_id(job)}/MODEL/runs": points(0, 10, job) for n, job in enumerate((ONE, TWO, THREE))
    }
    again = {f"lr-1-{short_id(TWO)}-attempt-2/MODEL/runs": points(0, 5, "again")}
    assert board.read() == runs | again
    assert remarks == []


async def test_a_job_that_waits_costs_its_record_and_one_without_event_files_is_named(tmp_path: Path) -> None:
    api = Deployment()
    files = api.add(ONE, "queued")
    mirror, remarks = mirror_of(api, tmp_path, ONE)
    await mirror.round()
    assert api.calls == ["job"]

    files["MODEL/tfevents/weights.bin"] = b"in a folder of that name"
    api.records[ONE]["state"] = "failed"
    await until_done(mirror)

    assert remarks == [f"{ONE} (train) wrote no event file"]
    assert paths(tmp_path, "*") == []


@pytest.mark.parametrize("name", ["..", "a/b", "x\x1b[2J", "n" * 300, ".", ""])
async def test_no_name_that_a_job_chose_leads_out_of_the_directory_or_to_the_terminal(
    tmp_path: Path, name: str
) -> None:
    to, outside = tmp_path / "to", tmp_path / "outside"
    outside.mkdir()
    api = Deployment()
    files = api.add(ONE, name=name)
    files[EVENTS] = points(0, 3)
    for path in (
        "MODEL/../../tfevents",
        "MODEL/\x1b[2Jtfevents",
        "MODEL/" + "x" * 300 + "tfevents",
        "MODEL/a\\..\\tfevents",
    ):
        files[path] = b"hostile"
    mirror, remarks = mirror_of(api, to, ONE)
    await mirror.round()
    (copy,) = paths(to)
    folder = copy.parents[2]
    assert (copy.read_bytes(), folder.parent) == (points(0, 3), to)
    assert sorted(one.name for one in paths(tmp_path, "[ot]*") if one.parent == tmp_path) == ["outside", "to"]
    assert all(line.isprintable() for line in remarks)

    # A link that stands on this disk in place of the file, or of its folder, is not followed.
    files["MODEL/more/tfevents"], files["MODEL/tfevents.2"] = b"hostile", b"hostile"
    (folder / "MODEL/more").symlink_to(outside)
    (folder / "MODEL/tfevents.2").symlink_to(outside / "file")
    await mirror.round()
    assert paths(outside, "*") == []


async def test_the_bytes_are_bounded_before_any_is_read(tmp_path: Path) -> None:
    room = Room(tmp_path, 100, lambda _: 1000)
    room.take(60)
    with pytest.raises(Failure, match="the files have"):
        room.take(41)
    room.take(40)  # what did not fit is not counted


async def test_a_file_of_terabytes_is_named_and_the_others_come(tmp_path: Path, board: Board) -> None:
    class Endless(bytes):
        def __len__(self) -> int:
            return 5 * 10**12

    api = Deployment()
    files = api.add(ONE)
    files["MODEL/runs/a.tfevents"], files[EVENTS] = Endless(), points(0, 10)
    mirror, remarks = mirror_of(api, tmp_path, ONE)
    await mirror.round()
    await mirror.round()

    assert board.read() == {RUN: points(0, 10)}
    assert len(remarks) == 1
    assert "a.tfevents: the files have 5.0 TB" in remarks[0]
    assert api.calls.count("content") == 1


def many(api: Deployment, job: str, folders: int, files: int) -> None:
    written = api.add(job, name=f"job-{job[2]}")
    for folder in range(folders):
        written[f"MODEL/{folder:03}/weights.bin"] = b""
        for number in range(files):
            written[f"MODEL/{folder:03}/events.out.tfevents.{number}"] = points(0, 1, f"{folder}.{number}")


@pytest.mark.long
async def test_a_round_takes_a_bounded_number_of_requests_and_everything_comes_in_the_end(
    tmp_path: Path, board: Board
) -> None:
    api = Deployment()
    jobs = [f"j_{letter * 24}" for letter in "abcdefghijklmnopqrst"[: size(20, 20, 8)]]
    for job in jobs:
        many(api, job, 30, 3)
    mirror, remarks = mirror_of(api, tmp_path, *jobs)
    rounds = list[int]()
    for _ in range(12):
        api.calls.clear()
        await mirror.round()
        rounds.append(len(api.calls))

    assert max(rounds) <= MOST_OF_ROUND + len(jobs)
    assert len(board.read()) == 30 * len(jobs)
    contents = (content for files in api.written.values() for content in files.values())
    assert sum(map(len, board.read().values())) == sum(map(len, contents))
    assert remarks == []

    one, folders = Deployment(), size(200, 200, 50)
    many(one, ONE, folders, 2)
    mirror, _ = mirror_of(one, tmp_path / "one", ONE)
    for _ in range(20):
        one.calls.clear()
        await mirror.round()
        assert len(one.calls) <= MOST_OF_JOB + 1
    assert len(paths(tmp_path / "one")) == 2 * folders


async def test_when_nothing_is_new_a_round_lists_folders_and_reads_nothing(tmp_path: Path) -> None:
    api = Deployment()
    api.add(ONE)[EVENTS] = points(0, 10)
    mirror, _ = mirror_of(api, tmp_path, ONE)
    await mirror.round()
    api.calls.clear()

    await mirror.round()

    assert sorted(api.calls) == ["files"] * 3 + ["job"]


async def test_a_person_names_jobs_and_sweeps_by_name(tmp_path: Path) -> None:
    class Named(Deployment):
        async def jobs(self, conditions=None, limit=50):  # type: ignore[no-untyped-def]
            listed = await super().jobs(conditions, limit)
            name = (conditions or {}).get("name", "*")
            jobs = [one for one in listed.jobs if one["name"] == name or name.endswith("*")]
            return type(listed)(jobs, None)

    api = Named()
    api.add(ONE)
    api.add(TWO, name="tune-0", sweep={"id": SWEEP, "index": 0, "values": {}})

    api.add(THREE, name="s_train")

    assert await chosen(api, ["train", ONE, "tune", SWEEP]) == Chosen([ONE], [SWEEP])
    assert await chosen(api, ["s_train", SWEEP[:8]]) == Chosen([THREE], [SWEEP])
    with pytest.raises(Failure, match="no sweep of the latest"):
        await chosen(api, ["s_none"])
    with pytest.raises(Failure, match="no job has the id or the name 'none'"):
        await chosen(api, ["none"])
