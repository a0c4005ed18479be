"""addresses: signed addresses with which a caller reads a job's files directly from storage. Read-only.

Only after the end: before it, a blob may lag behind the file that the job writes.
"""

from __future__ import annotations

from shared.core.caller import KEY_HOLDER, Caller
from shared.core.errors import NotFound
from shared.core.job import Stored
from shared.core.ports import AddressPage, BlobFolder, Ports
from shared.operate.files.attempts import target_of
from shared.operate.files.blob_folder import folder_of
from shared.operate.files.output import MOST_BYTES, check_after, stored_of


async def addresses(
    ports: Ports, job_id: str, directory: str, path: str, after: str, who: Caller = KEY_HOLDER,
    attempt: str = "",
) -> AddressPage | None:  # fmt: skip
    """The addresses of the files in a folder; None if its files can only be read through the API.

    Raises Misuse: 400, 404; 409 before the job reached its cluster.
    """
    check_after(after)
    stored = await stored_of(ports, job_id, directory, path, who, attempt)
    target_of(stored)
    folder = await _folder(ports, stored, directory, path)
    return await ports.addresses.page(folder, after) if folder and ports.addresses else None


async def address_of_large(
    ports: Ports, job_id: str, directory: str, path: str, who: Caller = KEY_HOLDER, attempt: str = ""
) -> str:
    """The address of a file that is too large for an answer; "" if it has none, or is smaller.

    Raises Misuse: 400, 404, 409.
    """
    if ports.addresses is None:
        return ""
    stored = await stored_of(ports, job_id, directory, path, who, attempt)
    target = target_of(stored)
    above, _, name = path.rpartition("/")
    folder = await _folder(ports, stored, directory, above)
    blob = await ports.addresses.find(folder, name) if folder and name else None
    if blob is None or blob.size <= MOST_BYTES:
        return ""
    try:
        files = await ports.engines.get(target.engine).files(target, directory, above or ".")
    except NotFound:
        return ""
    # The job may have written the file again without the storage taking it.
    same = any(
        (file.name, file.size) == (name, blob.size)
        and (file.modified is None or int(file.modified.timestamp()) <= blob.modified.timestamp())
        for file in files
    )
    return blob.url if same else ""


async def _folder(ports: Ports, stored: Stored, directory: str, path: str) -> BlobFolder | None:
    if ports.addresses is None or not stored.job.state.terminal:
        return None
    document = await ports.ledger.spec(stored.job.id) or {}
    top = folder_of(stored.job, document, directory, ports.addresses.account)
    below = "/".join(level for level in path.split("/") if level not in ("", "."))
    return top and BlobFolder(top.container, f"{top.path}/{below}".rstrip("/"))
