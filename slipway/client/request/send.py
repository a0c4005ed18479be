"""Sends a script or a folder: asks the app of a large one first, and submits it once it is there."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from shared.settings import Settings
from shared.snapshots.pack import MIB
from slipway.client.calls.kinds import kind_of
from slipway.client.calls.refusal import placed
from slipway.client.request.request import Options, Request, request_of
from slipway.client.service import Service, service
from slipway.client.snapshot.pack import Archive, archive_of
from slipway.client.snapshot.submission import MOST, Submission, with_code
from slipway.client.snapshot.words import say_words
from slipway.failure import Failure
from slipway.terminal.bar import progress

#: Bytes of an archive from which on the app is asked, before it is sent, whether the job can run.
_LARGE = 8 << 20
#: The setting that says where output goes.
_PREFIX = "SLIPWAY_STDOUT_PREFIX"
#: What the app says of a job that would not run.
NEVER = ("rejected", "refused", "cancelled")


async def submitted(path: Path, options: Options, url: str, key: str) -> Mapping[str, Any]:
    """Send a script or a folder; what became of it. Raises Failure."""
    return await send(path, options, url, key, [])


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
            if dry:
                return await _plan(api, request, archive)
            if archive.packed.bytes > _LARGE:
                refuse(await _plan(api, request, archive), request.file)
            submission = Submission(request.message, request.name, request.file, options.once)
            submissions.append(submission)
            with progress(archive.packed.bytes) as bar:
                return await submission.send(api, archive, request.at, bar.advance)


async def _plan(api: Service, request: Request, archive: Archive) -> dict[str, Any]:
    """What would be sent, and what the app says of it."""
    document = with_code(request.message, archive, request.at)
    explanation = await api.explain(document, {})
    files = [{"name": file.name, "bytes": file.size} for file in request.tree.files]
    return {"files": files, "bytes": archive.packed.bytes, "message": document, "explanation": explanation}


async def _ordered(options: Options, api: Service) -> Options:
    """The options with the ids of the jobs that it waits for. Makes no call if it waits for none."""
    choices = options.choices
    if not choices.order.members:
        return options
    return replace(options, choices=replace(choices, order=await choices.order.ids(api)))


def refuse(plan: Mapping[str, Any], file: str) -> None:
    """Raise Failure if the app says that the job cannot run: then nothing is sent."""
    explanation = plan["explanation"]
    if explanation.get("verdict") not in NEVER:
        return
    problems = [one for one in explanation.get("problems", ()) if one.get("severity") == "error"]
    raise Failure(
        f"nothing was sent, because the job cannot run\n{placed(problems, file)}",
        kind_of(422, {"errors": problems}),
    )
