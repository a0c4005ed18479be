"""Access tokens against a tenant whose keys a local server publishes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import jwt
import pytest
from aiohttp import web
from cryptography.hazmat.primitives.asymmetric import rsa

from shared.adapters.entra import EntraTokens
from shared.core.caller import ADMIN, READ_ALL, SUBMIT
from shared.core.errors import Misuse, Unavailable
from tests.contract.entra_tenant import AUDIENCE, TENANT, Tenant, open_tenant


@asynccontextmanager
async def tenant_and_tokens(
    clock: Callable[[], float] = time.monotonic, patience: float = 10.0
) -> AsyncIterator[tuple[Tenant, EntraTokens]]:
    async with open_tenant() as tenant:
        yield tenant, EntraTokens(tenant.authority, TENANT, (AUDIENCE,), clock, patience)


async def test_a_token_names_its_caller_and_the_roles_that_are_ours() -> None:
    async with tenant_and_tokens() as (tenant, tokens):
        caller = await tokens.verify(tenant.token(roles=[SUBMIT, "Mail.Read"]))
        again = await tokens.verify(tenant.token(roles=[ADMIN, READ_ALL], oid="bob"))

    assert (caller.id, caller.roles) == ("ann", frozenset({SUBMIT}))
    assert (again.id, again.roles) == ("bob", frozenset({ADMIN, READ_ALL}))
    assert tenant.fetched == 1


async def test_a_token_of_version_1_has_another_issuer() -> None:
    async with tenant_and_tokens() as (tenant, tokens):
        assert await tokens.verify(tenant.token(iss=f"https://sts.windows.net/{TENANT}/"))


WRONG: dict[str, dict[str, Any]] = {
    "another application": {"aud": "api://other"},
    "no audience": {"aud": None},
    "another issuer": {"iss": "https://login.example.com/t/v2.0"},
    "issuer of another tenant": {"iss": "https://sts.windows.net/other/"},
    "another tenant": {"tid": "other"},
    "no tenant": {"tid": None},
    "expired": {"exp": time.time() - 3600},
    "without end": {"exp": None},
    "not yet": {"nbf": time.time() + 3600},
    "nobody": {"oid": None},
}


@pytest.mark.parametrize("what", WRONG)
async def test_a_token_that_is_not_for_us_is_refused(what: str) -> None:
    async with tenant_and_tokens() as (tenant, tokens):
        with pytest.raises(Misuse) as refused:
            await tokens.verify(tenant.token(**WRONG[what]))
    assert refused.value.status == 401
    assert refused.value.remedy


@pytest.mark.parametrize("roles", [[], None, "Jobs.Admin", ["jobs.admin"], [["Jobs.Admin"]]])
async def test_a_token_without_one_of_our_roles_opens_nothing(roles: Any) -> None:
    async with tenant_and_tokens() as (tenant, tokens):
        with pytest.raises(Misuse) as refused:
            await tokens.verify(tenant.token(roles=roles))
    assert refused.value.status == 403


async def test_a_forged_token_is_refused() -> None:
    stranger = rsa.generate_private_key(65537, 2048)
    async with tenant_and_tokens() as (tenant, tokens):
        good = tenant.token()
        claims = jwt.decode(good, options={"verify_signature": False})
        head, body, signature = good.split(".")
        other = tenant.token(roles=["Jobs.Admin"]).split(".")[1]
        forged = [
            jwt.encode(claims, "", algorithm="none", headers={"kid": "one"}),
            jwt.encode(claims, stranger, algorithm="RS256", headers={"kid": "one"}),
            jwt.encode(claims, stranger, algorithm="RS256", headers={"kid": "unknown"}),
            jwt.encode(claims, stranger, algorithm="RS256"),
            jwt.api_jws.PyJWS().encode(b"{}", b"x" * 32, algorithm="HS256", headers={"kid": "one"}),
            f"{head}.{other}.{signature}",
            f"{head}.{body}.",
            f"{head}.{body}",
            "", "a.b.c", "é", "x" * 20_000,
        ]  # fmt: skip
        for token in forged:
            with pytest.raises(Misuse) as refused:
                await tokens.verify(token)
            assert refused.value.status == 401


async def test_an_unknown_key_is_looked_for_once_a_minute_and_not_at_every_token() -> None:
    async with tenant_and_tokens() as (tenant, tokens):
        await tokens.verify(tenant.token())
        for _ in range(5):
            with pytest.raises(Misuse):
                await tokens.verify(tenant.token(kid="two"))
    assert tenant.fetched == 1


async def test_keys_that_are_known_go_on_while_they_cannot_be_fetched_again() -> None:
    now = 0.0
    async with tenant_and_tokens(lambda: now) as (tenant, tokens):
        await tokens.verify(tenant.token())
        now += 90_000
        tenant.answer = web.Response(status=500)
        for _ in range(3):
            assert await tokens.verify(tenant.token())
        assert tenant.fetched == 2
        with pytest.raises(Unavailable):  # no one can tell whether that is a new key
            await tokens.verify(tenant.token(kid="two"))
        now += 7 * 86_400
        with pytest.raises(Unavailable):
            await tokens.verify(tenant.token())
        tenant.answer = None
        assert await tokens.verify(tenant.token())


async def test_keys_that_cannot_be_fetched_are_no_verdict_on_a_token() -> None:
    async with tenant_and_tokens() as (tenant, tokens):
        for answer in (web.Response(status=500), web.Response(text="<html>"), web.Response(text="[]")):
            tenant.answer = answer
            with pytest.raises(Unavailable):
                await tokens.verify(tenant.token())
        tenant.answer = None
        assert await tokens.verify(tenant.token())


async def test_junk_tokens_hold_no_other_caller_while_the_keys_address_does_not_answer() -> None:
    now = 0.0
    async with tenant_and_tokens(lambda: now) as (tenant, tokens):
        await tokens.verify(tenant.token())
        now += 61
        tenant.answers.clear()
        tenant.fetching.clear()
        junk = [asyncio.create_task(tokens.verify(tenant.token(kid="two"))) for _ in range(5)]
        await tenant.fetching.wait()

        assert (await tokens.verify(tenant.token())).id == "ann"
        assert not any(task.done() for task in junk)

        tenant.answers.set()
        ends = await asyncio.gather(*junk, return_exceptions=True)
    assert {type(end) for end in ends} == {Misuse}
    assert tenant.fetched == 2


async def test_a_fetch_that_hung_is_the_answer_to_unknown_keys_for_a_while() -> None:
    now = 0.0
    async with tenant_and_tokens(lambda: now, patience=0.1) as (tenant, tokens):
        await tokens.verify(tenant.token())
        now += 61
        tenant.answers.clear()
        tenant.fetching.clear()
        first = asyncio.create_task(tokens.verify(tenant.token(kid="two")))
        await tenant.fetching.wait()
        now += 10
        with pytest.raises(Unavailable):
            await first
        for _ in range(5):
            with pytest.raises(Unavailable):
                await tokens.verify(tenant.token(kid="two"))
        assert tenant.fetched == 2
        now += 6
        tenant.answers.set()
        with pytest.raises(Misuse):
            await tokens.verify(tenant.token(kid="two"))
    assert tenant.fetched == 3
