"""An API server on the wire, over the model: every way in which a call can fail there."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from enum import StrEnum

from tests.crash.kubernetes.pods import Cluster
from tests.unit.engines.kubernetes.server import Reply, Request, server, status


class Wire(StrEnum):
    """What happens to one request."""

    LOST = "it works, its answer is lost"
    REFUSED = "the connection breaks before it"
    LATE = "the connection breaks, and it works later"
    TIMED_OUT = "504 Timeout: it works, and the server did not hear of it from etcd"
    WEBHOOK = "500: a webhook does not answer, nothing is done"
    BUSY = "503 ServiceUnavailable"
    THROTTLED = "429 TooManyRequests"
    TWICE = "a proxy does it twice, and answers the second time: 409 AlreadyExists"
    DELETING = "409: an object of that name is being deleted"
    EXPIRED = "410: what a list would go on from is forgotten"
    GATEWAY = "it works, and a gateway answers 502 with a page of its own"
    GARBAGE = "it works, and half of the answer comes"


_WEBHOOK = 'Internal error occurred: failed calling webhook "mjob.kb.io": connection refused'
_REPLIES: Mapping[Wire, Reply] = {
    Wire.TIMED_OUT: status(504, "Timeout", "request timed out"),
    Wire.WEBHOOK: status(500, "InternalError", _WEBHOOK),
    Wire.BUSY: status(503, "ServiceUnavailable"),
    Wire.THROTTLED: status(429, "TooManyRequests"),
    Wire.DELETING: status(409, "AlreadyExists", 'object is being deleted: jobs.batch "a" already exists'),
    Wire.EXPIRED: status(410, "Expired"),
    Wire.GATEWAY: (502, b"<html>Bad gateway</html>"),
    Wire.GARBAGE: (200, b'{"kind": "Table", "rows": [{"cells'),
}
#: The faults whose request is not carried out.
_UNDONE = (Wire.WEBHOOK, Wire.BUSY, Wire.THROTTLED, Wire.DELETING, Wire.EXPIRED)


class KubernetesWire:
    """One server. `plan`: number of a request → its fault."""

    def __init__(self, model: Cluster, plan: Mapping[int, Wire] | None = None) -> None:
        self.model, self.plan = model, dict(plan or {})
        self.calls: list[str] = []
        #: acts that seemed to fail, and work when they are called
        self.late: list[Callable[[], object]] = []

    @asynccontextmanager
    async def running(self) -> AsyncIterator[str]:
        """Serve it for the length of the block; yields the address."""
        async with server(self._answer) as running:
            yield running.url

    def happen_late(self) -> None:
        """Carry out the acts that seemed to fail."""
        late, self.late = self.late, []
        for act in late:
            act()

    def _answer(self, request: Request) -> Reply:
        self.calls.append(f"{request.method} {request.path}")
        fault = self.plan.get(len(self.calls))
        if fault is Wire.LATE:
            self.late.append(lambda: self._true(request))
        if fault in (Wire.REFUSED, Wire.LATE):
            return None
        if fault in _UNDONE:
            return _REPLIES[fault]
        reply = self._true(request)
        if fault is Wire.TWICE:
            return self._true(request)
        if fault is Wire.LOST:
            return None
        return _REPLIES[fault] if fault else reply

    def _true(self, request: Request) -> Reply:
        as_table = "as=Table" in request.headers.get("accept", "")
        code, body = self.model.answer(
            request.method, request.path, request.query, request.body, as_table=as_table
        )
        return code, body
