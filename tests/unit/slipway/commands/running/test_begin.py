"""Which job belongs to an upload of `slipway run`."""

from __future__ import annotations

from typing import Any

import pytest

from slipway.commands.running.begin import _is_own
from slipway.commands.running.upload import Uploaded
from slipway.failure import Failure

UPLOADED = Uploaded("scripts", {"d/train.py": "1", "d/job.json": "2"}, 2, "0xA")


def accepted(etag: str, script: str = "1", job: str = "2") -> dict[str, Any]:
    files = [
        {"name": "d/job.json", "sha256": job, "etag": etag},
        {"name": "d/train.py", "sha256": script, "etag": "0x1"},
    ]
    return {"id": "j_1", "drop": {"container": "scripts", "folder": "d", "files": files}}


def test_its_job_is_the_one_that_was_accepted_with_its_job_json() -> None:
    assert _is_own(accepted("0xA"), "d/job.json", UPLOADED)
    assert not _is_own(accepted("0xB", script="3"), "d/job.json", UPLOADED)
    assert not _is_own(accepted("0xB", job="3"), "d/job.json", UPLOADED)
    assert not _is_own({"id": "j_1"}, "d/job.json", UPLOADED)


def test_a_job_may_have_files_that_no_upload_into_its_folder_has_now() -> None:
    job = accepted("0xA")
    for name in ("d/slipway.json", "common/train.py"):
        job["drop"]["files"].append({"name": name, "sha256": "9", "etag": "0x9"})

    assert _is_own(job, "d/job.json", UPLOADED)


def test_a_job_with_scripts_of_another_upload_is_not_followed() -> None:
    with pytest.raises(Failure, match="scripts of another upload; end it: slipway cancel j_1"):
        _is_own(accepted("0xA", script="3"), "d/job.json", UPLOADED)


def test_a_job_that_the_same_files_joined_is_named() -> None:
    with pytest.raises(Failure, match="the same files already; follow it: slipway log --follow j_1"):
        _is_own(accepted("0xB"), "d/job.json", UPLOADED)
