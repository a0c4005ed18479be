"""Which jobs are those of a drop: they have its files."""

from __future__ import annotations

import pytest

from slipway.client.drops.upload import Uploaded
from slipway.commands.drop.drop import _runs

UPLOADED = Uploaded("scripts", {"d/train.py": "1", "d/features.py": "2"})


@pytest.mark.parametrize(
    ("files", "runs"),
    [
        ({"d/train.py": "1"}, True),
        ({"d/train.py": "1", "job.json": "9"}, True),  # a template above, which folders share
        ({"d/train.py": "0"}, False),
        ({"d/other.py": "1"}, False),
        ({}, False),
    ],
)
def test_a_job_runs_the_files_of_an_upload_or_others(files: dict[str, str], runs: bool) -> None:
    job = {"drop": {"files": [{"name": name, "sha256": digest} for name, digest in files.items()]}}

    assert _runs(job, UPLOADED) is runs


def test_a_job_of_another_door_is_not_one_of_a_drop() -> None:
    assert not _runs({}, UPLOADED)
