"""`slipway drop`: what goes up, and in which order."""

from pathlib import Path

import pytest

from cli.drop import to_upload
from cli.failure import Failure


def filled(folder: Path, *names: str) -> Path:
    for name in names:
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    return folder


def test_scripts_go_first_and_the_job_goes_last(tmp_path: Path) -> None:
    folder = filled(tmp_path, "job.json", "slipway.json", "train.py", "lib/model.py")

    assert [path.relative_to(folder).as_posix() for path in to_upload(folder)] == [
        "lib/model.py",
        "train.py",
        "slipway.json",
        "job.json",
    ]


def test_what_is_hidden_or_compiled_stays_here(tmp_path: Path) -> None:
    folder = filled(tmp_path, "train.py", ".git/config", ".env", "__pycache__/train.pyc")

    assert [path.name for path in to_upload(folder)] == ["train.py"]


def test_no_folder_and_an_empty_one_are_refused(tmp_path: Path) -> None:
    with pytest.raises(Failure, match="is no folder"):
        to_upload(tmp_path / "missing")
    with pytest.raises(Failure, match="holds no files"):
        to_upload(tmp_path)
