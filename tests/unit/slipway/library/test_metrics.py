"""The numbers of a job in Python: curves out of every answer, and a frame where pandas is."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import pytest
from aiohttp import web

from shared.operate.files.series import Series
from slipway import Client, Failure, Job
from slipway.client.jobs.curves import Curve
from slipway.library.metrics import Metrics
from tests.doubles.server import answering, as_slipway

ID = "j_aaaaaaaaaaaaaaaaaaaaaaaa"
LOSS = Series("loss", "stdouterr/stdout.txt", "epoch", 1)


def answer(points: list[list[float]], **more: Any) -> dict[str, Any]:
    one = {
        "name": LOSS.name,
        "file": LOSS.file,
        "axis": LOSS.axis,
        "rank": 1,
        "count": len(points),
        "points": points,
    }
    one |= {"count": len(points), "points": points}
    return {"series": [one], "next": "a", "more": False, "restarted": False, **more}


async def api(request: web.Request) -> web.StreamResponse:
    if not request.path.endswith("/metrics"):
        return web.json_response({"id": ID, "jobs": [{"id": ID}], "next": None})
    if "after" in request.query:
        return web.json_response(answer([[2, 0.25]], note="some are left out"))
    return web.json_response(answer([[1, 0.5]], more=True))


async def test_a_job_has_the_curves_of_all_answers() -> None:
    def work(url: str) -> tuple[Metrics, Metrics]:
        job: Job = Client(url).job(ID)
        return job.curves("lo*"), job.curves("accuracy")

    async with answering(as_slipway(api)) as url:
        loss, accuracy = await asyncio.to_thread(work, url)

    assert list(loss) == [Curve(LOSS, [[1, 0.5], [2, 0.25]], 2)]
    assert (loss.note, list(accuracy)) == ("some are left out", [])


def test_without_pandas_a_frame_is_a_failure_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)

    with pytest.raises(Failure, match="pip install pandas"):
        Metrics([]).frame()


@pytest.mark.long
def test_a_frame_has_a_row_for_each_point() -> None:
    usage = Series("cpu_percent", "stdouterr/usage.jsonl", "time")

    frame = Metrics([Curve(LOSS, [[1, 0.5], [2, 0.25]], 2), Curve(usage, [[9, 50]], 1)]).frame()

    assert list(frame.columns) == ["name", "file", "rank", "axis", "x", "value"]
    assert frame["name"].tolist() == ["loss", "loss", "cpu_percent"]
    assert frame["value"].tolist() == [0.5, 0.25, 50]
    assert str(frame["rank"].dtype) == "Int64"  # whole numbers, also where some have none
    assert frame["rank"].isna().tolist() == [False, False, True]
    assert Metrics([]).frame().empty


def test_the_numbers_of_a_job_are_a_frame_where_pandas_is_and_rows_elsewhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    own = Series("loss", "stdouterr/stdout-0.txt", "epoch")
    alone = Series("loss", "stdouterr/stdout.txt", "epoch")
    curves = Metrics([Curve(own, [[1, 0.5]], 1), Curve(alone, [[2, 0.25]], 1)], "left out")

    frame = curves.points()
    assert not isinstance(frame, list)
    assert frame["rank"].isna().tolist() == [False, True]
    assert (frame["rank"].tolist()[0], frame.attrs) == (0, {"note": "left out"})

    monkeypatch.setitem(sys.modules, "pandas", None)
    assert curves.points() == [
        ("loss", own.file, 0, "epoch", 1, 0.5),
        ("loss", alone.file, None, "epoch", 2, 0.25),
    ]


def test_curves_are_drawn_as_text_with_what_is_left_out() -> None:
    lines = str(Metrics([Curve(LOSS, [[1, 0.5], [2, 0.25]], 2)], "some are left out")).splitlines()

    assert lines[0] == "stdouterr/stdout.txt, rank 1, by epoch 1 to 2"
    assert lines[2].split() == ["loss", "█▁", "0.25", "0.25", "0.5"]
    assert lines[3] == "some are left out"
    assert str(Metrics([])) == "no numbers"
