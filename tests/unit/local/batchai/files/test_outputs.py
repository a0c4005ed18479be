"""What the emulator lists of a directory of a job's output."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from confined.names import Names
from local.batchai.files.outputs import Downloads, Page, listing
from local.batchai.launch.layout import segment
from local.batchai.state.errors import ArmError
from local.batchai.state.models import Job
from tests.doubles.scans import count_scans
from tests.unit.local.batchai.state.simulation import START

ID = "/subscriptions/s/resourceGroups/g/providers/Microsoft.BatchAI/workspaces/w/experiments/e/jobs/j"


def folders_in(root: Path) -> Any:
    return SimpleNamespace(**{name: root / name for name in ("shares", "blobs", "servers", "data")})


@pytest.fixture
def downloads(tmp_path: Path) -> Downloads:
    folders = folders_in(tmp_path)
    for folder in vars(folders).values():
        folder.mkdir()
    return Downloads(folders)


def job_in(root: Path, mount: str = "shares/logs") -> tuple[Job, Path]:
    job = Job(
        id=ID, sequence=1, created=START, since=START, document={}, cluster="/c", instance="1", wall_clock=1
    )
    folder = root / mount / segment(job) / "stdouterr"
    folder.mkdir(parents=True)
    job.outputs["stdouterr"] = str(folder)
    return job, folder


def pages(job: Job, downloads: Downloads, most: int) -> list[list[dict[str, Any]]]:
    results: list[list[dict[str, Any]]] = []
    after = ""
    while after or not results:
        page = Page(after, most)
        entries, after = listing(job, "stdouterr", ".", page, lambda path: f"https://x/{path}", downloads)
        results.append(entries)
    return results


def test_pages_make_up_the_directory(downloads: Downloads, tmp_path: Path) -> None:
    job, folder = job_in(tmp_path)
    for name in "abcde":
        (folder / name).write_text(name)

    result = pages(job, downloads, 2)

    assert [[entry["name"] for entry in page] for page in result] == [["a", "b"], ["c", "d"], ["e"]]
    assert result[0][0]["downloadUrl"] == f"https://x/shares/logs/{segment(job)}/stdouterr/a"


def test_pages_of_a_large_directory_are_one_scan(
    downloads: Downloads, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job, folder = job_in(tmp_path)
    written = [f"{number:04}" for number in range(300)]
    for name in written:
        (folder / name).touch()
    os.utime(folder, (1, 1))
    scans = count_scans(monkeypatch)

    result = pages(job, downloads, 10)

    assert [entry["name"] for page in result for entry in page] == written
    assert (len(result), len(scans)) == (30, 1)


def test_the_rest_of_too_many_entries_is_named_once(downloads: Downloads, tmp_path: Path) -> None:
    downloads = Downloads(folders_in(tmp_path), Names(most=4))
    job, folder = job_in(tmp_path)
    for name in "abcdef":
        (folder / name).touch()

    *entries, rest = [entry for page in pages(job, downloads, 2) for entry in page]

    assert len(entries) == 4
    assert rest == {"name": "… more than 4 entries", "fileType": "file"}


def test_a_name_that_cannot_be_asked_for_is_listed_without_an_address(
    downloads: Downloads, tmp_path: Path
) -> None:
    job, folder = job_in(tmp_path)
    (folder / "new\nline").touch()
    (folder / "folder\x1b").mkdir()

    (entries,) = pages(job, downloads, 10)

    assert [{name: entry[name] for name in entry if name != "properties"} for entry in entries] == [
        {"name": "folder\\x1b", "fileType": "directory"},
        {"name": "new\\nline", "fileType": "file"},
    ]


@pytest.mark.parametrize("inside", ["none", "none/below", "file/below"])
def test_a_folder_that_does_not_exist_is_404_on_a_share_and_empty_in_a_container(
    downloads: Downloads, tmp_path: Path, inside: str
) -> None:
    job, folder = job_in(tmp_path)
    in_container, blobs = job_in(tmp_path, "blobs/out")
    for one in (folder, blobs):
        (one / "file").touch()

    with pytest.raises(ArmError) as error:
        listing(job, "stdouterr", inside, Page("", 10), str, downloads)

    assert (error.value.status, error.value.code) == (404, "ResourceNotFound")
    assert listing(in_container, "stdouterr", inside, Page("", 10), str, downloads).entries == []


@pytest.mark.parametrize("inside", ["/".join(["circle"] * 50), "outside"])
def test_a_link_that_is_not_followed_lists_nothing(downloads: Downloads, tmp_path: Path, inside: str) -> None:
    job, folder = job_in(tmp_path)
    (folder / "circle").symlink_to(".")
    (folder / "outside").symlink_to("/etc")

    assert listing(job, "stdouterr", inside, Page("", 10), str, downloads).entries == []
