"""Ways to a container of a real Azurite: by a signature, by a token; and a wire that fails as it is told."""

from __future__ import annotations

import http.client
import json
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

from azure.storage.blob import ContainerClient, ContainerSasPermissions, generate_container_sas

from local.azurite import ACCOUNT, KEY, Azurite

TOKEN = "token-of-the-pool"


def container(storage: Azurite, name: str) -> ContainerClient:
    """A new container, for this test alone."""
    client = ContainerClient(storage.blob_url, name, credential={"account_name": ACCOUNT, "account_key": KEY})
    client.create_container()
    return client


def signature(name: str) -> str:
    """What a node needs in it."""
    return generate_container_sas(
        ACCOUNT,
        name,
        KEY,
        permission=ContainerSasPermissions(
            read=True, write=True, create=True, add=True, delete=True, list=True
        ),
        expiry=datetime.now(UTC) + timedelta(hours=1),
    )


class Front(ThreadingHTTPServer):
    """Before a container: takes tokens as the service does, gives them as a node's metadata, and fails."""

    daemon_threads = True

    def __init__(self, storage: Azurite, name: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.storage, self.signature = storage, signature(name)
        self.faults: deque[tuple[str, str, int | str]] = deque()
        self.calls: list[str] = []
        self.account = urlsplit(storage.blob_url).path
        self.where = {
            "container": f"http://127.0.0.1:{self.server_port}{self.account}/{name}",
            "tokens": f"http://127.0.0.1:{self.server_port}/metadata/identity/oauth2/token",
            "client": "id-of-the-pool",
        }

    def fault(self, method: str, path: str) -> int | str | None:
        """the fault for such a request, once."""
        for rule in self.faults:
            if rule[0] == method and rule[1] in path:
                self.faults.remove(rule)
                return rule[2]
        return None


class _Handler(BaseHTTPRequestHandler):
    server: Front
    protocol_version = "HTTP/1.1"

    def _any(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.calls.append(f"{self.command} {self.path}")
        if self.path.startswith("/metadata/"):
            right = self.headers.get("Metadata") == "true" and "client_id=id-of-the-pool" in self.path
            text = json.dumps({"access_token": TOKEN, "expires_on": "99999999999"}).encode()
            return self._reply(200 if right else 400, {}, text)
        fault = self.server.fault(self.command, self.path)
        if isinstance(fault, int):
            throttled = {"Retry-After": "2"} if fault == 429 else {}
            return self._reply(fault, {"x-ms-error-code": "ServerBusy", **throttled}, b"")
        if self.headers.get("Authorization") != f"Bearer {TOKEN}":
            return self._reply(401, {"x-ms-error-code": "InvalidAuthenticationInfo"}, b"")
        answer = self._forwarded(body)
        if fault == "lost":
            self.close_connection = True
            return None
        return self._reply(*answer)

    def _forwarded(self, body: bytes) -> tuple[int, dict[str, str], bytes]:
        parts = urlsplit(self.server.storage.blob_url)
        assert parts.hostname
        upstream = http.client.HTTPConnection(parts.hostname, parts.port or 80)
        headers = {k: v for k, v in self.headers.items() if k not in ("Authorization", "Host")}
        joint = "&" if "?" in self.path and not self.path.endswith("?") else ("" if "?" in self.path else "?")
        upstream.request(
            self.command, self.path + joint + self.server.signature, body=body or None, headers=headers
        )
        answer = upstream.getresponse()
        result = (answer.status, dict(answer.getheaders()), answer.read())
        upstream.close()
        return result

    def _reply(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.send_response(status)
        for name, value in headers.items():
            if name.lower() not in ("content-length", "transfer-encoding", "connection", "date", "server"):
                self.send_header(name, value)
        length = headers.get("content-length") if self.command == "HEAD" else None
        self.send_header("Content-Length", length or str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_PUT = do_HEAD = do_DELETE = _any  # noqa: N815 - names of the base class

    def log_message(self, *args: Any) -> None:
        """Nothing."""


@contextmanager
def front(storage: Azurite, name: str) -> Iterator[Front]:
    """One, while the block runs."""
    with Front(storage, name) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
