"""What a job wrote comes home: over HTTP, and by `slipway download`, from the emulator through the app."""

from __future__ import annotations

import asyncio
import hashlib
import io
import json
import os
import zipfile
from collections.abc import AsyncIterator
from pathlib import Path

import psutil
import pytest
import pytest_asyncio

from bench.download import memory
from tests.acceptance.door import Door, shell

#: In the folder `names`: as long as a name can be, the same word in two ways, and one like an option.
NAMES = {
    "x" * 255: "long\n",
    "😀" * 63 + "abc": "wide\n",
    "caf\u00e9": "composed",
    "cafe\u0301": "apart",
    "-rf": "",
}
ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.asyncio(loop_scope="session")

#: 20 MB in three answers, many small files, an empty one, names of every kind, links in and out, a circle.
WRITES = r"""set -e
cd "$AZ_BATCHAI_OUTPUT_MODEL"
mkdir -p best "deep/a/b" many "ü x"
seq 1 2700000 > best/weights.bin
for n in $(seq 1 120); do echo "$n" > "many/$n.txt"; done
: > empty
echo ü > "ü x/ä & %41 #1?.txt"
echo one > Case; echo two > case
mkdir names
cd names
echo long > "$(printf 'x%.0s' $(seq 255))"; echo wide > "$(printf '😀%.0s' $(seq 63))abc"
printf composed > "$(printf 'caf\303\251')"; printf apart > "$(printf 'cafe\314\201')"; : > ./-rf
cd ..
ln -s best/weights.bin inside.bin
ln -s /etc/passwd outside
ln -s .. deep/a/b/circle
echo "printed"
"""


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def written(door: Door) -> AsyncIterator[str]:
    """A job that has written all of it."""
    document = shell(WRITES)
    document["properties"]["outputDirectories"] = [
        {"id": "MODEL", "pathPrefix": document["properties"]["stdOutErrPathPrefix"], "pathSuffix": "m"}
    ]
    _, job, _ = await door.call("POST", "jobs", document)
    ended = await door.ended(id=job["id"])
    assert ended["state"] == "succeeded", ended
    yield job["id"]


async def slipway(door: Door, *words: str, cwd: Path) -> tuple[int | None, bytes, str]:
    command = await asyncio.create_subprocess_exec(
        *(*door.slipway, *words, "--url", door.stack.host_url, "--key", door.key),
        cwd=cwd,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, output = await command.communicate()
    return command.returncode, out, output.decode()


async def test_every_file_comes_home_and_the_second_time_none(
    door: Door, written: str, tmp_path: Path
) -> None:
    code, out, output = await slipway(door, "download", written, cwd=tmp_path)

    home = tmp_path / written
    weights = "".join(f"{n}\n" for n in range(1, 2700001)).encode()
    assert code == 0, output
    assert (
        hashlib.sha256((home / "MODEL/best/weights.bin").read_bytes()).digest()
        == hashlib.sha256(weights).digest()
    )
    assert (home / "MODEL/inside.bin").read_bytes() == weights
    assert sorted(int(p.read_text()) for p in (home / "MODEL/many").iterdir()) == list(range(1, 121))
    assert (home / "MODEL/empty").read_bytes() == b""
    assert (home / "MODEL/ü x/ä & %41 #1?.txt").read_text() == "ü\n"
    assert (home / "MODEL/Case").read_text() + (home / "MODEL/case").read_text() == "one\ntwo\n"
    assert {path.name: path.read_text() for path in (home / "MODEL/names").iterdir()} == NAMES
    assert (home / "stdouterr/stdout.txt").read_text() == "printed\n"
    assert not (home / "MODEL/outside").exists()
    assert not [p for p in home.rglob("*") if p.is_symlink() or p.name.startswith(".slipway-part")]

    code, out, _ = await slipway(door, "download", written, cwd=tmp_path)

    assert (code, out.decode().split()[:2]) == (0, ["0", "files,"])


async def test_a_part_of_them_by_pattern_and_none_is_an_error(
    door: Door, written: str, tmp_path: Path
) -> None:
    code, _, output = await slipway(door, "download", written, "MODEL/many/1?.txt", "--to", "x", cwd=tmp_path)
    result = sorted(p.name for p in (tmp_path / "x").rglob("*.txt"))
    assert (code, result) == (0, [f"{n}.txt" for n in range(10, 20)]), output

    code, _, output = await slipway(door, "download", written, "none*", cwd=tmp_path)
    assert code == 1
    assert "no file fits none*" in output


async def test_a_file_is_printed_and_all_are_listed(door: Door, written: str, tmp_path: Path) -> None:
    code, out, _ = await slipway(door, "cat", written, "MODEL/many/7.txt", cwd=tmp_path)
    assert (code, out) == (0, b"7\n")
    code, out, _ = await slipway(door, "cat", written, "stdout.txt", cwd=tmp_path)
    assert (code, out) == (0, b"printed\n")
    code, _, output = await slipway(door, "cat", written, "MODEL/none", cwd=tmp_path)
    assert (code, "there is no file MODEL/none" in output) == (1, True)

    code, out, _ = await slipway(door, "files", written, "--tree", cwd=tmp_path)
    listed = out.decode()
    assert code == 0
    assert "MODEL/best/weights.bin" in listed
    assert "stdouterr/stdout.txt" in listed


async def test_unusual_names_are_listed_printed_and_zipped(door: Door, written: str, tmp_path: Path) -> None:
    for name, text in NAMES.items():
        code, out, output = await slipway(door, "cat", written, f"MODEL/names/{name}", cwd=tmp_path)
        assert (code, out.decode()) == (0, text), output
    code, out, _ = await slipway(door, "files", written, "--tree", "--json", cwd=tmp_path)
    listed = {file["name"].removeprefix("MODEL/names/") for file in json.loads(out)}
    assert (code, NAMES.keys() - listed) == (0, set())

    async with door.http.get(f"/api/jobs/{written}/zip?directory=MODEL&path=names") as answer:
        assert answer.status == 200
        archive = zipfile.ZipFile(io.BytesIO(await answer.read()))
    assert {
        name.removeprefix("MODEL/names/"): archive.read(name).decode() for name in archive.namelist()
    } == NAMES


async def test_a_range_over_http(door: Door, written: str) -> None:
    place = f"/api/jobs/{written}/files/MODEL/many/77.txt"
    async with door.http.get(place) as whole:
        assert (whole.status, await whole.read()) == (200, b"77\n")
        tag = whole.headers["ETag"]
    async with door.http.get(place, headers={"Range": "bytes=-2", "If-Match": tag}) as part:
        assert (part.status, await part.read()) == (206, b"7\n")
        assert part.headers["Content-Range"] == "bytes 1-2/3"
    async with door.http.get(f"/api/jobs/{written}/files/MODEL/best/weights.bin") as large:
        assert large.status == 413
        assert "slipway download" in (await large.json())["remedy"]


async def test_the_receipt_comes_by_its_jobs_id(door: Door, written: str, tmp_path: Path) -> None:
    code, out, output = await slipway(door, "receipt", written, cwd=tmp_path)
    assert code == 0, output
    assert json.loads(out)["id"] == written


@pytest.mark.thorough
async def test_a_hundred_thousand_files_in_one_folder_are_listed_and_come_home(
    door: Door, tmp_path: Path
) -> None:
    many = 100_001
    document = shell(f'cd "$AZ_BATCHAI_OUTPUT_MODEL" && mkdir many && cd many && seq -w {many} | xargs touch')
    document["properties"]["outputDirectories"] = [
        {"id": "MODEL", "pathPrefix": document["properties"]["stdOutErrPathPrefix"]}
    ]
    _, job, _ = await door.call("POST", "jobs", document)
    ended = await door.ended(id=job["id"])
    assert ended["state"] == "succeeded", ended
    (worker,) = psutil.Process(door.stack.processes[-1].pid).children()

    async with memory(worker) as sizes:
        listed = await slipway(
            door, "files", job["id"], "--directory", "MODEL", "--path", "many", "--json", cwd=tmp_path
        )
        tree = await slipway(door, "files", job["id"], "--tree", cwd=tmp_path)
        some = await slipway(door, "download", job["id"], "MODEL/many/09?000", "--to", "home", cwd=tmp_path)
        last = await slipway(door, "cat", job["id"], f"MODEL/many/{many}", cwd=tmp_path)

    names = [f"{number:06}" for number in range(1, many + 1)]
    assert (listed[0], [file["name"] for file in json.loads(listed[1])]) == (0, names), listed[2]
    assert (tree[0], tree[1].count(b"MODEL/many/")) == (0, many), tree[2]
    assert (some[0], len([*(tmp_path / "home/MODEL/many").iterdir()])) == (0, 10), some[2]
    assert last[0] == 0, last[2]
    assert max(sizes) - sizes[0] < 64 << 20
