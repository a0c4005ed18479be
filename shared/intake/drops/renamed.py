"""renamed: look at the folders below a directory that got another name, however old their files are."""

from __future__ import annotations

from datetime import datetime

from shared.core.each import each
from shared.core.messages import QUEUE, look_message
from shared.core.ports import Ports
from shared.intake.drops.contents import walk
from shared.intake.drops.folder import parent
from shared.intake.reading.wakeups import FolderRenamed
from shared.jobspec import is_ignored


async def folder_renamed(ports: Ports, folder: FolderRenamed) -> None:
    """Send a look at each folder below. Only the drop container counts.

    An inventory would leave the folders alone if their files are older than it looks back.
    """
    if folder.container != ports.policy.drop_container:
        return
    newest: dict[str, datetime] = {}
    async for blob in walk(ports.drops, f"{folder.name}/"):
        if not is_ignored(blob.name):
            place = parent(blob.name)
            newest[place] = max(blob.modified, newest.get(place, blob.modified))

    async def send(place: str) -> None:
        await ports.queues.send(QUEUE, look_message(place, newest[place]))

    await each(newest, send)
