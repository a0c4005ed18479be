"""`slipway code`: the code that a job runs, beside a folder or in a directory."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from shared.snapshots.grammar import Entry, Unreadable
from shared.snapshots.listing import as_text, listing
from slipway.client.drops.folder import check_folder
from slipway.client.service import Service
from slipway.client.snapshot.difference import Difference, difference
from slipway.client.snapshot.fetch import fetched
from slipway.client.snapshot.pack import size_of
from slipway.client.snapshot.unpack import LIMIT, unpack
from slipway.client.snapshot.walk import walk
from slipway.client.snapshot.words import shown_name
from slipway.commands.asking import asking_about, show
from slipway.failure import USAGE, Failure
from slipway.terminal.characters import inked, printable
from slipway.terminal.screen import say

#: Members of the answer that read the code without a key.
_SECRET = ("url", "expires")
#: Where the code is on the nodes, in words.
_WORK = "the working directory of the job"


def run(
    job: str, url: str, key: str, *, as_list: bool, diff: Path | None, to: Path | None, as_json: bool
) -> int:
    """Show, compare or write the code of a job. Raises Failure."""
    if sum((as_list, diff is not None, to is not None)) > 1:
        raise Failure("give one of --list, --diff and --to", USAGE)
    if diff is not None:
        check_folder(diff)

    async def ask(api: Service, job_id: str) -> int:
        code = await api.code(job_id)
        if diff is not None:
            return await _compared(code, diff, as_json=as_json)
        if to is not None:
            return await _written(code, to, as_json=as_json)
        if as_list and (code["more"] or "entries" not in code):
            code = {**code, **await _whole_list(code)}
        public = {name: value for name, value in code.items() if name not in _SECRET}
        show(public, lambda code: list(_listed(code) if as_list else _summary(code)), as_json=as_json)
        return 0

    return asking_about(job, ask, url, key)


def _summary(code: Mapping[str, Any]) -> Iterator[str]:
    place = _WORK if code["at"] == "work" else f"$AZ_BATCHAI_JOB_MOUNT_ROOT/{code['at']}"
    files = f"{code['files']:,} files, " if code.get("files") is not None else ""
    yield f"{files}{size_of(code['bytes'])}, in {place}"
    yield f"sha256 {code['sha256']}"


def _listed(code: Mapping[str, Any]) -> Iterator[str]:
    for entry in code["entries"]:
        link = f" -> {inked(entry['link'])}" if entry.get("link") else ""
        mark = "*" if entry.get("executable") else ""
        yield f"{size_of(entry['bytes']):>10}  {inked(entry['name'])}{mark}{link}"
    if code["more"]:
        yield "and more, which are not listed; write all of them into a directory: --to DIR"


async def _whole_list(code: Mapping[str, Any]) -> dict[str, Any]:
    """The list of an archive that the app does not read, as far as it is read here."""
    async with fetched(code) as archive:
        try:
            result = await asyncio.to_thread(listing, archive, LIMIT)
        except Unreadable as error:
            raise Failure(f"the code cannot be listed: {error}") from None
    entries = [{"name": as_text(one.name), "bytes": one.size, **_marks(one)} for one in result.entries]
    return {"entries": entries, "more": result.more}


def _marks(entry: Entry) -> dict[str, Any]:
    marks: dict[str, Any] = {"link": as_text(entry.link)} if entry.link else {}
    marks |= {"executable": True} if entry.executable else {}
    escaped = (as_text(entry.name), as_text(entry.link)) != (entry.name, entry.link)
    return marks | ({"escaped": True} if escaped else {})


async def _compared(code: Mapping[str, Any], folder: Path, *, as_json: bool) -> int:
    tree = await asyncio.to_thread(walk, folder)
    async with fetched(code) as archive:
        result = await asyncio.to_thread(difference, archive, tree, from_storage=code["origin"] != "upload")
    answer = {name: getattr(result, name) for name in ("changed", "added", "removed")}
    answer |= {"notCompared": result.documents} if result.documents else {}
    show(answer, lambda _: list(_differences(result)), as_json=as_json)
    return int(not result.is_none)


def _differences(result: Difference) -> Iterator[str]:
    if result.is_none:
        yield "the folder is what the job runs"
    for name in result.documents:
        yield f"not compared: {shown_name(name)} describes a job, and is not part of its code"
    for word, names in (("removed", result.removed), ("added", result.added), ("changed", result.changed)):
        for name in names:
            yield f"{word} {shown_name(name)}"
            yield from map(printable, result.lines.get(name, ()))


async def _written(code: Mapping[str, Any], to: Path, *, as_json: bool) -> int:
    async with fetched(code) as archive:
        unpacked = await asyncio.to_thread(unpack, archive, to)
    for name, reason in unpacked.skipped.items():
        say(f"{shown_name(name)}: {reason}")
    answer = {"files": unpacked.files, "directory": str(to), "skipped": unpacked.skipped}
    show(answer, lambda _: [f"wrote {unpacked.files:,} files into {to}"], as_json=as_json)
    return int(bool(unpacked.skipped))
