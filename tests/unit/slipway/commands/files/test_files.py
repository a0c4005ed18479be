"""`slipway files`: which folder is meant, and what is said of one in which nothing lies."""

from __future__ import annotations

import asyncio

import pytest
from aiohttp import web

from slipway.commands.files import files
from slipway.failure import Failure
from tests.doubles.server import answering, as_slipway

ID = "j_aaaaaaaaaaaaaaaaaaaaaaaa"
Entries = list[tuple[str, int | None]]
TREE: dict[tuple[str, str], Entries] = {
    ("MODEL", "."): [("best", None), ("last.bin", 3)],
    ("MODEL", "best"): [("w.bin", 5)],
}


async def _answer(request: web.Request) -> web.StreamResponse:
    if request.path.endswith("/outputs"):
        return web.json_response({"outputs": [{"id": "stdouterr"}, {"id": "MODEL"}]})
    if request.path.endswith("/files"):
        place = (request.query.get("directory", ""), request.query.get("path", "."))
        entries = [{"name": name, "bytes": size, "modified": None} for name, size in TREE.get(place, [])]
        return web.json_response({"files": entries})
    return web.json_response({"id": ID, "name": "train", "state": "running"})


@pytest.mark.parametrize(
    ("folder", "place"),
    [
        ("", ("stdouterr", ".")),
        ("MODEL", ("MODEL", ".")),
        ("MODEL/", ("MODEL", ".")),
        ("MODEL/best/1/", ("MODEL", "best/1")),
    ],
)
def test_a_folder_is_named_as_download_names_it(folder: str, place: tuple[str, str]) -> None:
    assert files.folder_of(folder, "stdouterr", ".") == place


@pytest.mark.parametrize(("directory", "path"), [("MODEL", "."), ("stdouterr", "best")])
def test_a_folder_is_not_named_twice(directory: str, path: str) -> None:
    assert files.folder_of("", directory, path) == (directory, path)
    with pytest.raises(Failure, match="named twice"):
        files.folder_of("MODEL", directory, path)


@pytest.mark.parametrize(
    ("folder", "shown"),
    [
        ("", ["name", "MODEL/best/w.bin", "MODEL/last.bin"]),
        ("MODEL/best/", ["name", "MODEL/best/w.bin"]),
        ("MODEL/none", ["there are no files in MODEL/none yet: the job is running"]),
    ],
)
async def test_a_tree_may_be_of_one_folder(
    folder: str, shown: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    async with answering(as_slipway(_answer)) as url:
        await asyncio.to_thread(files.tree, ID, folder, url, "", as_json=False)

    lines = capsys.readouterr().out.splitlines()
    assert [line if line.startswith("there") else line.split()[0] for line in lines] == shown
