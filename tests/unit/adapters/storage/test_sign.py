"""The token of an identity: kept as long as it can be used."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from azure.core.exceptions import ClientAuthenticationError

from shared.adapters.storage.wire.sign import Identity
from shared.core.errors import Unavailable


class Credential:
    """Gives tokens that are good for an hour, or none."""

    def __init__(self) -> None:
        self.now, self.requests, self.down = 1_000_000.0, 0, False

    async def get_token(self, scope: str) -> Any:
        self.requests += 1
        if self.down:
            raise ClientAuthenticationError("no answer")
        return SimpleNamespace(token=f"t{self.requests}", expires_on=int(self.now) + 3600)


async def value(identity: Identity) -> str:
    return await identity.authorization("GET", "/", {}, {}, table=True)


async def test_a_token_that_cannot_be_renewed_is_used_until_its_end() -> None:
    source = Credential()
    identity = Identity("", source, lambda: source.now)
    assert await value(identity) == "Bearer t1"
    source.now += 3400
    source.down = True
    assert [await value(identity) for _ in range(5)] == ["Bearer t1"] * 5
    assert source.requests == 2  # not at every request
    source.now += 199
    assert await value(identity) == "Bearer t1"
    source.now += 1
    with pytest.raises(Unavailable):
        await value(identity)
    source.down = False
    assert await value(identity) == "Bearer t5"


async def test_a_renewal_that_failed_is_tried_again_before_the_end() -> None:
    source = Credential()
    identity = Identity("", source, lambda: source.now)
    await value(identity)
    source.now += 3301
    source.down = True
    await value(identity)
    source.now += 30
    source.down = False
    assert await value(identity) == "Bearer t3"
