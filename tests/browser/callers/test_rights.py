"""Signing in with Entra, and what each role is offered: a stack of its own, and a tenant at the wire."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Page, expect

from tests.acceptance.door import Door, shell, unique
from tests.acceptance.entra.guarded import guarded_stack
from tests.browser.reader import PATIENCE, Reader, account, rows, sign_out, token
from tests.contract.entra_tenant import AUDIENCE, Person, Tenant, open_tenant

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def tenant() -> AsyncIterator[Tenant]:
    async with open_tenant() as tenant:
        yield tenant


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def guarded(tenant: Tenant, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Door]:
    """The stack, which asks for tokens of the tenant."""
    async with guarded_stack(tenant, tmp_path_factory.mktemp("guarded")) as opened:
        yield opened


@pytest.fixture
def visitor(page: Page, guarded: Door) -> Reader:
    return Reader(page, f"{guarded.stack.host_url}/api/ui/")


async def enter(visitor: Reader, tenant: Tenant, oid: str, *roles: str, address: str = "jobs") -> None:
    """Open a view as this person, by way of the tenant."""
    tenant.person = Person(oid, roles)
    await visitor.open(address)
    await visitor.page.get_by_role("button", name="Sign in with Entra ID").click()
    await expect(account(visitor.page)).to_be_visible()


async def job_of(guarded: Door, tenant: Tenant, oid: str) -> str:
    """The id of a job of theirs that goes on."""
    token = tenant.token(oid=oid, roles=["Jobs.Submit"])
    document = {"name": unique("theirs"), "spec": shell("sleep 600")}
    status, job, _ = await guarded.call("POST", "jobs", document, Authorization=f"Bearer {token}")
    assert status == 202, job
    return str(job["id"])


async def test_a_person_signs_in_and_comes_back_to_where_they_were(visitor: Reader, tenant: Tenant) -> None:
    page = visitor.page

    await enter(visitor, tenant, "ann", "Jobs.Submit", address="clusters")

    await expect(page.get_by_role("heading", name="Clusters", exact=True)).to_be_visible()
    assert page.url == f"{visitor.url}#/clusters"
    await page.reload()
    await expect(page.get_by_role("heading", name="Clusters", exact=True)).to_be_visible()
    assert await page.evaluate("Object.values(localStorage).length + document.cookie.length") == 0
    await sign_out(page)
    await expect(page.get_by_role("button", name="Sign in with Entra ID")).to_be_visible()
    assert await page.evaluate("Object.values(sessionStorage).length") == 0


async def test_an_answer_that_this_tab_did_not_ask_for_is_not_taken(visitor: Reader, tenant: Tenant) -> None:
    before = tenant.redeemed

    await visitor.page.goto(f"{visitor.url}#code=stolen&state=forged")

    await expect(visitor.page.get_by_role("alert")).to_contain_text("did not ask")
    assert tenant.redeemed == before
    assert visitor.page.url == f"{visitor.url}#/"


@pytest.mark.parametrize(("claim", "value"), [("nonce", "another"), ("aud", AUDIENCE), ("iss", "https://x")])
async def test_an_identity_of_another_sign_in_is_not_taken(
    visitor: Reader, tenant: Tenant, claim: str, value: str
) -> None:
    tenant.person = Person(spoilt={claim: value})
    await visitor.open("jobs")
    await visitor.page.get_by_role("button", name="Sign in with Entra ID").click()

    await expect(visitor.page.get_by_role("alert")).to_contain_text("belongs to another sign-in")
    assert await visitor.page.evaluate("sessionStorage.getItem('slipway-credential')") is None


async def test_who_declines_to_sign_in_reads_what_the_tenant_says(visitor: Reader) -> None:
    page = visitor.page

    await visitor.open("jobs")
    await page.get_by_role("button", name="Sign in with Entra ID").wait_for()
    await page.evaluate(
        "sessionStorage.setItem('slipway-sign-in', JSON.stringify({state: 's', hash: '#/jobs', way: {}}))"
    )
    await page.goto("about:blank")
    await page.goto(f"{visitor.url}#error=access_denied&error_description=<b>declined</b>&state=s")

    await expect(page.get_by_role("alert")).to_contain_text("<b>declined</b>")


async def test_an_expired_token_leads_back_to_the_sign_in(visitor: Reader, tenant: Tenant) -> None:
    page = visitor.page
    await enter(visitor, tenant, "ann", "Jobs.Submit")
    await page.evaluate(f"sessionStorage.setItem('slipway-credential', 'token {tenant.token(exp=1)}')")

    await page.get_by_role("link", name="Clusters").click()

    await expect(page.get_by_role("button", name="Sign in with Entra ID")).to_be_visible(timeout=PATIENCE)
    await expect(page.get_by_role("alert").filter(has_text="refused the last one")).to_contain_text(
        "it has expired"
    )


async def expire(visitor: Reader, tenant: Tenant, oid: str, role: str) -> None:
    """Let the token in the tab be one of an hour ago, as the tenant signed it then."""
    now = int(time.time())
    token = tenant.token(oid=oid, roles=[role], iat=now - 7200, nbf=now - 7200, exp=now - 3600)
    await visitor.page.evaluate(f"sessionStorage.setItem('slipway-credential', 'token {token}')")


async def sign_in_again(visitor: Reader) -> None:
    """As someone who is told that their token has expired."""
    # What a view says of its own call may still be there.
    keeps = "What you wrote in this tab is still there"
    await expect(visitor.page.get_by_role("alert").filter(has_text=keeps)).to_contain_text("it has expired")
    await visitor.page.get_by_role("button", name="Sign in with Entra ID").click()


async def test_who_submits_with_an_expired_token_signs_in_and_finds_all_that_they_wrote(
    visitor: Reader, guarded: Door, tenant: Tenant
) -> None:
    page, name = visitor.page, unique("expired")
    await enter(visitor, tenant, "ann", "Jobs.Submit", address="new")
    text = page.get_by_label("job.json")
    await text.fill(json.dumps(shell("true")).replace("nodeCount", "nodeCuont"))
    await page.get_by_label("Name").fill(name)
    await page.locator(".findings").get_by_role("button", name="Fix it").first.click()
    await expect(text).to_contain_text('"nodeCount"')
    await expect(page.get_by_text("This document can run.")).to_be_visible()
    await expire(visitor, tenant, "ann", "Jobs.Submit")
    await page.get_by_role("button", name="Submit").click()
    await sign_in_again(visitor)

    await expect(text).to_contain_text('"nodeCount"')
    await expect(page.get_by_label("Name")).to_have_value(name)
    await page.get_by_role("button", name="Submit").click()

    await expect(page.get_by_role("heading", level=1)).to_contain_text(name)
    _, listed, _ = await guarded.call(
        "GET", f"jobs?name={name}", Authorization=f"Bearer {tenant.token(roles=['Jobs.Admin'])}"
    )
    assert len(listed["jobs"]) == 1


async def test_an_operator_with_an_expired_token_finds_every_field_as_it_was(
    visitor: Reader, tenant: Tenant
) -> None:
    page = visitor.page
    fields = {
        "Reason for a pause": "the disks are full",
        "Address": "https://hooks.example.org/x",
        "Name of its secret": "hooks",
    }
    await enter(visitor, tenant, "dan", "Jobs.Admin", address="operate")
    for label, typed in fields.items():
        await page.get_by_label(label, exact=True).fill(typed)
    await expire(visitor, tenant, "dan", "Jobs.Admin")
    await page.get_by_role("button", name="Compare drops").click()
    tenant.person = Person("dan", ("Jobs.Admin",))
    await sign_in_again(visitor)

    for label, typed in fields.items():
        await expect(page.get_by_label(label, exact=True)).to_have_value(typed)
    await sign_out(page)
    assert await page.evaluate("sessionStorage.length") == 0


@pytest.mark.parametrize(
    ("oid", "role", "offered"),
    [
        ("ann", "Jobs.Submit", {"Cancel", "Submit"}),
        ("cay", "Jobs.Read.All", set()),
        ("dan", "Jobs.Admin", {"Cancel", "Submit", "Pause submissions"}),
    ],
)
async def test_what_a_role_may_not_do_is_not_offered(
    visitor: Reader, guarded: Door, tenant: Tenant, oid: str, role: str, offered: set[str]
) -> None:
    page, job = visitor.page, await job_of(guarded, tenant, "ann")
    await enter(visitor, tenant, oid, role, address=f"jobs/{job}")

    async def look_for(name: str) -> None:
        expected = int(name in offered)
        await expect(page.get_by_role("button", name=name, exact=True)).to_have_count(expected)

    await expect(page.get_by_role("heading", name="Events")).to_be_visible()
    await look_for("Cancel")
    await visitor.open("new")
    await expect(page.get_by_role("button", name="Explain")).to_be_visible()
    await look_for("Submit")
    await visitor.open("operate")
    await expect(page.get_by_role("heading", name="Health")).to_be_visible()
    await expect(page.get_by_text("go on")).to_be_visible()
    await look_for("Pause submissions")
    await expect(page.get_by_role("heading", level=2)).to_have_count(5 if role == "Jobs.Admin" else 1)
    assert await visitor.violations() == []


async def test_someone_without_a_role_reads_why_nothing_is_shown(visitor: Reader, tenant: Tenant) -> None:
    await enter(visitor, tenant, "eve", "Mail.Read")

    await expect(visitor.page.get_by_role("alert")).to_contain_text("none of the roles")
    await expect(visitor.page.get_by_role("search")).to_have_count(0)


async def test_a_team_sees_its_jobs_and_quota_and_only_its_managers_are_offered_to_cancel_them(
    visitor: Reader, guarded: Door, tenant: Tenant
) -> None:
    page, members = visitor.page, [{"user": "ann"}, {"user": "bob"}, {"user": "mia", "manager": True}]
    teams = {"teams": {"vision": {"members": members, "quota": {"jobs": 1}}, "speech": {}}}
    boss = {"Authorization": f"Bearer {tenant.token(oid='dan', roles=['Jobs.Admin'])}"}
    assert (await guarded.call("PUT", "teams", teams, **boss))[0] == 200
    jobs = [await job_of(guarded, tenant, "ann") for _ in range(2)]

    await enter(visitor, tenant, "mia", "Jobs.Submit", address="jobs?team=vision")
    await expect(token(page, "team: vision")).to_be_visible()
    await expect(rows(page)).to_have_count(2)
    row = rows(page).nth(0)
    await expect(row.get_by_role("link", name="vision")).to_have_attribute("href", "#/jobs?team=vision")
    await expect(row).to_contain_text("waits for its turn in the team vision")
    await visitor.open(f"jobs/{jobs[1]}")
    why = page.get_by_role("region", name="Why")
    await expect(why.get_by_role("heading")).to_contain_text("Waits for its turn in the team vision")
    await expect(why).to_contain_text("Place in line1")
    await page.get_by_role("button", name="Cancel", exact=True).click()
    await page.get_by_role("button", name="Yes, cancel the job").click()
    await expect(page.get_by_role("heading", level=1)).to_contain_text("cancelled", timeout=PATIENCE)
    await page.get_by_role("link", name="Run with changes").click()
    await expect(page.get_by_label("job.json")).to_contain_text('"team": "vision"')
    await visitor.open("operate")
    await page.get_by_role("button", name="Show the newest acts").click()
    act = page.get_by_role("table", name="Requests that changed something").get_by_role("row").nth(1)
    await expect(act).to_contain_text(f"miacancel_job{jobs[1]}vision2")
    await sign_out(page)

    await enter(visitor, tenant, "bob", "Jobs.Submit", address=f"jobs/{jobs[0]}")
    await expect(page.get_by_role("link", name="vision")).to_be_visible()
    await expect(page.get_by_role("button", name="Cancel", exact=True)).to_have_count(0)
    await visitor.open("usage")
    await expect(page.get_by_role("region", name="Teams").get_by_role("link", name="vision")).to_be_visible()
    await expect(page.get_by_role("link", name="speech")).to_have_count(0)
    await visitor.open("operate")
    for heading in ("Dead letters", "Who did what"):
        await expect(page.get_by_role("heading", name=heading)).to_have_count(0)
    await sign_out(page)

    await enter(visitor, tenant, "dan", "Jobs.Admin", address="usage")
    shown = page.get_by_role("region", name="Teams").get_by_role("listitem")
    await expect(shown.filter(has_text="vision")).to_contain_text("claimed now: 1 of 1 job")
    await expect(shown.filter(has_text="speech")).to_contain_text("no quota")
    assert await visitor.violations() == []
    assert (await guarded.call("PUT", "teams", {}, **boss))[0] == 200
