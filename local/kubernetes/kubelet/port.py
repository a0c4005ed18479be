"""The port of a node: the API server reads logs there, and passes sessions on, with its certificate."""

from __future__ import annotations

import json
import ssl
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from aiohttp import web

from local.kubernetes.kubelet.carriers import Connection, Messages
from local.kubernetes.kubelet.channels import channels
from local.kubernetes.kubelet.forwarding import Forwarding
from local.kubernetes.kubelet.logs import log
from local.kubernetes.kubelet.pod import Pod

#: Finds a pod of the node by its namespace and name.
Find = Callable[[str, str], Pod | None]
#: kubectl since 1.30 sends the frames of SPDY in the messages of a WebSocket.
_TUNNEL = "SPDY/3.1+portforward.k8s.io"
#: Bytes of a request's first line, which has the words of a command: those of the nodes written in Go.
_LONGEST = 1 << 20
_UPGRADE = {"Upgrade": "SPDY/3.1", "X-Stream-Protocol-Version": "portforward.k8s.io"}


async def serve(find: Find, port: int, certificate: Path, authority: Path) -> web.AppRunner:
    """Serve until the runner is cleaned up. Raises OSError where the port is taken."""
    node = _Port(find)
    application = web.Application()
    application.router.add_get("/containerLogs/{namespace}/{name}/{container}", node.log)
    for method in ("GET", "POST"):  # a WebSocket, and SPDY
        application.router.add_route(method, "/exec/{namespace}/{name}/{container}", node.execute)
        application.router.add_route(method, "/portForward/{namespace}/{name}", node.forward)
    runner = web.AppRunner(application, access_log=None, max_line_size=_LONGEST)
    await runner.setup()
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=str(authority))
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_cert_chain(certificate, certificate.with_suffix(".key"))
    await web.TCPSite(runner, "127.0.0.1", port, ssl_context=context).start()
    return runner


class _Port:
    """What the API server may ask of the node."""

    def __init__(self, find: Find) -> None:
        self._find = find

    async def log(self, request: web.Request) -> web.StreamResponse:
        """What a container wrote."""
        return await log(self._pod(request), request)

    async def execute(self, request: web.Request) -> web.StreamResponse:
        """Run a command in a container."""
        name = request.match_info["container"]
        container = self._pod(request).container(name)
        if container is None:
            raise web.HTTPInternalServerError(text=f'container not found ("{name}")')
        query = request.query
        argv = query.getall("command")
        session = await channels(request)
        if query.get("input") != "1":
            session.stdin.feed_eof()
        with suppress(ConnectionError):
            code = await container.run(argv, session, has_terminal=query.get("tty") == "1")
            await session.write("error", json.dumps(_status(code)).encode())
        await session.close()
        return session.response

    async def forward(self, request: web.Request) -> web.StreamResponse:
        """Connect with ports of a pod."""
        pod = self._pod(request)
        forwarding = Forwarding(request.match_info["name"], pod.address)
        if request.headers.get("Upgrade", "").lower() == "websocket":
            socket = web.WebSocketResponse(protocols=[_TUNNEL], max_msg_size=0, compress=False)
            await socket.prepare(request)
            await forwarding.serve(Messages(socket))
            return socket
        connection = await Connection.upgraded(request, _UPGRADE)
        await forwarding.serve(connection)
        return connection.response

    def _pod(self, request: web.Request) -> Pod:
        pod = self._find(request.match_info["namespace"], request.match_info["name"])
        if pod is None:
            raise web.HTTPNotFound(text="no such pod on this node")
        return pod


def _status(code: int) -> dict[str, Any]:
    """How a command ended, as an object of Kubernetes."""
    if code == 0:
        return {"metadata": {}, "status": "Success"}
    text = f"command terminated with non-zero exit code: exit status {code}"
    causes = [{"reason": "ExitCode", "message": str(code)}]
    return {
        "metadata": {},
        "status": "Failure",
        "message": text,
        "reason": "NonZeroExitCode",
        "details": {"causes": causes},
    }
