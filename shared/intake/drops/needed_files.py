"""The files that a `slipway.json` names as needed: its folder is complete once all of them are there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from shared.core.errors import Misuse
from shared.core.pacing.off_loop import off_loop
from shared.core.ports import IN_ARCHIVE, Blob, Ports
from shared.intake.drops.needed_scripts import exact, named_alike
from shared.jobspec import Limits, Source, is_met_by, is_pattern, quote, read_envelope, read_through
from shared.lifecycle.current_teams import readable_beside

#: Seconds for which a process remembers what a version of a slipway.json needs.
_REMEMBERED = 3600.0
#: Pages of the list of files below a folder that are read for one pattern at most.
_PAGES = 5
#: Levels above a file in which a folder may wait for it.
_LEVELS = 9
#: Folders with a file for one pattern that are looked up at most, about.
_FOLDERS = 100
_JOB_FILE = "job.json"


class Needs(NamedTuple):
    """What a folder waits for, in a sentence; "" if nothing. `around`: its slipway.json, if that was read."""

    waits: str
    around: bytes | None = None


async def what_it_needs(ports: Ports, folder: str, envelope: Blob, blobs: Sequence[Blob]) -> Needs:
    """What its slipway.json needs that is not there. `blobs` are the files directly in the folder.

    Costs a request for each version of the `slipway.json`, and some for each entry of a level below.
    """
    needs, around = await _needs_of(ports, envelope)
    names = [blob.name[len(folder) :] for blob in blobs if not blob.archived]
    absent = [
        need
        for need in needs
        if not any(is_met_by(need, name) for name in names) and not await _is_below(ports, folder, need)
    ]
    if absent or ports.memo.latest(_awaited(folder)):
        ports.memo.put(_awaited(folder), ports.clock(), {"needs": tuple(absent)})
    if not absent:
        return Needs("", around)
    hint = "" if is_pattern(absent[0]) else await _hint(ports, folder, absent[0], blobs)
    phrases = [f"a file that matches {quote(n)}" if is_pattern(n) else folder + n for n in absent]
    return Needs(f"waits for {', '.join(phrases)}, which {envelope.name} needs{hint}")


async def _hint(ports: Ports, folder: str, need: str, blobs: Sequence[Blob]) -> str:
    """What is said of a file that is there, and is not part of the drop, or is nearly of that name."""
    is_readable = await readable_beside(ports, folder)
    if not is_readable(folder + need):
        return ""  # nothing says whether another team has such a file
    blob = await exact(ports, folder + need)
    if blob is None:
        return await named_alike(ports, folder + need, folder, blobs)
    if blob.archived:
        return f"; it {IN_ARCHIVE}"
    return f"; it is in a folder with a {_JOB_FILE} of its own, which is another drop"


def folder_that_awaits(ports: Ports, name: str) -> str | None:
    """The folder that waited for such a file when this process looked last. Asks nothing.

    In another process the inventory finds the file, as it finds one whose event is lost.
    """
    folder = name
    for _ in range(_LEVELS):
        if not folder:
            return None
        folder = folder[: folder.rstrip("/").rfind("/") + 1]
        needs: Sequence[str] = ports.memo.latest(_awaited(folder)).get("needs", ())
        if any(is_met_by(need, name[len(folder) :]) for need in needs):
            return folder
    return None


def _awaited(folder: str) -> str:
    return f"awaited|{folder}"


class _Envelope(NamedTuple):
    """What a slipway.json needs, and its text, if that was read now."""

    needs: tuple[str, ...]
    text: bytes | None


async def _needs_of(ports: Ports, envelope: Blob) -> _Envelope:
    """What one version of a slipway.json needs, and its text, if it had to be read.

    One with an error needs nothing: the record of its job says what is wrong.
    """
    text: bytes | None = None

    async def read() -> tuple[str, ...]:
        nonlocal text
        try:
            content = await ports.drops.read(
                envelope.name, etag=envelope.etag, limit=ports.policy.max_document
            )
        except Misuse:
            return ()
        if content is None:
            return ()  # it has changed, and has an event of its own
        text = content.data
        return await off_loop(len(text), _needs_in, text, ports.policy.limits)

    key = f"needs|{envelope.name}|{envelope.etag}"
    needs = await ports.memo.get(key, ports.clock(), _REMEMBERED, read)
    return _Envelope(needs, text)


def _needs_in(data: bytes, limits: Limits) -> tuple[str, ...]:
    document, _ = read_through(Source(data), limits)
    envelope = read_envelope(document, drop=True, limits=limits).envelope if document is not None else None
    return envelope.needs if envelope is not None else ()


async def _is_below(ports: Ports, folder: str, need: str) -> bool:
    """Whether a file in a folder below is one of those that are meant, and is part of the drop."""
    if "/" not in need:
        return False
    is_readable, parts = await readable_beside(ports, folder), dict[str, bool]()

    async def meets(blob: Blob) -> bool:
        if blob.archived or not is_readable(blob.name):
            return False
        return await _is_part(ports, folder, blob.name, parts)

    if not is_pattern(need):
        blob = await exact(ports, folder + need)
        return blob is not None and await meets(blob)
    plain = folder
    for level in need.split("/")[:-1]:
        if is_pattern(level):
            break
        plain += f"{level}/"
    after = ""
    for _ in range(_PAGES):
        page = await ports.drops.page(plain, after=after)
        for blob in page.blobs:
            if is_met_by(need, blob.name[len(folder) :]) and await meets(blob):
                return True
        if not (after := page.next) or len(parts) > _FOLDERS:
            break
    return False


async def _is_part(ports: Ports, folder: str, name: str, parts: dict[str, bool]) -> bool:
    """Whether no folder between has a job.json, by which the file belongs to another drop.

    `parts`: what was looked up before. A small request for each level of a folder.
    """
    place = name[: name.rfind("/") + 1]
    if place == folder:
        return True
    if place not in parts:
        own = await ports.drops.find(f"{place}{_JOB_FILE}") is not None
        parts[place] = not own and await _is_part(ports, folder, place.rstrip("/"), parts)
    return parts[place]
