"""What a job wrote into a container comes from storage itself, where the deployment allows it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest
import pytest_asyncio

from tests.acceptance.door import Door, shell

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.asyncio(loop_scope="session")

#: 20 MB, small files, names of every kind, links in and out.
WRITES = """set -e
cd "$AZ_BATCHAI_OUTPUT_MODEL"
mkdir -p best many
seq 1 2700000 > best/weights.bin
for n in $(seq 1 40); do echo "$n" > "many/$n.txt"; done
: > empty
echo ü > "ä & %41 #1?.txt"
echo one > Case; echo two > case
ln -s best/weights.bin inside.bin
ln -s /etc/passwd outside
"""


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def written(door: Door) -> AsyncIterator[str]:
    container = "models"
    await door.blobs.create_container(container)
    mount = {"containerName": container, "accountName": door.blobs.account_name, "relativeMountPath": "out"}
    prefix = "$AZ_BATCHAI_JOB_MOUNT_ROOT/out/team"
    document = shell(
        WRITES,
        mountVolumes={"azureBlobFileSystems": [mount]},
        outputDirectories=[{"id": "MODEL", "pathPrefix": prefix, "pathSuffix": "m"}],
    )
    _, job, _ = await door.call("POST", "jobs", document)
    ended = await door.ended(id=job["id"])
    assert ended["state"] == "succeeded", ended
    yield job["id"]


async def test_every_file_of_the_container_has_an_address_that_gives_its_bytes(
    door: Door, written: str
) -> None:
    _, top, headers = await door.call("GET", f"jobs/{written}/addresses?directory=MODEL")
    _, best, _ = await door.call("GET", f"jobs/{written}/addresses?directory=MODEL&path=best")
    _, log, _ = await door.call("GET", f"jobs/{written}/addresses")

    assert headers["Cache-Control"] == "no-store"
    assert [one["name"] for one in top["addresses"]] == ["Case", "case", "empty", "ä & %41 #1?.txt"]
    assert (log["addresses"], log["expires"]) == ([], None)  # in the share of the cluster
    (weights,) = best["addresses"]
    async with aiohttp.ClientSession() as http:
        async with http.get(weights["url"], headers={"Range": "bytes=0-3"}) as part:
            assert (part.status, await part.read()) == (206, b"1\n2\n")
        async with http.get(weights["url"].replace("best/", "many/")) as other:
            assert other.status == 403


async def test_a_large_file_is_answered_with_its_address_and_the_key_stays_here(
    door: Door, written: str
) -> None:
    place = f"/api/jobs/{written}/files/MODEL/best/weights.bin"
    async with door.http.get(place, allow_redirects=False) as answer:
        assert answer.status == 307
        location = answer.headers["Location"]
    async with aiohttp.ClientSession() as http, http.get(location) as whole:
        assert await whole.read() == "".join(f"{n}\n" for n in range(1, 2700001)).encode()
    async with door.http.get(place, headers={"Range": "bytes=0-3"}) as part:
        assert (part.status, await part.read()) == (206, b"1\n2\n")


async def test_a_download_is_the_same_from_storage_and_through_the_app(
    door: Door, written: str, tmp_path: Path
) -> None:
    command = await asyncio.create_subprocess_exec(
        *(*door.slipway, "download", written, "MODEL/*"),
        *("--url", door.stack.host_url, "--key", door.key),
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stderr=asyncio.subprocess.PIPE,
    )
    _, output = await command.communicate()
    home = tmp_path / written / "MODEL"

    assert command.returncode == 0, output.decode()
    weights = (home / "best/weights.bin").read_bytes()
    assert weights == "".join(f"{n}\n" for n in range(1, 2700001)).encode()
    assert (home / "inside.bin").read_bytes() == weights  # a link, which storage has not
    assert sorted(int(path.read_text()) for path in (home / "many").iterdir()) == list(range(1, 41))
    assert (home / "Case").read_text() + (home / "case").read_text() == "one\ntwo\n"
    assert (home / "ä & %41 #1?.txt").read_text() == "ü\n"
    assert (home / "empty").read_bytes() == b""
    assert not (home / "outside").exists()
