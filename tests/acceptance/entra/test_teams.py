"""Teams of a deployment that asks for tokens: who sees, changes and submits what."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.acceptance.door import ENDS, Door, eventually, shell
from tests.contract.entra_tenant import Tenant

pytestmark = pytest.mark.asyncio(loop_scope="session")

Headers = dict[str, str]
As = Callable[..., Headers]
TEAMS: dict[str, Any] = {
    "teams": {
        "vision": {
            "members": [{"user": "ann"}, {"user": "mia", "manager": True}, {"group": "group-of-vision"}],
        },
        "speech": {"members": [{"user": "sam"}], "clusters": []},
        "small": {"members": [{"user": "liv"}], "quota": {"jobs": 1}},
    }
}


@pytest.fixture
def bearer(tenant: Tenant) -> As:
    def bearer(oid: str, *roles: str, **claims: Any) -> Headers:
        roles = roles or ("Jobs.Submit",)
        return {"Authorization": f"Bearer {tenant.token(oid=oid, roles=list(roles), **claims)}"}

    return bearer


@pytest_asyncio.fixture(loop_scope="session")
async def shared(guarded: Door, bearer: As) -> AsyncIterator[Door]:
    """The deployment while it has teams."""
    boss = bearer("dan", "Jobs.Admin")
    status, body, _ = await guarded.call("PUT", "teams", TEAMS, **boss)
    assert (status, len(body["changes"])) == (200, 3)
    yield guarded
    assert (await guarded.call("PUT", "teams", {}, **boss))[0] == 200


#: Who asks → the status of a look at ann's job, whether a list has it, the status of its cancel.
EXPECTED = {
    "ann": (200, True, True),
    "mia": (200, True, True),
    "bob": (200, True, False),
    "sam": (404, False, False),
    "cay": (200, True, False),
    "dan": (200, True, True),
}


async def test_members_see_and_managers_change_the_jobs_of_their_team(shared: Door, bearer: As) -> None:
    people = {
        "ann": bearer("ann"),
        "mia": bearer("mia"),
        "bob": bearer("bob", groups=["group-of-vision"]),
        "sam": bearer("sam"),
        "cay": bearer("cay", "Jobs.Read.All"),
        "dan": bearer("dan", "Jobs.Admin"),
    }
    _, job, _ = await shared.call("POST", "jobs", shell("sleep 60"), **people["ann"])
    assert job["team"] == "vision"
    path = f"jobs/{job['id']}"

    for name, headers in people.items():
        status_of_look, listed, changed = EXPECTED[name]
        assert (await shared.call("GET", path, None, **headers))[0] == status_of_look, name
        _, body, _ = await shared.call("GET", "jobs?team=vision", None, **headers)
        assert (job["id"] in {one["id"] for one in body["jobs"]}) == listed, name
        status, _, _ = await shared.call("POST", f"{path}/cancel", None, **headers)
        assert (status in (200, 202)) == changed, name
        assert changed or status == (403 if status_of_look == 200 else 404), name


async def test_a_caller_in_no_team_and_a_team_without_clusters_run_nothing(shared: Door, bearer: As) -> None:
    for who, message in (("eve", "you are not in a team"), ("sam", "may not use the cluster")):
        status, body, _ = await shared.call("POST", "jobs", shell("true"), **bearer(who))
        assert status == 422
        assert message in body["errors"][0]["message"]
        assert body["errors"][0]["code"] == "SW113"


async def test_the_second_job_of_a_small_team_waits_and_says_why(shared: Door, bearer: As) -> None:
    liv, boss = bearer("liv"), bearer("dan", "Jobs.Admin")
    _, first, _ = await shared.call("POST", "jobs", shell("sleep 600"), **liv)
    _, second, _ = await shared.call("POST", "jobs", shell("true"), **liv)

    assert first["state"] in ("submitting", "queued", "running")
    assert (second["state"], second["waiting"]["word"]) == ("accepted", "TeamQuota")
    _, body, _ = await shared.call("GET", "teams", None, **boss)
    use = body["use"]["small"]
    assert {name: use[name] for name in ("jobs", "nodes", "gpus", "waiting")} == {
        "jobs": 1,
        "nodes": 1,
        "gpus": 1,
        "waiting": 1,
    }
    await shared.call("POST", f"jobs/{first['id']}/cancel", None, **liv)

    async def state() -> str | None:
        _, job, _ = await shared.call("GET", f"jobs/{second['id']}", None, **liv)
        return job["state"] if job["state"] in ENDS else None

    assert await eventually(state, "the second job to end") == "succeeded"


async def test_a_caller_is_shown_their_teams(shared: Door, bearer: As) -> None:
    _, body, _ = await shared.call("GET", "me", None, **bearer("mia"))

    assert body["teams"] == [{"name": "vision", "manager": True}]


async def test_only_an_operator_reads_and_replaces_the_document(
    shared: Door, bearer: As, tmp_path: Path
) -> None:
    for method in ("GET", "PUT"):
        for role in ("Jobs.Submit", "Jobs.Read.All"):
            assert (await shared.call(method, "teams", TEAMS, **bearer("mia", role)))[0] == 403
    boss = bearer("dan", "Jobs.Admin")
    assert (await shared.call("PUT", "teams?dryRun=yes", {}, **boss))[0] == 400
    _, body, _ = await shared.call("GET", "teams", None, **boss)
    assert body["document"] == TEAMS
    wrong = json.loads(json.dumps(TEAMS).replace("members", "membres", 1))
    status, body, _ = await shared.call("PUT", "teams", wrong, **boss)
    assert (status, body["errors"][0]["pointer"]) == (422, "/teams/vision/membres")
