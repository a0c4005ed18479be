"""What a folder that was just dropped waits for, by the rules of the function that looks at it."""

from collections.abc import Sequence
from dataclasses import replace

from shared.core.errors import Misconfigured
from shared.core.ports import Drops
from shared.intake.folder import ignored, parent, plans
from shared.settings import Settings
from shared.wiring import build

ONLY_TEMPLATE = "its job.json is a template, which runs scripts of the folders below, never itself"


async def waiting(settings: Settings, drops: Drops, names: Sequence[str]) -> list[str]:
    """Why nothing of these blobs would run, a line for each folder; empty when something does.

    It also stays silent about settings that lack what the function app needs: then nothing is known.
    """
    try:
        ports = replace(build(settings), drops=drops)
    except Misconfigured:
        return []
    folders = sorted({parent(name) for name in names})
    waits = []
    for folder in folders:
        blobs = [blob for blob in await drops.list(folder, deep=False) if not ignored(blob.name)]
        folder_plans = await plans(ports, folder, blobs)
        if folder_plans.waits:
            waits.append(f"{folder.rstrip('/')}: {folder_plans.waits}")
        elif folder_plans.runs:
            return []
    return waits or [f"{folders[0].rstrip('/')}: {ONLY_TEMPLATE}"]
