"""A receiver's name that leads to an inner address for a while: nothing is sent, and the schedule goes on."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
from aiohttp.abc import AbstractResolver, ResolveResult

from shared.adapters.webhook.sender import WebhookSender
from shared.core.notify.events import Delivery, Notice
from shared.core.notify.webhook_url import UrlPolicy
from shared.delivery.try_delivery import try_delivery
from tests.unit.world import World

UNKNOWN = socket.gaierror(socket.EAI_NONAME, "Name or service not known")
INNER = [
    ["10.0.0.5"], ["0.0.0.0"], ["127.0.0.1"], ["93.184.216.34", "10.0.0.5"], ["::1"], ["fd00::1"],
    ["64:ff9b::5db8:d822", "93.184.216.34"], ["::ffff:93.184.216.34"], ["198.18.0.7"],
    ["100.64.3.2"], ["168.63.129.16"],
]  # fmt: skip
SECRET = "whsec_" + "A" * 43 + "="


@dataclass
class Names(AbstractResolver):
    """A name server with one answer."""

    answer: list[str] | OSError

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        if isinstance(self.answer, OSError):
            raise self.answer
        return [
            ResolveResult(hostname=host, host=one, port=port, family=family, proto=0, flags=0)
            for one in self.answer
        ]

    async def close(self) -> None:
        """Nothing to close."""


@pytest.fixture
async def names(world: World) -> AsyncIterator[Names]:
    server = Names(UNKNOWN)
    sender = WebhookSender(UrlPolicy(), resolver=server)
    world.use(webhooks=sender, secrets={"default": (SECRET,)})
    yield server
    await sender.close()


async def _tried(world: World, url: str, tries: int) -> Delivery:
    delivery = Delivery(url=url, due=world.now)
    notice = Notice(
        job_id="j_x", sequence=3, event_id="evt_1", type="t", body="{}",
        due=world.now, since=world.now, deliveries=(delivery,),
    )  # fmt: skip
    for _ in range(tries):
        delivery = await try_delivery(world.ports, notice, delivery, world.now)
        world.ports.receivers.breaker.succeeded(url)  # or its pauses would come between the tries
        if delivery.state == "pending":
            world.now = delivery.due
    return delivery


@pytest.mark.parametrize("answer", INNER, ids=" ".join)
async def test_a_name_that_leads_inside_follows_the_schedule_as_an_unknown_name_does(
    world: World, names: Names, answer: list[str]
) -> None:
    names.answer = answer
    inner = await _tried(world, "https://inner.example.com/x", 1)

    assert (inner.state, inner.try_count) == ("pending", 1)
    assert inner.last == (
        "not sent: its name leads to an address that is not public; correct what DNS answers for it"
    )
    assert [one.status for one in inner.tries] == [None]
    assert not any(address in inner.model_dump_json() for address in answer)


async def test_it_is_given_up_after_the_last_try_of_the_schedule_and_not_before(
    world: World, names: Names
) -> None:
    names.answer = INNER[0]
    most = len(world.ports.policy.schedule.waits)
    before = await _tried(world, "https://inner.example.com/x", most)
    after = await _tried(world, "https://other.example.com/x", most + 1)

    assert (before.state, before.try_count) == ("pending", most)
    assert (after.state, after.try_count) == ("dead", most + 1)


async def test_an_address_that_names_an_inner_place_itself_is_given_up_at_once(
    world: World, names: Names
) -> None:
    for url in ("https://10.0.0.5/x", "https://[::1]/x", "https://localhost/x", "https://db.internal/x"):
        assert (await _tried(world, url, 1)).state == "dead"
