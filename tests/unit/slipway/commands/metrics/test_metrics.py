"""`slipway metrics`: pictures that fit, lines for other programs, and what follows until the end."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.operate.files.series import Series
from slipway.client.jobs.curves import Curve, Curves
from slipway.client.jobs.drawing import picture, points, short, spark
from slipway.client.service import Service
from slipway.commands.metrics.metrics import Document, Picture, Shown, Table, read, run
from slipway.failure import Failure
from slipway.terminal.screen import cells
from tests.breadth import examples

FINITE = st.floats(allow_nan=False, allow_infinity=False)


def series(name: str, *points: Sequence[float], **more: Any) -> dict[str, Any]:
    one = {"name": name, "file": "stdouterr/stdout.txt", "axis": "epoch", "count": len(points)}
    return {**one, "points": [list(point) for point in points], **more}


def answer(*series: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"series": list(series), "next": "n", "more": False, "restarted": False, **more}


class ScriptedService(Service):
    """An API that gives one answer after another, of a job in one state after another."""

    def __init__(self, states: Sequence[str], answers: Sequence[dict[str, Any]]) -> None:
        self._states, self._answers = list(states), list(answers)
        self.requests: list[str] = []

    async def job(self, job_id: str) -> Any:
        return {"id": job_id, "state": self._states.pop(0)}

    async def metrics(self, job_id: str, after: str = "") -> Any:
        self.requests.append(after)
        return self._answers.pop(0)


async def shown(api: Service, way: Shown, *names: str, follow: bool = False) -> int:
    return await read(api, "j_1", Curves(names), way, follow=follow, every=0)


async def test_elsewhere_than_on_a_terminal_each_point_is_a_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = io.StringIO()
    more = answer(series("loss", (1, 0.5)), series("note", (1, 2), rank=3), more=True, next="a")
    api = ScriptedService(["succeeded"], [more, answer(series("loss", (2, 0.25)))])

    assert await shown(api, Table(out), "lo*", "note") == 0

    assert out.getvalue().splitlines() == [
        "name\tfile\trank\taxis\tx\tvalue",
        "loss\tstdouterr/stdout.txt\t\tepoch\t1\t0.5",
        "note\tstdouterr/stdout.txt\t3\tepoch\t1\t2",
        "loss\tstdouterr/stdout.txt\t\tepoch\t2\t0.25",
    ]
    assert api.requests == ["", "a"]
    assert capsys.readouterr().err == ""


async def test_following_waits_for_the_run_and_ends_with_the_job() -> None:
    out = io.StringIO()
    states = ["queued", "running", "running", "failed"]
    api = ScriptedService(
        states, [answer(series("loss", (1, 1)), next="a"), answer(next="b"), answer(series("loss", (2, 2)))]
    )

    assert await shown(api, Document(out, follow=True), follow=True) == 1

    assert api.requests == ["", "a", "b"]
    assert [json.loads(line)["series"][0]["points"] for line in out.getvalue().splitlines()] == [
        [[1, 1]],
        [[2, 2]],
    ]


async def test_a_new_run_takes_the_place_of_the_one_before(capsys: pytest.CaptureFixture[str]) -> None:
    out = io.StringIO()
    first = answer(series("loss", (1, 1), (2, 2)), series("old", (1, 1)), more=True)
    api = ScriptedService(["succeeded"], [first, answer(series("loss", (1, 9)), restarted=True)])

    await shown(api, Document(out, follow=False))

    assert [(one["name"], one["points"]) for one in json.loads(out.getvalue())["series"]] == [
        ("loss", [[1, 9]])
    ]
    assert "starts again" in capsys.readouterr().err


async def test_a_document_has_every_series_and_what_was_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    out = io.StringIO()
    api = ScriptedService(
        ["running"], [answer(series("loss", (1, 0.5), count=7), note="left out: 3 files beyond 32")]
    )

    assert await shown(api, Document(out, follow=False)) == 0

    assert json.loads(out.getvalue()) == {
        "series": [series("loss", (1, 0.5), count=7)],
        "note": "left out: 3 files beyond 32",
    }
    assert "left out" in capsys.readouterr().err


async def test_a_picture_that_is_followed_is_drawn_over_itself() -> None:
    out = io.StringIO()
    answers = [answer(series("loss", (1, 1))), answer(series("loss", (2, 3)))]

    await shown(ScriptedService(["running", "succeeded"], answers), Picture(out, follow=True), follow=True)

    first, second, last = out.getvalue().split("\x1b[3F\x1b[J")
    assert first.splitlines()[0] == "stdouterr/stdout.txt, by epoch 1 to 1"
    assert second == last
    assert last.splitlines()[0] == "stdouterr/stdout.txt, by epoch 1 to 2"


async def test_without_numbers_the_command_says_how_a_job_reports_them(
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = io.StringIO()
    assert await shown(ScriptedService(["succeeded"], [answer()]), Picture(out, follow=False)) == 0
    assert out.getvalue() == ""
    assert '{"slipway": {"epoch": 3, "loss": 0.1}}' in capsys.readouterr().err


async def test_a_rejected_job_never_reports_anything() -> None:
    with pytest.raises(Failure, match="slipway show j_1"):
        await shown(ScriptedService(["rejected"], []), Table(io.StringIO()))


def curve(name: str, *ys: float, **more: Any) -> Curve:
    own = Series(name, more.get("file", "stdouterr/stdout.txt"), more.get("axis", "epoch"), more.get("rank"))
    return Curve(own, [[x, y] for x, y in enumerate(ys)], len(ys))


def test_series_stand_below_the_file_and_rank_that_they_come_from() -> None:
    lines = picture(
        [
            curve("loss", 4, 3, 2, 1),
            curve("cpu_percent", 50, file="stdouterr/usage.jsonl", axis="time", rank=0),
            curve("a name that is far too long", 1, file="stdouterr/usage.jsonl", axis="time", rank=0),
        ],
        40,
    )
    assert lines == [
        "stdouterr/stdout.txt, by epoch 0 to 3",
        "                                    last     least  greatest",
        "loss           █▆▃▁                    1         1         4",
        "",
        "stdouterr/usage.jsonl, rank 0, by time",
        "                                    last     least  greatest",
        "cpu_percent    ▅                      50        50        50",
        "a name that i… ▅                       1         1         1",
    ]


@pytest.mark.long
@settings(max_examples=examples(200), deadline=None)
@given(
    st.lists(
        st.tuples(st.text(min_size=1, max_size=64), st.lists(FINITE, min_size=1, max_size=50)), max_size=5
    ),
    st.integers(1, 200),
)
def test_a_picture_of_any_numbers_fits(results: list[tuple[str, list[float]]], columns: int) -> None:
    lines = picture([curve(name, *ys) for name, ys in results], columns)
    assert all(cells(line) <= max(60, columns) for line in lines)
    assert all(line.isprintable() for line in lines)


@settings(max_examples=examples(200), deadline=None)
@given(st.lists(FINITE, max_size=100), st.integers(1, 40))
def test_a_spark_has_a_level_for_each_column(values: list[float], width: int) -> None:
    drawn = spark(values, width)
    assert len(drawn) == min(width, len(values))
    assert set(drawn) <= set("▁▂▃▄▅▆▇█")
    if 1 < len(values) <= width and min(values) / 2 < max(values) / 2:
        assert drawn[values.index(min(values))] == "▁"
        assert drawn[values.index(max(values))] == "█"


@given(st.floats(-1e308, 1e308))
def test_a_number_is_short_and_near(value: float) -> None:
    assert len(short(value)) <= 9
    assert float(short(value)) == pytest.approx(value, rel=0.05)


def test_a_terminal_gets_no_control_character_of_a_name() -> None:
    assert list(points([curve("a\x1b[2J", 1)])) == ["a\\x1b[2J\tstdouterr/stdout.txt\t\tepoch\t0\t1"]


def test_points_are_thinned_out_when_there_are_many() -> None:
    curves = Curves()
    for part in range(10):
        curves.add(answer(series("loss", *((x, x) for x in range(1000 * part, 1000 * part + 1000)))))
    (copies,) = curves.all()
    assert len(copies.points) <= 4000
    assert copies.count == 10_000
    assert (copies.xs[0], copies.xs[-1]) == (0, 9999)


def test_series_beyond_the_bound_are_left_out_of_all_answers_together() -> None:
    curves = Curves()
    for page in range(3):
        curves.add(answer(*(series(f"m{page}-{number}", (1, 1), (2, 2)) for number in range(100))))
    assert curves.add(answer(series("m0-0", (3, 3)), series("m2-0", (3, 3))))[0].series.name == "m0-0"

    assert len(curves.all()) == 200
    assert curves.note.startswith("left out: 201 numbers beyond the first 200 series")
    curves.add(answer(series("loss", (1, 1)), restarted=True))
    assert curves.note == ""

    named = Curves(["m2-*"])
    named.add(answer(*(series(f"m2-{number}", (1, 1)) for number in range(100))))
    assert (len(named.all()), named.note) == (100, "")


@pytest.mark.parametrize(("state", "yet"), [("running", " yet: the job is running"), ("succeeded", "")])
async def test_a_name_that_no_series_has_is_told_from_a_job_without_numbers(
    state: str, yet: str, capsys: pytest.CaptureFixture[str]
) -> None:
    api = ScriptedService([state], [answer(series("loss", (1, 0.5)), series("acc", (1, 2)))])
    with pytest.raises(Failure, match=f"no series of j_1 has such a name{yet}; it has reported acc, loss$"):
        await shown(api, Table(io.StringIO()), "nope")

    assert await shown(ScriptedService([state], [answer()]), Table(io.StringIO()), "nope") == 0
    assert f"no numbers{yet}; a job prints them as" in capsys.readouterr().err


def test_an_attempt_is_shown_as_it_is_and_not_followed() -> None:
    with pytest.raises(Failure, match="leave --follow or --attempt out"):
        run("last", (), "http://127.0.0.1:9", "", follow=True, as_json=False, attempt=1)
