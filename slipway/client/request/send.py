"""Sends a script or a folder: asks the app of a large one first, and submits it once it is there."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from shared.settings import Settings
from shared.snapshots.pack import MIB
from slipway.client.request.cost import refuse
from slipway.client.request.request import Options, request_of
from slipway.client.service import Service, service
from slipway.client.snapshot.pack import Archive, archive_of
from slipway.client.snapshot.submission import MOST, Submission, with_code
from slipway.client.snapshot.walk import Tree
from slipway.client.snapshot.words import say_words
from slipway.terminal.bar import progress

#: Bytes of an archive from which on the app is asked, before it is sent, whether the job can run.
_LARGE = 8 << 20
#: The setting that says where output goes.
_PREFIX = "SLIPWAY_STDOUT_PREFIX"


async def submitted(
    path: Path, options: Options, url: str, key: str, *, dry: bool = False
) -> Mapping[str, Any]:
    """Send a script or a folder; what became of it, or with `dry` would. Raises Failure."""
    return await send(path, options, url, key, [], dry=dry)


async def send(
    path: Path,
    options: Options,
    url: str,
    key: str,
    submissions: list[Submission],
    *,
    dry: bool = False,
) -> Mapping[str, Any]:
    """Send it, noted in `submissions`. With `dry`, what would be sent, and what the app says of it."""
    async with service(url, key) as api:
        settings = Settings(await api.settings())
        ordered, prefix = await _ordered(options, api), settings.text(_PREFIX)
        request = await asyncio.to_thread(request_of, path, ordered, prefix)
        async with archive_of(request.tree, settings.whole(MOST) * MIB) as archive:
            await say_words(request.tree, archive.packed)
            if dry or options.max_cost is not None or archive.packed.bytes > _LARGE:
                document = with_code(request.message, archive, request.at)
                plan = await plan_of(api, document, options.once, request.tree, archive)
                if dry:
                    return plan
                refuse(plan["explanation"], request.file, options.max_cost)
            submission = Submission(request.message, request.name, request.file, options.once)
            submissions.append(submission)
            with progress(archive.packed.bytes) as bar:
                return await submission.send(api, archive, request.at, bar.advance)


async def plan_of(
    api: Service, document: bytes, key: str, tree: Tree | None = None, archive: Archive | None = None
) -> dict[str, Any]:
    """What would be sent by this key, and what the app says of it."""
    explanation = await api.explain(document, {}, key)
    files = [{"name": file.name, "bytes": file.size} for file in (tree.files if tree else ())]
    size = archive.packed.bytes if archive else 0
    return {"files": files, "bytes": size, "message": document, "explanation": explanation}


async def _ordered(options: Options, api: Service) -> Options:
    """The options with the ids of the jobs that it waits for. Makes no call if it waits for none."""
    choices = options.choices
    if not choices.order.members:
        return options
    return replace(options, choices=replace(choices, order=await choices.order.ids(api)))
