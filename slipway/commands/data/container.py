"""The container for data, in the configured storage account."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from slipway.client.files.datalake import DataLake
from slipway.client.storage.account import refuse_name, storage_account
from slipway.client.storage.upload_settings import upload_settings
from slipway.failure import Failure

#: Containers in which only the app writes and removes, under their usual names.
_OF_THE_APP = ("archive", "snapshots")


@asynccontextmanager
async def data_lake(
    container: str, settings_file: Path | None, *, removes: bool = False
) -> AsyncIterator[DataLake]:
    """The container, for the length of the block. Raises Failure if it does not exist, or is not for data.

    `removes`: of the app's own records and code nothing is removed by hand.
    """
    refuse_name("--container", container)
    settings = await upload_settings("", "", settings_file)
    if container in {settings.text("SLIPWAY_DROP_CONTAINER"), settings.text("SLIPWAY_RECEIPTS_CONTAINER")}:
        raise Failure(f"{container} is not for data: `slipway drop` sends jobs, and their receipts are there")
    if removes and (container in _OF_THE_APP or container.startswith("azure-webjobs")):
        raise Failure(f"{container} is the app's own: what is old there goes by itself")
    async with storage_account(settings) as account:
        lake = DataLake(account.blobs.get_container_client(container))
        if not await lake.exists():
            raise Failure(
                f"there is no container {container}; `slipway setup` makes that of --data-container"
            )
        yield lake
