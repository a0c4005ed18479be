"""What the nodes of a run did not upload, by their own lists in the container, where any job may write."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from shared.core.engine import OutputFile
from shared.core.visible import escaped, is_askable
from shared.engines.node.kept.entries import REASONS
from shared.engines.node.kept.left_out import LEFT_OUT, LISTED

if TYPE_CHECKING:
    from azure.storage.blob.aio import ContainerClient

#: Nodes whose lists are read, and the bytes of one.
_NODES, _LARGEST = 100, 4 << 20
#: The kinds of links; where one leads out of the folder of its job, `link` says so alone.
_LINKS = {"out": "", "nowhere": "nowhere", "special": "special", "above": "above"}


async def left_out(container: ContainerClient, run: str, folder: str) -> tuple[OutputFile, ...]:
    """The entries of a folder, a directory of the run or below one, that its nodes left out."""
    entries = dict[str, OutputFile]()
    names = container.list_blob_names(name_starts_with=f"{run}/{LEFT_OUT}/", results_per_page=_NODES)
    async for page in names.by_page():
        for name in [one async for one in page]:
            stream = await container.get_blob_client(name).download_blob(offset=0, length=_LARGEST)
            entries |= {one.name: one for one in _entries(await stream.readall(), folder)}
        break
    return tuple(entries.values())


def _entries(content: bytes, folder: str) -> Iterator[OutputFile]:
    try:
        kinds: Any = json.loads(content)
    except (ValueError, RecursionError):
        return
    for path, kind in list(kinds.items())[:LISTED] if isinstance(kinds, dict) else ():
        above, _, name = path.rpartition("/")
        if above != folder or not name or not isinstance(kind, str) or kind not in REASONS:
            continue
        shown = name if is_askable(name) else escaped(name)
        if kind in _LINKS:
            yield OutputFile(shown, None, None, link=True, kind=_LINKS[kind])
        else:
            yield OutputFile(shown, None, None, left_out=True, kind=kind)
