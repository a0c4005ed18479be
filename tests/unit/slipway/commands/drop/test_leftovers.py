"""What an earlier upload left in a folder, and what it means for the next."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from shared.settings import Settings
from slipway.client.drops.outlook import outlook
from slipway.client.drops.upload import Uploaded
from slipway.commands.drop.drop import _begun, _is_job_of, _leftovers
from tests.doubles.memory import MemoryDrops
from tests.unit.world import job_json

SETTINGS = Settings({"SLIPWAY_STORAGE": "UseDevelopmentStorage=true"})
COUNTS = ", which an earlier upload or a job left there, counts as well; it may be deleted"
TEMPLATE = {"properties": {"pyTorchSettings": {"pythonScriptFilePath": "<SLIPWAY_SCRIPT:train*.py>"}}}


@pytest.mark.parametrize(
    ("uploaded", "begun", "leftovers"),
    [
        (["d/train1.py"], ["d/train1.py"], [f"scripts/d/slipway.json{COUNTS}"]),
        (["d/train1.py", "d/train2.py", "d/slipway.json"], ["d/train1.py", "d/train2.py"], []),
        (["d/slipway.json"], [], []),
    ],
)
async def test_a_script_that_lay_there_begins_nothing(
    uploaded: list[str], begun: list[str], leftovers: list[str]
) -> None:
    """So no job of it is waited for. The template, which folders share, is not a file of an upload."""
    drops = MemoryDrops(lambda: datetime.now(UTC))
    drops.upload("job.json", json.dumps(TEMPLATE).encode())
    for name in ("d/train1.py", "d/train2.py", "d/slipway.json"):
        drops.upload(name, b"{}")
    upload = Uploaded("scripts", dict.fromkeys(uploaded, ""))

    plans = (await outlook(SETTINGS, drops, uploaded)).plans
    plans = tuple(await _begun(plans, upload, None, ()))

    assert [plan.script.name for plan in plans if plan.script] == begun
    assert _leftovers(plans, upload) == leftovers


async def test_the_job_of_another_script_is_none_of_the_drop() -> None:
    drops = MemoryDrops(lambda: datetime.now(UTC))
    drops.upload("job.json", json.dumps(TEMPLATE).encode())
    for name in ("d/train1.py", "d/train2.py"):
        drops.upload(name, b"")
    files = [{"name": name, "sha256": "1", "etag": "0"} for name in ("job.json", "d/train2.py")]

    plans = (await outlook(SETTINGS, drops, ["d/train1.py"])).plans

    assert [_is_job_of({"drop": {"files": files}}, plan) for plan in plans] == [False, True]
    assert [_is_job_of({"drop": {"files": files}}, plan, same=True) for plan in plans] == [False, False]


async def test_a_job_json_that_lay_there_is_named() -> None:
    drops = MemoryDrops(lambda: datetime.now(UTC))
    drops.upload("d/job.json", json.dumps(job_json()).encode())
    drops.upload("d/train.py", b"")
    upload = Uploaded("scripts", {"d/train.py": ""})

    plans = (await outlook(SETTINGS, drops, ["d/train.py"])).plans

    (line,) = _leftovers(plans, upload)
    assert line.startswith("scripts/d/job.json, which the job needs, an earlier upload or a job left there")
    assert "deleted" not in line
