"""Output files of tasks: what the emulator uploads to a container of a real Azurite, and when."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import pytest
import pytest_asyncio
from azure.batch import BatchClient, models
from azure.storage.blob import ContainerClient

from local.azurite import Azurite
from tests.contract.azurebatch.storage import container, signature
from tests.slow.local.azurebatch.world import emulator, ended, new_job, new_pool, new_task, text_of

pytestmark = pytest.mark.asyncio(loop_scope="session")
JOB = "uploads"


@dataclass
class Place:
    """The emulator with a job, and a container with the address of a signature for it."""

    client: BatchClient
    blobs: ContainerClient
    address: str

    def file(self, pattern: str, condition: str = "taskcompletion", **more: Any) -> models.OutputFile:
        place = models.OutputFileBlobContainerDestination(container_url=self.address, **more)
        return models.OutputFile(
            file_pattern=pattern,
            destination=models.OutputFileDestination(container=place),
            upload_options=models.OutputFileUploadConfiguration(upload_condition=condition),
        )

    async def run(self, command: str, *files: models.OutputFile, **more: Any) -> models.BatchTask:
        name = f"t{uuid.uuid4().hex[:8]}"
        task = new_task(name, command, output_files=list(files), **more)
        await asyncio.to_thread(self.client.create_task, JOB, task)
        return await asyncio.to_thread(ended, self.client, JOB, name)

    def names(self) -> list[str]:
        return sorted(str(blob.name) for blob in self.blobs.list_blobs())


@pytest_asyncio.fixture(loop_scope="session", scope="module")
async def client(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[BatchClient]:
    with emulator(tmp_path_factory.mktemp("batch")) as running, running.client() as client:
        client.create_pool(new_pool("one", target_dedicated_nodes=1))
        client.create_job(new_job(JOB, "one"))
        yield client


@pytest.fixture
def place(client: BatchClient, storage: Azurite) -> Place:
    name = f"c{uuid.uuid4().hex[:12]}"
    blobs = container(storage, name)
    return Place(client, blobs, f"{blobs.url}?{signature(name)}")


async def test_files_are_uploaded_by_their_patterns_with_their_folders(place: Place) -> None:
    command = "mkdir -p out/deep; echo a >out/a.txt; echo b >out/deep/b.txt; echo c >out/c.log; echo hello"
    task = await place.run(
        command,
        place.file("../std*.txt", path="logs"),
        place.file("out/**/*.txt", path="all"),
        place.file("out/*.txt"),
        place.file("out/c.log", path="renamed/it"),
        place.file("out/none-*", path="none"),
    )

    assert place.names() == [
        "a.txt",
        "all/a.txt",
        "all/deep/b.txt",
        "logs/stderr.txt",
        "logs/stdout.txt",
        "renamed/it",
    ]
    assert place.blobs.download_blob("logs/stdout.txt").readall() == b"hello\n"
    assert task.execution_info
    assert (task.execution_info.exit_code, task.execution_info.result) == (0, "success")
    assert "out/c.log is the blob renamed/it" in text_of(place.client, JOB, task.id, "fileuploadout.txt")


@pytest.mark.parametrize(
    ("condition", "code", "uploads"),
    [
        ("tasksuccess", 0, True),
        ("tasksuccess", 3, False),
        ("taskfailure", 0, False),
        ("taskfailure", 3, True),
        ("taskcompletion", 0, True),
        ("taskcompletion", 3, True),
    ],
)
async def test_the_end_of_the_task_decides(place: Place, condition: str, code: int, uploads: bool) -> None:
    await place.run(f"echo x >x; exit {code}", place.file("x", condition))

    assert bool(place.names()) is uploads


async def test_headers_are_those_of_the_author(place: Place) -> None:
    header = models.OutputFileUploadHeader(name="x-ms-blob-content-type", value="text/x-log")
    await place.run("echo x >x", place.file("x", upload_headers=[header]))

    assert (
        place.blobs.get_blob_client("x").get_blob_properties().content_settings.content_type == "text/x-log"
    )


async def test_no_link_of_a_task_leads_out_of_its_node(place: Place) -> None:
    await place.run(
        "mkdir d; ln -s /etc/passwd d/p; ln -s /etc e; mkfifo d/f; echo x >d/x", place.file("**/*")
    )
    await place.run("true", place.file("/etc/passwd"), place.file("../../../../../../../../../etc/passwd"))

    assert [name for name in place.names() if "pass" in name or name.startswith("e/")] == []
    assert "d/x" in place.names()


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ("missing", "FileUploadContainerNotFound"),
        ("unsigned", "FileUploadAccessDenied"),
        ("mute", "FileUploadMiscError"),
    ],
)
async def test_what_cannot_be_uploaded_fails_the_task_with_the_service_s_code(
    place: Place, change: str, code: str
) -> None:
    if change == "missing":
        place.blobs.delete_container()
    else:
        bare = place.blobs.url if change == "unsigned" else "http://127.0.0.1:9/acct/c?sig=canary"
        place.address = bare
    options = models.ExitOptions(job_action="none", dependency_action="satisfy")
    task = await place.run(
        "echo x >x", place.file("x"), exit_conditions=models.ExitConditions(file_upload_error=options)
    )

    info = task.execution_info
    assert info
    assert info.failure_info
    assert (info.exit_code, info.result, info.failure_info.code) == (0, "failure", code)
    assert "canary" not in str(info.as_dict())
    assert "sig=" not in text_of(place.client, JOB, task.id, "fileuploaderr.txt")


async def test_a_container_by_an_identity_is_refused_with_what_to_do_instead(place: Place) -> None:
    identity = models.BatchNodeIdentityReference(resource_id="/subscriptions/x")

    with pytest.raises(Exception, match="upload by a signature in containerUrl"):
        await place.run("true", place.file("x", identity_reference=identity))
