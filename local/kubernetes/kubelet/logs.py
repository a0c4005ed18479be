"""The port of a node: the API server reads logs there, over TLS, with its certificate."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from aiohttp import web

from local.kubernetes.kubelet.pod import Pod

#: Seconds between two looks into a log that is followed.
_AGAIN = 0.2
#: Finds a pod of the node by its namespace and name.
Find = Callable[[str, str], Pod | None]


async def serve(find: Find, port: int, certificate: Path, authority: Path) -> web.AppRunner:
    """Serve until the runner is cleaned up. Raises OSError where the port is taken."""
    application = web.Application()

    async def read(request: web.Request) -> web.StreamResponse:
        return await _log(find, request)

    application.router.add_get("/containerLogs/{namespace}/{name}/{container}", read)
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=str(authority))
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_cert_chain(certificate, certificate.with_suffix(".key"))
    await web.TCPSite(runner, "127.0.0.1", port, ssl_context=context).start()
    return runner


async def _log(find: Find, request: web.Request) -> web.StreamResponse:
    pod = find(request.match_info["namespace"], request.match_info["name"])
    if pod is None:
        raise web.HTTPNotFound(text="no such pod on this node")
    try:
        file = await asyncio.to_thread(pod.log.open, "rb")  # open, it outlives the folder of the pod
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
