"""docs/how-to/plot-metrics.md: each of its commands, and the same numbers from the API."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.acceptance.door import Door
from tests.acceptance.pages.page import blocks, play

PAGE = "how-to/plot-metrics.md"
pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_the_page_does_what_it_says(door: Door, tmp_path: Path) -> None:
    (script,) = blocks(PAGE, "python")
    (tmp_path / "train.py").write_text(script)
    await play(door, tmp_path, "\n".join(blocks(PAGE, "sh")))

    head, *lines = (tmp_path / "loss.tsv").read_text().splitlines()
    assert head == "name\tfile\trank\taxis\tx\tvalue"
    assert lines == [
        f"loss\tstdouterr/stdout-0.txt\t\tepoch\t{n}\t{1 / n if n > 1 else 1}" for n in range(1, 31)
    ]
    (loss,) = json.loads((tmp_path / "loss.json").read_text())["series"]
    assert (loss["count"], loss["points"][-1]) == (30, [30, 1 / 30])

    job = (await door.jobs(name="train"))[0]
    _, answer, _ = await door.call("GET", f"jobs/{job['id']}/metrics?points=10")
    series = {one["name"]: one for one in answer["series"]}
    assert len(series["accuracy"]["points"]) <= 10
    assert series["loss"]["points"][0] == [1, 1]
    memory = series["memory_mib"]
    assert (memory["file"], memory["axis"], memory["rank"]) == ("stdouterr/usage.jsonl", "time", 0)
    _, later, _ = await door.call("GET", f"jobs/{job['id']}/metrics?after={answer['next']}")
    assert (later["series"], later["more"]) == ([], False)
