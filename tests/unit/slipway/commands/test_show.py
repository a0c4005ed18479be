"""One job and its files, as a person sees them."""

import pytest

from shared.core.view import remedy_of
from slipway.commands.costs import lines as costs
from slipway.commands.files.files import rows
from slipway.commands.jobs.listing import View
from slipway.commands.jobs.listing import lines as listed
from slipway.commands.show import lines


def test_a_job_is_shown_with_its_problems_in_place_its_history_and_its_receipt() -> None:
    problem = {
        "severity": "error",
        "code": "SW012",
        "pointer": "/properties/nodeCuont",
        "line": 4,
        "column": 5,
    }
    reports = lines(
        {
            "id": "j_1",
            "name": "digits",
            "state": "failed",
            "reason": "user",
            "exitCode": 3,
            "attempt": 2,
            "receipt": "runs/digits/receipt.json",
            "engine": {"name": "x"},
            "problems": [{**problem, "message": "unknown property", "remedy": "remove it"}],
            "history": [
                {"sequence": 1, "state": "failed", "at": "2026-01-01T12:00:00Z", "attempt": 2, "note": "so"}
            ],
        },
        utc=True,
    )

    assert reports[0] == "j_1  digits: failed (user), exit code 3"
    assert "receipt  runs/digits/receipt.json" in reports
    assert "job.json:4:5: error SW012 properties.nodeCuont: unknown property" in reports
    assert "2026-01-01 12:00:00Z  2        failed  so" in reports
    assert reports[-5:] == [
        "slipway log j_1",
        "slipway log j_1 --attempt 1",
        "slipway files j_1",
        "slipway download j_1",
        "slipway events list j_1",
    ]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0.00"),
        (0.000_01, "less than 0.01"),
        (0.009_9, "less than 0.01"),
        (0.01, "0.01"),
        (1234.5, "1,234.50"),
    ],
)
def test_what_is_less_than_two_decimals_show_is_not_nothing(value: float, text: str) -> None:
    used = {"nodeHours": value, "gpuHours": 0.0, "cost": value, "currency": "USD"}
    reports = lines({"id": "j_1", "name": "n", "state": "succeeded", "usage": used}, utc=True)
    assert f"used  {text} node-hours, {text} USD" in reports
    row = {"name": "n", "jobs": 1, **used, "gpuHours": value}
    assert costs([row], "name")[1].endswith(f"  {text} USD")


def test_what_helps_against_an_error_stands_below_it() -> None:
    error = "ModuleNotFoundError: No module named 'sklearn.tree'"
    remedy = remedy_of(error)
    assert remedy.startswith("sklearn is not where the job runs: list its package in requirements.txt")
    job = {"id": "j_1", "name": "n", "state": "failed", "lastError": error, "remedy": remedy}
    assert lines(job)[1:3] == [f"  {error}", f"  {remedy}"]


@pytest.mark.parametrize(
    "error", ["", "ImportError: x", "ModuleNotFoundError: No module named 'a b'", "No module named 'x'"]
)
def test_of_other_errors_no_remedy_is_known(error: str) -> None:
    assert remedy_of(error) == ""


@pytest.mark.parametrize(
    ("error", "remedy"),
    [
        (
            "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB",
            "the memory of the GPU",
        ),
        ("OSError: [Errno 28] No space left on device: 'model.pt'", "a disk is full"),
        (
            "RuntimeError: [Rank 3] Watchdog caught collective operation timeout",
            "a process waited for another",
        ),
        ("torch.distributed.DistBackendError: NCCL communicator: timed out", "a process waited for another"),
        ("FileNotFoundError: [Errno 2] No such file or directory: '/data/x.tfrecord'", "it may be a path of"),
        ("FileNotFoundError: [Errno 2] No such file or directory: 'x.tfrecord'", ""),
    ],
)
def test_usual_errors_have_their_remedy(error: str, remedy: str) -> None:
    assert remedy_of(error).startswith(remedy)
    assert bool(remedy_of(error)) == bool(remedy)


def test_a_job_of_a_team_is_shown_with_who_asked_for_it_and_its_place_in_the_line() -> None:
    text = "waits for its turn in the team vision; it is number 3 in its team's line"
    waiting = {"word": "TeamQuota", "text": text, "since": "2026-01-01T12:00:00Z", "position": 3}
    job = {"id": "j_1", "name": "digits", "state": "accepted", "owner": "ann", "team": "vision"}

    reports = lines({**job, "attempt": 1, "receipt": "r", "waiting": waiting}, utc=True)

    assert f"  {text} (TeamQuota, since 2026-01-01 12:00:00Z)" in reports
    shown = {tuple(line.split(maxsplit=1)) for line in reports if line}
    assert {("owner", "ann"), ("team", "vision"), ("place", "in line  3")} <= shown


def test_files_have_sizes_folders_a_slash_and_names_nothing_that_moves_the_cursor() -> None:
    results: list[dict[str, object]] = [
        {"name": "stdout.txt", "bytes": 12, "modified": "2026-01-01T12:00:00+00:00"},
        {"name": "models", "bytes": None, "modified": None},
        {"name": "away", "bytes": None, "modified": None, "link": True},
        {"name": "a\x1b[2J\n\udcff", "bytes": 0, "modified": None},
    ]
    assert [line.split() for line in rows(results)[1:]] == [
        ["stdout.txt", "12", "2026-01-01", "12:00:00"],
        ["models/"],
        ["away", "link"],
        [r"a\x1b[2J\n\xff", "0"],
    ]
    assert rows([]) == ["there are no files"]


def test_a_job_that_waits_is_shown_with_the_reason_and_with_the_clusters_own_name_of_it() -> None:
    waiting = {"word": "PartitionDown", "text": "its partition is down", "since": "2026-01-01T12:00:00Z"}
    job = {
        "id": "j_1",
        "name": "digits",
        "door": "http",
        "state": "queued",
        "message": "an older word",
        "createdAt": "2026-01-01T11:00:00Z",
        "waiting": waiting,
        "engine": {"engine": "slurm", "id": "4711"},
    }
    reports = "its partition is down (PartitionDown, since 2026-01-01 12:00:00Z)"

    assert lines(job, utc=True)[1] == f"  {reports}"
    assert [line.split() for line in lines(job) if line.endswith("4711")] == [["id", "on", "slurm", "4711"]]
    assert listed([job], View(utc=True))[1].endswith(reports)

    failed = {**job, "state": "failed", "waiting": None, "lastError": "ValueError: no data"}
    assert lines(failed)[1:3] == ["  ValueError: no data", "  an older word"]
    assert listed([failed], View())[1].endswith("ValueError: no data")
    assert listed([{**job, "waiting": None}], View())[1].endswith("an older word")
