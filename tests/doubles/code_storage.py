"""Storage with archives of code, as nodes see it: one GET of one blob, by an address with a signature."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from shared.core.code.record import WORK, CodeSource
from tests.doubles.archives import digest

#: Signatures, of which storage refuses the second one.
SIGNATURE, EXPIRED = "se=2999-01-01T00%3A00%3A00Z&sig=canary", "se=2020-01-01T00%3A00%3A00Z&sig=canary"


class CodeStorage(ThreadingHTTPServer):
    """The archives by their names; `answers`: a status and a code for the next requests, before success."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.blobs: dict[str, bytes] = {}
        self.answers: list[tuple[int, str]] = []
        self.requests: list[str] = []

    def source(self, archive: bytes, *, at: str = WORK, signature: str = SIGNATURE) -> CodeSource:
        """Keep the archive, and return what a node needs for it."""
        name = digest(archive)
        self.blobs[f"/account/snapshots/team/{name}"] = archive
        address = f"http://127.0.0.1:{self.server_port}/account/snapshots/team/{name}?{signature}"
        return CodeSource(address, name, len(archive), at)

    def replace(self, source: CodeSource, content: bytes | None) -> None:
        """Something else in place of the archive; None: nothing."""
        name = f"/account/snapshots/team/{source.sha256}"
        del self.blobs[name]
        if content is not None:
            self.blobs[name] = content


class _Handler(BaseHTTPRequestHandler):
    server: CodeStorage

    def do_GET(self) -> None:
        """One blob."""
        path, _, query = self.path.partition("?")
        self.server.requests.append(path)
        status, code = self.server.answers.pop(0) if self.server.answers else (200, "")
        content = self.server.blobs.get(path)
        if query == EXPIRED:  # as the local storage says it
            status, code = 403, "AuthorizationFailure"
        if status == 200 and content is None:
            status, code = 404, "BlobNotFound"
        self.send_response(status)
        if status == 200 and content is not None:
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content[: len(content) // 2] if code == "cut off" else content)
        else:
            self.send_header("x-ms-error-code", code)
            self.end_headers()

    def log_request(self, code: object = "-", size: object = "-") -> None:
        """Print nothing."""


@contextmanager
def code_storage() -> Iterator[CodeStorage]:
    """Serve for the length of the block."""
    with CodeStorage() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
