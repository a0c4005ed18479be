"""What the lines of the nodes say of GPUs, and what they do not say."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from shared.lifecycle.idle.use import Use, use_of

START = 1_767_268_800


def line(at: int, *percents: int | None, rank: int = 0) -> bytes:
    gpus: dict[str, int] = {}
    for number, percent in enumerate(percents):
        gpus |= {f"gpu{number}_memory_mib": 100} | (
            {} if percent is None else {f"gpu{number}_percent": percent}
        )
    return json.dumps({"rank": rank, "time": START + at, **gpus}).encode() + b"\n"


def idle_seconds(text: bytes, nodes: int = 1, gpus: int = 1) -> float | None:
    span = use_of(text).idle_gpus(nodes, gpus)
    return span.seconds if span else None


def test_gpus_are_idle_from_their_first_idle_line_to_the_last_line() -> None:
    lines = [line(0, 90), line(15, 4), line(30, 0), line(45, 0)]

    assert idle_seconds(b"".join(lines)) == 30


def idle(*times: int, rank: int = 0) -> bytes:
    """Lines of a node with one idle GPU."""
    return b"".join(line(at, 0, rank=rank) for at in times)


def test_a_few_lines_are_no_evidence() -> None:
    assert idle_seconds(idle(0, 15, 30)) is None
    assert idle_seconds(idle(0, 15, 30, 45)) == 45


@pytest.mark.parametrize(
    ("last", "seconds"),
    [
        (line(60, 5), 0),  # as busy as it has to be
        (line(60, 100), 0),
        (line(60, None), 0),  # the number cannot be read
        (line(60), None),  # no GPU is named
        (line(60, -1), 0),
        (b"", 45),
    ],
)
def test_gpus_that_work_or_cannot_be_read_are_not_idle(last: bytes, seconds: float | None) -> None:
    assert idle_seconds(idle(0, 15, 30, 45) + last) == seconds


def test_one_gpu_that_works_is_enough() -> None:
    lines = [line(0, 0, 0), line(15, 0, 0), line(30, 0, 50), line(45, 0, 0)]

    assert idle_seconds(b"".join(lines), gpus=2) == 0


def test_a_gpu_that_has_fallen_away_is_not_known_to_be_idle() -> None:
    lines = b"".join([line(0, 0, 0), line(15, 0, 0), line(30, 0), line(45, 0)])

    assert idle_seconds(lines, gpus=2) is None
    assert idle_seconds(lines) == 15


def test_a_job_without_gpus_has_none_that_are_idle() -> None:
    assert idle_seconds(idle(0, 15, 30, 45), gpus=0) is None


def test_every_node_has_to_be_idle() -> None:
    first = idle(0, 15, 30, 45)
    busy = idle(0, 15, rank=1) + line(30, 90, rank=1) + idle(45, rank=1)

    assert idle_seconds(first + busy, nodes=2, gpus=2) == 0
    assert idle_seconds(first + idle(0, 15, 30, 45, rank=1), nodes=2, gpus=2) == 45
    assert idle_seconds(first, nodes=2) is None
    assert idle_seconds(first, nodes=0) is None


def test_a_node_that_reported_last_a_while_ago_is_idle_no_longer_than_to_then() -> None:
    text = idle(0, 15, 30, 45, 60, 300) + idle(0, 15, 30, 45, rank=1)

    assert idle_seconds(text, nodes=2, gpus=2) == 0
    assert use_of(text).last_seen(2) == datetime.fromtimestamp(START + 45, UTC)


def test_a_gap_ends_what_is_known() -> None:
    assert idle_seconds(idle(0, 90, 105, 120, 135)) == 135
    assert idle_seconds(idle(0, 91, 106, 121, 136)) == 45


def test_lines_may_have_become_rare() -> None:
    assert idle_seconds(idle(0, 240, 480, 720, 960)) == 960
    assert idle_seconds(idle(0, 600, 840, 1080, 1320)) == 720  # more than twice as long
    assert use_of(idle(0, 240, 480, 720)).longest_wait(1).total_seconds() == 480
    assert use_of(idle(0, 15, 30, 45)).longest_wait(1).total_seconds() == 90


@pytest.mark.parametrize(
    "hostile",
    [
        b"[1]\n",
        b"{\n",
        b'{"rank": true, "time": 1767268805, "gpu0_percent": 99}\n',
        b'{"rank": 0, "time": 1e400, "gpu0_percent": 99}\n',
        b'{"rank": 0, "time": 99999999999999999999, "gpu0_percent": 99}\n',
        b'{"rank": -1, "time": 1767268805, "gpu0_percent": 99}\n',
        b'{"rank": 0, "gpu0_percent": 99}\n',
        b'{"a": ' + b"[" * 100_000 + b"\n",
        b'{"rank": 0, "time": 1767268805, "gpu0_percent": 99, "a": "' + b"x" * 9000 + b'"}\n',
        b"\xff\xfe\n",
    ],
)
def test_what_is_no_line_of_a_node_says_nothing(hostile: bytes) -> None:
    assert idle_seconds(idle(0, 15, 30) + hostile + idle(45)) == 45


@pytest.mark.parametrize("percent", [True, 1.5, "0", None])
def test_a_percentage_that_is_no_whole_number_is_not_known(percent: object) -> None:
    text = json.dumps({"rank": 0, "time": START + 60, "gpu0_percent": percent}).encode()

    assert idle_seconds(idle(0, 15, 30, 45) + text + b"\n") == 0


def test_earlier_lines_matter_until_one_that_works_or_the_time_that_is_asked_for() -> None:
    since = datetime.fromtimestamp(START + 10, UTC)

    assert not use_of(idle(15, 30, 45, 60)).covers(since, 1)
    assert use_of(idle(0, 15, 30, 45)).covers(since, 1)
    assert not use_of(idle(0, 15, 30)).covers(since, 1)
    assert use_of(line(15, 90) + idle(30, 45, 60)).covers(since, 1)
    assert not use_of(line(15, 90) + idle(30, 45, 60)).covers(since, 2)
    assert not Use({}).covers(since, 1)
