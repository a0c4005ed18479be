"""The person of the chaos run, whose waits are longer than the client's patience."""

from __future__ import annotations

import asyncio
import random
from types import SimpleNamespace
from typing import Any, cast

from slipway import AsyncJob
from slipway.client.calls.refusal import Unanswered
from tests.chaos.person import Person


async def test_a_person_waits_on_where_the_client_has_given_up() -> None:
    pauses: list[float] = []

    async def pause(seconds: float) -> None:
        pauses.append(seconds)

    job = _Job("succeeded", Unanswered("503"), Unanswered("not in time"))
    person = Person("http://127.0.0.1:9", {}, random.Random(1), pause)

    assert await person.end_of(cast(AsyncJob, job)) == "succeeded"
    assert len(pauses) == 2


class _Job:
    def __init__(self, state: str, *troubles: Unanswered) -> None:
        self._state, self._troubles = state, list(troubles)

    async def wait(self) -> Any:
        await asyncio.sleep(0)
        if self._troubles:
            raise self._troubles.pop(0)
        return SimpleNamespace(state=self._state)
