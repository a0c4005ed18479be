"""Reading what was dropped, against Azurite: how much crosses the wire, and what is not a drop at all."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import pytest
import pytest_asyncio
from azure.core.pipeline.transport import AioHttpTransport
from azure.storage.blob import StandardBlobTier

from local.azurite import Azurite
from shared.adapters.storage.drops import BlobDrops
from shared.adapters.storage.wire.connection import Account, Connection
from shared.core.errors import Misuse

pytestmark = pytest.mark.asyncio(loop_scope="session")


@dataclass
class Container:
    """A drop container, and the bytes of every answer that storage gave."""

    drops: BlobDrops
    account: Account
    name: str
    answers: list[int] = field(default_factory=list)

    async def upload(self, name: str, body: bytes, **metadata: str) -> str:
        """What a person does; the ETag."""
        blob = self.account.blobs.get_blob_client(self.name, name)
        result = await blob.upload_blob(body, overwrite=True, metadata=metadata)
        self.answers.clear()
        return str(result["etag"]).strip('"')


@pytest_asyncio.fixture(loop_scope="session")
async def container(storage: Azurite) -> AsyncIterator[Container]:
    answers: list[int] = []

    class Weighing(AioHttpTransport):  # type: ignore[misc]
        async def send(self, request: Any, **options: Any) -> Any:
            answer = await super().send(request, **options)
            answers.append(int(answer.headers.get("Content-Length", 0)))
            return answer

    account = Account(Connection(storage.connection_string), Weighing)
    name = f"d{uuid.uuid4().hex[:12]}"
    await account.blobs.create_container(name)
    yield Container(BlobDrops(account, name, "runs", (name,)), account, name, answers)
    await account.close()


async def test_of_a_blob_that_is_too_large_no_more_is_read_than_is_allowed(container: Container) -> None:
    await container.upload("d/train.py", b"x" * 5000)

    with pytest.raises(Misuse, match="has 5000 bytes, more than 1000"):
        await container.drops.read("d/train.py", limit=1000)

    assert container.answers == [1001]


async def test_a_blob_of_just_the_limit_is_read_whole(container: Container) -> None:
    etag = await container.upload("d/train.py", b"x" * 1000)
    assert await container.drops.read("d/train.py", etag=etag, limit=1000) == (b"x" * 1000, etag)


async def test_an_empty_blob_is_empty(container: Container) -> None:
    etag = await container.upload("d/train.py", b"")
    assert await container.drops.read("d/train.py", etag=etag, limit=1000) == (b"", etag)
    assert await container.drops.read("d/train.py", limit=1000) == (b"", etag)


@pytest.mark.parametrize("body", [b"", b"print(1)"])
async def test_another_version_than_the_one_wanted_is_not_read(container: Container, body: bytes) -> None:
    old = await container.upload("d/train.py", b"x")
    await container.upload("d/train.py", body)
    assert await container.drops.read("d/train.py", etag=old, limit=1000) is None
    assert await container.drops.read("d/nothing.py", limit=1000) is None


@pytest.mark.parametrize("deep", [True, False])
async def test_a_directory_of_a_hierarchical_account_is_no_drop(container: Container, deep: bool) -> None:
    await container.upload("d/train", b"", hdi_isfolder="true")
    await container.upload("d/train.py", b"1", mode="Explain")

    page = await container.drops.page("d/", deep=deep)

    (only,) = page.blobs
    assert (only.name, only.mode, page.next) == ("d/train.py", "explain", "")
    assert await container.drops.find("d/train.py") == only
    assert await container.drops.find("d/train") is None


async def test_a_list_without_the_folders_below_names_them(container: Container) -> None:
    for name in ("d/train.py", "d/data/1.csv", "d/data/2.csv", "d/a b/c/3.csv", "e/4.csv"):
        await container.upload(name, b"")

    assert (await container.drops.page("d/", deep=False)).folders == ("d/a b/", "d/data/")
    assert (await container.drops.page("d/")).folders == ()
    assert (await container.drops.page("d/data/", deep=False)).folders == ()


async def test_an_answer_is_read_as_it_was_written_and_none_is_none(container: Container) -> None:
    assert await container.drops.read_receipt_file("job/receipt.json", limit=100) is None

    await container.drops.put_receipt_file("job/receipt.json", b"{}", replace=True)

    assert await container.drops.read_receipt_file("job/receipt.json", limit=100) == b"{}"
    with pytest.raises(Misuse):
        await container.drops.read_receipt_file("job/receipt.json", limit=1)


async def test_a_blob_in_the_archive_tier_is_listed_as_such_and_its_content_is_refused(
    container: Container,
) -> None:
    await container.upload("d/job.json", b"{}")
    await container.upload("d/train.py", b"")
    blob = container.account.blobs.get_blob_client(container.name, "d/job.json")
    await blob.set_standard_blob_tier(StandardBlobTier.ARCHIVE)

    for deep in (True, False):
        listed = (await container.drops.page("d/", deep=deep)).blobs
        assert [(one.name, one.archived) for one in listed] == [("d/job.json", True), ("d/train.py", False)]
    assert await container.drops.find("d/job.json") == listed[0]
    for read in (
        container.drops.read("d/job.json", etag=listed[0].etag, limit=100),
        container.drops.read_reference(f"{container.name}/d/job.json", limit=100),
    ):
        with pytest.raises(Misuse, match=r"/d/job\.json is in the archive tier") as refused:
            await read
        assert "move it to the hot or cool tier" in refused.value.remedy
