"""A proxy that loses the first answer to each request: the work is done, and the connection is cut."""

from __future__ import annotations

import random
from collections import Counter
from typing import Literal

from aiohttp import web

from tests.chaos.proxy import Odds, Proxy

#: How an answer is lost: the connection is cut, or something else answers 503 in its place.
Loss = Literal["lost", "unanswered"]


class LosingProxy(Proxy):
    """Forwards to `target`; `arrived` counts the requests by method and path."""

    def __init__(self, url: str, loss: Loss = "lost") -> None:
        super().__init__(Odds(0, 0, 0), random.Random(0))
        self.stand_for(url)
        self.loss = loss
        self.arrived: Counter[str] = Counter()

    def fault(self, request: web.BaseRequest) -> str:
        """The first request of each kind gets no answer."""
        this = f"{request.method} {request.raw_path}"
        self.arrived[this] += 1
        return self.loss if self.arrived[this] == 1 else ""
