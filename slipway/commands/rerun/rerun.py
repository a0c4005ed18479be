"""`slipway rerun`: exactly the same again, by a job or by its receipt."""

import asyncio
import re
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from shared.core.identity import short_id
from shared.jobspec import read
from shared.settings import Settings
from slipway.client.calls.keys import new_key
from slipway.client.jobs.words import standing
from slipway.client.service import Service
from slipway.client.storage.upload_settings import upload_settings
from slipway.commands.asking import asking, asking_about, show
from slipway.failure import UNKNOWN, Failure
from slipway.terminal.characters import printable

#: An id or a name of a job, or `last`; a receipt's path has a dot.
_JOB = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)
_REMEDY = "name a file, or a receipt as `slipway show JOB` names it: runs/…/receipt.json"


def run(
    job: str,
    url: str,
    key: str,
    settings_file: Path | None,
    *,
    once: str = "",
    resumes: bool = False,
    as_json: bool = False,
) -> int:
    """Run a job again, by its name or by a receipt, and show the outcome; `once` is its idempotency key.

    Raises Failure, which names a changed script.
    """

    async def repeat(api: Service, job_id: str, receipt: bytes = b"") -> int:
        answer = await api.rerun(job_id, receipt, once or new_key(), resumes=resumes)
        show(answer, lambda again: list(_lines(again, job_id)), as_json=as_json)
        return 0

    if _JOB.fullmatch(job) and not Path(job).is_file():
        return asking_about(job, repeat, url, key)
    body, is_stored = _read(job, url, key, settings_file)
    job_id = job_of(job, body, is_stored=is_stored)
    return asking(lambda api: repeat(api, job_id, body), url, key)


def _lines(job: Mapping[str, Any], job_id: str) -> Iterator[str]:
    how = ", which goes on from what that saved" if job.get("resumes") else ""
    yield f"{standing(job)}, a rerun of {job_id}{how}"
    yield from (printable(note) for note in job.get("notes", ()) if note.startswith("warning: "))


def job_of(receipt: str, body: bytes, *, is_stored: bool) -> str:
    """The id of a receipt's job. Raises Failure for a text that is not a receipt, and for another job's.

    `is_stored`: it was read from the folder of its job, whose name has a part of the id.
    """
    document, problems = read(body)
    if document is None:
        raise Failure(f"{receipt}: {problems[0].message}; a receipt.json was expected")
    job_id = document.get("id")
    if not isinstance(job_id, str) or not job_id.startswith("j_"):
        raise Failure(
            f"{receipt}: is not a receipt: it lacks an id; name a receipt.json, as `slipway show JOB` does"
        )
    if is_stored and not PurePosixPath(receipt).parent.name.endswith(f"-{short_id(job_id)}"):
        raise Failure(f"{receipt}: is the receipt of another job, {job_id}; `slipway receipt JOB` reads one")
    return job_id


class _Receipt(NamedTuple):
    """A receipt's text, and whether it is a blob of the container of receipts."""

    body: bytes
    is_stored: bool = False


def _read(receipt: str, url: str, key: str, settings_file: Path | None) -> _Receipt:
    """A file of this machine, else a blob of the container of receipts, as the API names it (runs/…)."""
    try:
        return _Receipt(Path(receipt).read_bytes())
    except OSError as error:
        container, _, name = receipt.partition("/")
        settings = asyncio.run(upload_settings(url, key, settings_file))
        if container != settings.text("SLIPWAY_RECEIPTS_CONTAINER"):
            raise Failure(f"{receipt}: cannot be read: {error.strerror}; {_REMEDY}") from error
    return _Receipt(asyncio.run(_download(settings, container, name)), is_stored=True)


async def _download(settings: Settings, container: str, name: str) -> bytes:
    from azure.core.exceptions import ResourceNotFoundError

    from slipway.client.storage.account import storage_account

    async with storage_account(settings) as account:
        try:
            blob = await account.blobs.get_blob_client(container, name).download_blob()
            return await blob.readall()
        except ResourceNotFoundError as error:
            raise Failure(
                f"there is no {container}/{name}; `slipway jobs` names the jobs", UNKNOWN
            ) from error
