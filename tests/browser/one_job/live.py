"""A job at the wire as the page watches it: with its log and its numbers, in one answer."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any

from playwright.async_api import Page

from tests.browser.reader import answer_tagged


def live(
    job: Mapping[str, Any],
    log: Mapping[str, str | bytes] | None = None,
    series: Sequence[Mapping[str, Any]] | None = None,
    **members: Any,
) -> dict[str, Any]:
    """The first answer: what each of these files has, whole, and these series."""
    written = {name: one.encode() if isinstance(one, str) else one for name, one in (log or {}).items()}
    parts = [part(name, 0, data, len(data)) for name, data in written.items()]
    body = {"job": dict(job), "log": parts, "next": "n", "more": False, "restarted": False}
    if log is not None:
        body["files"] = sorted(written)
    if series is not None:
        body["metrics"] = {"series": list(series), "next": "m", "more": False, "restarted": False}
    return {**body, **members}


def part(name: str, start: int, data: bytes, size: int) -> dict[str, Any]:
    """Bytes of a file of this size."""
    return {"file": name, "start": start, "size": size, "data": base64.b64encode(data).decode()}


async def answer_live(page: Page, job: Mapping[str, Any], **written: Any) -> None:
    """Answer for this job in the API's place, alone and watched."""
    await answer_tagged(page, f"**/api/jobs/{job['id']}", dict(job))
    await answer_tagged(page, f"**/api/jobs/{job['id']}/live?*", live(job, **written))
