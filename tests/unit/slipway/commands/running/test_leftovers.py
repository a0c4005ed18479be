"""What an earlier upload left in a folder, and what it means for the next."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from shared.settings import Settings
from slipway.commands.drop import Uploaded
from slipway.commands.running.begin import _leftovers as remark
from slipway.commands.running.drop import _begins, _leftovers
from slipway.commands.waiting import outlook
from tests.doubles.memory import MemoryDrops
from tests.unit.world import job_json

SETTINGS = Settings({"SLIPWAY_STORAGE": "UseDevelopmentStorage=true"})
TEMPLATE = {"properties": {"pyTorchSettings": {"pythonScriptFilePath": "<SLIPWAY_SCRIPT:train*.py>"}}}


@pytest.mark.parametrize(
    ("uploaded", "begun", "leftovers"),
    [
        (["d/train1.py"], ["d/train1.py"], ["d/slipway.json"]),
        (["d/train1.py", "d/train2.py", "d/slipway.json"], ["d/train1.py", "d/train2.py"], []),
        (["d/slipway.json"], [], []),
    ],
)
async def test_a_script_that_lay_there_begins_nothing(
    uploaded: list[str], begun: list[str], leftovers: list[str]
) -> None:
    """So no job of it is waited for. The template, which folders share, is no file of an upload."""
    drops = MemoryDrops(lambda: datetime.now(UTC))
    drops.upload("job.json", json.dumps(TEMPLATE).encode())
    for name in ("d/train1.py", "d/train2.py", "d/slipway.json"):
        drops.upload(name, b"{}")
    upload = Uploaded("scripts", dict.fromkeys(uploaded, ""))

    plans = [plan for plan in (await outlook(SETTINGS, drops, uploaded)).plans if _begins(plan, upload)]

    assert [plan.script.name for plan in plans if plan.script] == begun
    assert _leftovers(plans, upload) == leftovers


async def test_a_job_json_that_lay_there_is_named() -> None:
    drops = MemoryDrops(lambda: datetime.now(UTC))
    drops.upload("d/job.json", json.dumps(job_json()).encode())
    drops.upload("d/train.py", b"")
    upload = Uploaded("scripts", {"d/train.py": ""})

    plans = (await outlook(SETTINGS, drops, ["d/train.py"])).plans

    assert _leftovers(plans, upload) == ["d/job.json"]


def test_the_first_files_that_a_run_sees_as_well_are_named() -> None:
    names = [f"scripts/first/{name}" for name in ("a.csv", "b\x1b.csv", "c/d.csv", "e.csv", "f.csv")]

    assert "which the job sees: a.csv, b\\x1b.csv, c/d.csv, 2 more; delete" in remark("scripts/first/", names)
    assert remark("scripts/first/", names[:1]).startswith(
        "scripts/first/ also has files of an earlier upload"
    )
