"""The log of a pod, as the API server reads it."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from aiohttp import web

from local.kubernetes.kubelet.pod import Pod

#: Seconds between two looks into a log that is followed.
_AGAIN = 0.2


async def log(pod: Pod, request: web.Request) -> web.StreamResponse:
    """What one of its containers has written; with `follow`, until it writes no more."""
    try:
        file = await asyncio.to_thread(
            pod.log(request.match_info["container"]).open, "rb"
        )  # open, it outlives the folder of the pod
    except OSError:
        raise web.HTTPBadRequest(text="the container of the pod is waiting to start") from None
    with file:
        was_over, text = pod.is_over, await asyncio.to_thread(file.read)
        if (lines := request.query.get("tailLines")) is not None:
            text = _tail(text, int(lines))
        if request.query.get("follow") != "true":
            limit = request.query.get("limitBytes")
            return web.Response(body=text[: int(limit) if limit else None], content_type="text/plain")
        response = web.StreamResponse(headers={"Content-Type": "text/plain"})
        await response.prepare(request)
        with suppress(ConnectionError):
            await response.write(text)
            while not was_over:
                await asyncio.sleep(_AGAIN)
                was_over, text = pod.is_over, await asyncio.to_thread(file.read)
                await response.write(text)
    return response


def _tail(text: bytes, lines: int) -> bytes:
    return b"".join(text.splitlines(keepends=True)[-lines:]) if lines else b""
