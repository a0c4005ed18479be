"""The API of a deployment that asks for tokens of Entra: who may see, ask for, cancel and pause what."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable
from typing import Any

import pytest

from tests.acceptance.door import Door, shell
from tests.contract.entra_tenant import Tenant
from tests.unit.openapi import DOCUMENT

pytestmark = pytest.mark.asyncio(loop_scope="session")

As = Callable[..., dict[str, str]]


@pytest.fixture
def bearer(tenant: Tenant) -> As:
    def bearer(oid: str, *roles: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {tenant.token(oid=oid, roles=list(roles))}"}

    return bearer


_VALUES = {"{id}": "j_x", "{directory}": "MODEL", "{path}": "a.bin", "{sha256}": "0" * 64}
_OPEN = {(method, path) for method in ("GET", "HEAD") for path in ("health", "ui/a.bin")}


def routes() -> list[tuple[str, str]]:
    """Each operation of the API, with a value in the place of each name."""
    return sorted(
        (method.upper(), re.sub(r"{.+?}", lambda name: _VALUES[name[0]], path.removeprefix("/api/")))
        for path, operations in DOCUMENT["paths"].items()
        for method in operations
    )


EVERY_ROUTE = [route for route in routes() if route not in _OPEN]


@pytest.mark.parametrize(("method", "path"), EVERY_ROUTE)
async def test_without_a_good_token_no_one_gets_in(
    guarded: Door, tenant: Tenant, method: str, path: str
) -> None:
    for header in ({}, {"Authorization": "Bearer x.y.z"}, {"Authorization": f"Basic {tenant.token()}"}):
        status, body, headers = await guarded.call(method, path, {"properties": {}}, **header)
        assert (status, headers["WWW-Authenticate"]) == (401, "Bearer")
        assert body["remedy"]
    token = tenant.token(aud="api://other")
    assert (await guarded.call(method, path, {}, Authorization=f"Bearer {token}"))[0] == 401
    nothing = {"Authorization": f"Bearer {tenant.token(roles=['Mail.Read'])}"}
    assert (await guarded.call(method, path, {}, **nothing))[0] == 403


async def test_a_job_belongs_to_who_asked_for_it(guarded: Door, bearer: As) -> None:
    ann, bob = bearer("ann", "Jobs.Submit"), bearer("bob", "Jobs.Submit")
    auditor, boss = bearer("cay", "Jobs.Read.All"), bearer("dan", "Jobs.Admin")
    _, job, _ = await guarded.call("POST", "jobs", shell("sleep 60"), **ann)
    path = f"jobs/{job['id']}"
    assert job["owner"] == "ann"

    async def status(method: str, path: str, who: dict[str, str]) -> int:
        return (await guarded.call(method, path, None, **who))[0]

    async def listed(who: dict[str, str]) -> bool:
        _, body, _ = await guarded.call("GET", "jobs", None, **who)
        return job["id"] in {one["id"] for one in body["jobs"]}

    assert [await status("GET", path, who) for who in (ann, bob, auditor, boss)] == [200, 404, 200, 200]
    assert [await listed(who) for who in (ann, bob, auditor, boss)] == [True, False, True, True]
    assert [await status("POST", f"{path}/cancel", who) for who in (bob, auditor)] == [404, 403]
    assert await status("POST", f"{path}/cancel", boss) in (200, 202)
    assert await status("POST", f"{path}/cancel", ann) in (200, 202)


async def test_roles_limit_what_one_may_do(guarded: Door, bearer: As) -> None:
    auditor, submitter = bearer("cay", "Jobs.Read.All"), bearer("ann", "Jobs.Submit")
    assert (await guarded.call("POST", "jobs", shell("true"), **auditor))[0] == 403
    assert (await guarded.call("POST", "pause", None, **submitter))[0] == 403
    assert (await guarded.call("POST", "validate", shell("true"), **auditor))[0] == 200
    assert (await guarded.call("GET", "me", None, **auditor))[1] == {
        "id": "cay",
        "roles": ["Jobs.Read.All"],
        "teams": [],
    }


async def test_an_idempotency_key_is_its_callers_own_in_quotes_or_not(guarded: Door, bearer: As) -> None:
    key = str(uuid.uuid4())

    async def post(oid: str, key: str) -> tuple[int, Any]:
        who = bearer(oid, "Jobs.Submit")
        status, job, _ = await guarded.call("POST", "jobs", shell("true"), Idempotency_Key=key, **who)
        return status, job["id"]

    status, first = await post("ann", key)
    assert status == 202
    assert await post("ann", f'"{key}"') == (200, first)
    status, other = await post("bob", key)
    assert (status, other == first) == (202, False)
