"""Files of a folder in the archive tier that its runs do not need: their jobs cannot read them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from shared.core.ports import IN_ARCHIVE, Blob, Ports
from shared.core.refusals import refused
from shared.intake.drops.contents import Files
from shared.intake.drops.folder import JOB_FILE, ignored, parent
from shared.intake.drops.plan import Plans
from shared.jobspec import quote

#: How many files a warning names, and pages of the list of the folders below that are read for it.
_NAMED, _PAGES = 3, 5


async def with_cold(ports: Ports, folder: str, plans: Plans, files: Files) -> Plans:
    """The same plans; each run says which files of the folder, and of those below, its job cannot read.

    One request where there are folders below, and some for thousands of files: only where a job begins, or is
    explained.
    """
    if not plans.runs:
        return plans
    cold = [blob for blob in files.blobs if blob.archived]
    if folder and files.deeper:  # at the top they are drops of their own
        cold += await _cold_below(ports, folder)
    if not cold:
        return plans
    warning = refused("SW114", "", _message([quote(blob.name, 200) for blob in cold]))
    return replace(plans, runs=tuple(replace(one, problems=(*one.problems, warning)) for one in plans.runs))


async def _cold_below(ports: Ports, folder: str) -> list[Blob]:
    """Those in the folders below, without the ones that are drops of their own."""
    cold, own, after = list[Blob](), list[str](), ""
    for _ in range(_PAGES):
        page = await ports.drops.page(folder, after=after)
        below = [blob for blob in page.blobs if "/" in blob.name[len(folder) :]]
        own += [parent(blob.name) for blob in below if blob.name.endswith(f"/{JOB_FILE}")]
        cold += [blob for blob in below if blob.archived and not ignored(blob.name)]
        if not (after := page.next):
            break
    return [blob for blob in cold if not blob.name.startswith(tuple(own))]


def _message(names: Sequence[str]) -> str:
    some = ", ".join(names[:_NAMED])
    if len(names) == 1:
        return f"{some} {IN_ARCHIVE}"
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{some}{more} are in the archive tier, in which nothing can read them"
