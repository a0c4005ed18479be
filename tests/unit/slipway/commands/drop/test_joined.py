"""What a drop does about the jobs at work of its folder."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from shared.settings import Settings
from slipway.client.service import service
from slipway.commands.drop.drop import Drop, _joined
from slipway.failure import Failure
from tests.doubles.server import answering, as_slipway

SCRIPT = b"print(1)\n"


async def joined(folder: Path, *, force: bool = False, **members: Any) -> list[str]:
    """The ids of the jobs that a drop joins, where one is at work with the script as it was."""
    digest = hashlib.sha256(SCRIPT).hexdigest()
    drop = {"files": [{"name": "digits/train.py", "sha256": digest}]}
    job = {"id": "j_1", "receipt": "runs/digits/train-1/receipt.json", "drop": drop, **members}

    async def answer(request: web.Request) -> web.Response:
        return web.json_response(job if request.path.endswith("j_1") else {"jobs": [job]})

    async with answering(as_slipway(answer)) as url, service(url) as api:
        return [
            str(one["id"]) for one in await _joined(api, Drop(Settings({}), folder, "digits", force, False))
        ]


async def test_a_job_of_the_same_files_is_joined(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_bytes(SCRIPT)

    assert await joined(tmp_path) == ["j_1"]
    assert await joined(tmp_path, code={"sha256": "x"}) == ["j_1"]


async def test_a_job_that_mounts_the_folder_would_get_other_files_and_one_with_code_of_its_own_keeps_it(
    tmp_path: Path,
) -> None:
    (tmp_path / "train.py").write_bytes(b"print(2)\n")

    with pytest.raises(Failure, match=r"j_1 runs from the folder digits, and would get other files"):
        await joined(tmp_path)
    assert await joined(tmp_path, force=True) == []
    assert await joined(tmp_path, code={"sha256": "x"}) == []
