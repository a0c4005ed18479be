"""Azure Batch on the wire, over the model: every way in which a call can fail there."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from enum import StrEnum

from tests.crash.batch.nodes import Azure
from tests.unit.engines.batch.account import Reply, Request, account, error


class Wire(StrEnum):
    """What happens to one request."""

    LOST = "it works, its answer is lost"
    REFUSED = "the connection breaks before it"
    LATE = "the connection breaks, and it works later"
    TIMED_OUT = "500 OperationTimedOut: it works, and the front of the service did not hear of it"
    INTERNAL = "500 InternalError: it does not work"
    BUSY = "503 ServerBusy with Retry-After"
    THROTTLED = "429 with Retry-After"
    TWICE = "the service does it twice, and answers the second time: 409 TaskExists"
    DELETING = "409: what it is about is being deleted"
    GATEWAY = "it works, and a gateway answers 502 with a page of its own"
    GARBAGE = "it works, and half of the answer comes"


_REPLIES: Mapping[Wire, Reply] = {
    Wire.TIMED_OUT: (500, error("OperationTimedOut")),
    Wire.INTERNAL: (500, error("InternalError")),
    Wire.BUSY: (503, error("ServerBusy")),
    Wire.THROTTLED: (429, error("TooManyRequests")),
    Wire.DELETING: (409, error("JobBeingDeleted")),
    Wire.GATEWAY: (502, "<html>Bad gateway</html>"),
    Wire.GARBAGE: (200, '{"value": [{"id": "a'),
}
#: The faults whose request is not carried out.
_UNDONE = (Wire.INTERNAL, Wire.BUSY, Wire.THROTTLED, Wire.DELETING)


class BatchWire:
    """One account. `plan`: number of a request → its fault."""

    def __init__(self, model: Azure, plan: Mapping[int, Wire] | None = None) -> None:
        self.model, self.plan = model, dict(plan or {})
        self.calls: list[str] = []
        #: acts that seemed to fail, and work when they are called
        self.late: list[Callable[[], object]] = []

    @asynccontextmanager
    async def running(self) -> AsyncIterator[str]:
        """Serve it for the length of the block; yields the address."""
        # A pause lasts by this machine's clock, which a story does not wait for.
        async with account(self._answer, strict=True, pause=0) as running:
            yield running.url

    def happen_late(self) -> None:
        """Carry out the acts that seemed to fail."""
        late, self.late = self.late, []
        for act in late:
            act()

    def _answer(self, request: Request) -> Reply | None:
        self.calls.append(f"{request.method} {request.path}")
        fault = self.plan.get(len(self.calls))
        if fault is Wire.LATE:
            self.late.append(lambda: self.model.answer(request))
        if fault in (Wire.REFUSED, Wire.LATE):
            return None
        if fault in _UNDONE:
            return _REPLIES[fault]
        reply = self.model.answer(request)
        if fault is Wire.TWICE:
            return self.model.answer(request)
        if fault is Wire.LOST:
            return None
        return _REPLIES[fault] if fault else reply
