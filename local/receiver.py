"""A webhook receiver for the local stack, the demo and the tests; never deployed.

It verifies with the public `standardwebhooks` package and shares no code with the sender, so it proves the
signatures from outside. Run `python -m local.receiver --secret-env NAME`; it prints `ready http://…`.

`POST /hooks/<name>` takes deliveries and `GET /received` lists them. A delivery's URL may ask for trouble,
for the first `times` deliveries of each event (default: all of them): `status=503` answers with that status,
`retry_after=…` adds the header, `hang=SECONDS` waits before the answer, `reset=1` cuts the connection.
Answers that strict clients refuse: `header=BYTES` adds a header of that length, `headers=NUMBER` so many, and
`lengths=1` sends chunks with a length beside them.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import os
import socket
import struct
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO

from aiohttp import web
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from local.border import Border, add_option
from local.stop import stop_event

_LARGEST_BODY = 64 * 1024
_LONGEST_LOGGED = 200
_LONGEST_HEADER, _MOST_HEADERS = 100_000, 2000


@dataclass(frozen=True)
class Received:
    """One delivery as it came, in the form in which it is logged."""

    hook: str
    id: str | None
    #: Type and subject are shown for verified events only: any client can forge the others.
    type: str | None
    subject: str | None
    verified: bool
    #: An earlier delivery of this event was already accepted.
    duplicate: bool
    status: int
    #: SHA-256 of the body: each try of an event brings the same bytes.
    digest: str
    received: str


class Receiver:
    """The receiver's state: what came, what was accepted, and which troubles are still to be made."""

    def __init__(
        self,
        secret: str,
        log: Callable[[str], None],
        border: Border | None = None,
    ) -> None:
        self._webhook = Webhook(secret)
        self._border = border or Border()
        self._log = log
        self._received: list[Received] = []
        self._accepted: set[str] = set()
        self._troubles: Counter[tuple[str, str]] = Counter()

    def app(self) -> web.Application:
        """The web application that takes webhooks and lists them."""
        app = web.Application(middlewares=[self._border.guard], client_max_size=_LARGEST_BODY)
        app.add_routes([web.post("/hooks/{name}", self._take), web.get("/received", self._list)])
        return app

    async def _list(self, request: web.Request) -> web.Response:
        return web.json_response([asdict(one) for one in self._received])

    async def _take(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        digest = hashlib.sha256(body).hexdigest()
        event = self._verified(body, dict(request.headers))
        event_id = request.headers.get("webhook-id", "")[:_LONGEST_LOGGED]
        if event is None:
            self._note(request, event_id, None, 401, digest)
            return web.Response(status=401, text="the signature does not verify\n")
        trouble = self._trouble(request, event_id)
        status = int(trouble.get("status", "204"))
        self._note(request, event_id, event, 0 if "reset" in trouble else status, digest)
        if "hang" in trouble:
            await asyncio.sleep(float(trouble["hang"]))
        if "reset" in trouble:
            _reset(request)
        return _answer(request, status, trouble)

    def _verified(self, body: bytes, headers: dict[str, str]) -> dict[str, Any] | None:
        """Return the event, or None; malformed headers make the package raise ValueErrors too."""
        try:
            event = self._webhook.verify(body, headers)
        except (WebhookVerificationError, ValueError):
            return None
        return event if isinstance(event, dict) else None

    def _trouble(self, request: web.Request, event_id: str) -> dict[str, str]:
        """Return what the URL asks for, while this event has not had its `times` of it."""
        trouble = dict(request.query)
        times = trouble.pop("times", None)
        key = (request.match_info["name"], event_id)
        self._troubles[key] += 1
        return {} if times is not None and self._troubles[key] > int(times) else trouble

    def _note(
        self, request: web.Request, event_id: str, event: dict[str, Any] | None, status: int, digest: str
    ) -> None:
        received = Received(
            hook=request.match_info["name"][:_LONGEST_LOGGED],
            id=event_id or None,
            type=_attribute(event, "type"),
            subject=_attribute(event, "subject"),
            verified=event is not None,
            duplicate=event is not None and event_id in self._accepted,
            status=status,
            digest=digest,
            received=datetime.now(UTC).isoformat(),
        )
        if 200 <= status <= 299:
            self._accepted.add(event_id)
        self._received.append(received)
        self._log(json.dumps(asdict(received)))


def main(arguments: list[str] | None = None) -> int:
    """Read the command line and serve until SIGTERM or SIGINT."""
    parser = argparse.ArgumentParser(prog="python -m local.receiver", description="A webhook receiver.")
    parser.add_argument("--port", type=int, default=0, help="0 picks a free one")
    add_option(parser)
    parser.add_argument("--secret-env", required=True, help="the environment variable that holds the secret")
    parser.add_argument("--log", type=Path, help="append one JSON line per delivery here instead of stdout")
    parser.add_argument(
        "--until-stdin-closes", action="store_true", help="also stop when standard input reaches its end"
    )
    options = parser.parse_args(arguments)
    secret = os.environ.get(options.secret_env, "")
    if not secret.startswith("whsec_"):
        parser.error(f"the environment variable {options.secret_env} must hold a secret: whsec_…")
    with ExitStack() as stack:
        out = stack.enter_context(_private(options.log)) if options.log else sys.stdout

        def write(line: str) -> None:
            out.write(line + "\n")
            out.flush()

        receiver = Receiver(secret, write, border=Border(frozenset(options.allow_host)))
        try:
            asyncio.run(_serve(receiver, options.port, options.until_stdin_closes))
        except OSError as error:
            parser.exit(1, f"cannot listen on port {options.port}: {error.strerror}; choose another --port\n")
    return 0


async def _serve(receiver: Receiver, port: int, until_stdin_closes: bool) -> None:
    stop = stop_event(until_stdin_closes=until_stdin_closes)
    runner = web.AppRunner(receiver.app(), access_log=None, shutdown_timeout=0.2)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", port).start()
        sys.stdout.write(f"ready http://127.0.0.1:{runner.addresses[0][1]}\n")
        sys.stdout.flush()
        await stop.wait()
    finally:
        await runner.cleanup()


def _private(log: Path) -> TextIO:
    """The file, to append to; its owner's alone."""
    return os.fdopen(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "a", encoding="utf-8")


def _attribute(event: dict[str, Any] | None, name: str) -> str | None:
    value = None if event is None else event.get(name)
    return None if value is None else str(value)[:_LONGEST_LOGGED]


def _answer(request: web.Request, status: int, trouble: dict[str, str]) -> web.Response:
    """The answer with the headers that the URL asks for."""
    headers = {f"X-{number}": "x" for number in range(min(int(trouble.get("headers", "0")), _MOST_HEADERS))}
    if "header" in trouble:
        headers["X-Long"] = "x" * min(int(trouble["header"]), _LONGEST_HEADER)
    if "retry_after" in trouble:
        headers["Retry-After"] = trouble["retry_after"]
    if "lengths" in trouble and request.transport is not None:
        lines = [f"HTTP/1.1 {status} X", *(f"{name}: {value}" for name, value in headers.items())]
        lines += ["Transfer-Encoding: chunked", "Content-Length: 0", "", "0", "", ""]
        request.transport.write("\r\n".join(lines).encode())
        request.transport.close()
    return web.Response(status=status, headers=headers)


def _reset(request: web.Request) -> None:
    """Close so that the sender sees a reset: with lingering off, nothing that is unsent is sent."""
    if request.transport is not None:
        raw = request.transport.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        request.transport.abort()


if __name__ == "__main__":
    sys.exit(main())
