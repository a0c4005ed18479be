"""What becomes of a folder that was just dropped, by the rules of the function that looks at it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from shared.core.errors import Misconfigured
from shared.core.ports import Drops
from shared.intake.folder import ignored, parent, plans
from shared.settings import Settings
from shared.wiring import build

ONLY_TEMPLATE = "its job.json is a template, which runs scripts of the folders below, never itself"


@dataclass(frozen=True)
class Outlook:
    """What a folder will do: how many runs begin, else why nothing does, a line for each folder."""

    runs: int = 0
    waits: tuple[str, ...] = ()


async def outlook(settings: Settings, drops: Drops, names: Sequence[str]) -> Outlook:
    """What these blobs begin. It assumes one run where settings lack what the function app needs."""
    try:
        ports = replace(build(settings), drops=drops)
    except Misconfigured:
        return Outlook(1)
    folders = sorted({parent(name) for name in names})
    runs, waits = 0, list[str]()
    for folder in folders:
        blobs = [blob for blob in await drops.list(folder, deep=False) if not ignored(blob.name)]
        folder_plans = await plans(ports, folder, blobs)
        runs += len(folder_plans.runs)
        if folder_plans.waits:
            waits.append(f"{folder.rstrip('/')}: {folder_plans.waits}")
    if runs:
        return Outlook(runs)
    return Outlook(0, tuple(waits) or (f"{folders[0].rstrip('/')}: {ONLY_TEMPLATE}",))
