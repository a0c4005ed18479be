"""Someone who reads the page, and a stand-in for the API at the wire."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal
from urllib.parse import parse_qsl, urlsplit

from playwright.async_api import Locator, Page, Route, expect

from tests.breadth import pairs

AXE = Path(__file__).resolve().parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js"
#: Milliseconds; jobs start and end within them here.
PATIENCE = 60_000
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
WIDTHS = (360, 800, 1920)
#: Texts that have so little room that their letters stand below each other.
_SQUEEZED = """[...document.querySelectorAll('main *')].filter(one => {
    const { width, height } = one.getBoundingClientRect();
    const size = parseFloat(getComputedStyle(one).fontSize);
    const text = [...one.childNodes].filter(node => node.nodeType === 3).map(node => node.data).join('');
    return text.trim().length > 3 && one.checkVisibility() && width < 2 * size && height > 3 * size;
}).map(one => one.outerHTML.slice(0, 120))"""
_NEWEST = datetime(2026, 11, 20, 10, tzinfo=UTC)


@dataclass(frozen=True)
class Reader:
    """A reader at the page's address."""

    page: Page
    url: str

    async def sign_in(self, key: str) -> None:
        """Open the jobs and enter a key, as a first visit does."""
        await self.page.goto(f"{self.url}#/jobs")
        await self.page.get_by_label("Function key").fill(key)
        await self.page.get_by_role("button", name="Sign in").click()
        await expect(self.page.get_by_role("heading", name="Jobs", exact=True)).to_be_visible()

    async def open(self, address: str) -> None:
        await self.page.goto(f"{self.url}#/{address}")

    async def violations(self) -> list[str]:
        """What axe finds wrong with the view, by the rules of WCAG 2.2 AA. Runs beside the page's policy."""
        session = await self.page.context.new_cdp_session(self.page)
        if not await self.page.evaluate("'axe' in window"):
            await session.send("Runtime.evaluate", {"expression": AXE.read_text(encoding="utf-8")})
        tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
        outcome = await session.send(
            "Runtime.evaluate",
            {
                "expression": f"axe.run({{runOnly: {json.dumps(tags)}}}).then(r => JSON.stringify("
                "r.violations.map(v => [v.id, v.nodes.map(n => n.html + ' ' + n.failureSummary)])))",
                "awaitPromise": True,
                "returnByValue": True,
            },
        )
        await session.detach()
        return [f"{name}: {nodes}" for name, nodes in json.loads(outcome["result"]["value"])]

    async def violations_everywhere(self) -> list[str]:
        """The same in light and dark, on a telephone and a wide screen, and what sticks out there.

        A quick run has each width once, and light and dark in turn.
        """
        page, before, violations = self.page, self.page.viewport_size, list[str]()
        assert before is not None
        for width, scheme in pairs(WIDTHS, SCHEMES):
            await page.emulate_media(color_scheme=scheme)
            await page.set_viewport_size({"width": width, "height": 900})
            violations += [f"{scheme} {width}: {one}" for one in await self.violations()]
            if not await page.evaluate("document.documentElement.scrollWidth <= innerWidth"):
                violations.append(f"{scheme} {width}: it sticks out")
            violations += [
                f"{scheme} {width}: letters below each other: {one}" for one in await page.evaluate(_SQUEEZED)
            ]
        await page.emulate_media(color_scheme="null")
        await page.set_viewport_size(before)
        return violations


async def sign_out(page: Page) -> None:
    """By the menu of the header."""
    await account(page).click()
    await page.get_by_role("button", name="Sign out").click()


def account(page: Page) -> Locator:
    """What opens the menu with who is signed in."""
    return page.get_by_role("button", name="account and theme")


def search(page: Page) -> Locator:
    """The field that every view has for the search."""
    return page.get_by_role("combobox", name="Search jobs")


def token(page: Page, text: str) -> Locator:
    """A token of the search, as the button that takes it away."""
    return page.get_by_role("button", name=f"Remove {text}", exact=True)


def rows(page: Page) -> Locator:
    """The rows of the list that have jobs: days are rows, too."""
    return page.get_by_role("row").and_(page.locator(".room > :not(.day)"))


async def comes(what: Locator) -> None:
    """Let the clock of the page go on until something is there.

    Answers take real time, and the page asks again some time after one by its clock: a single long step may
    be over before an answer that was on its way comes in, and nothing would be asked any more.
    """
    for _ in range(60):
        await what.page.clock.run_for(5000)
        with suppress(AssertionError):
            await expect(what).to_be_visible(timeout=500)
            break
    await expect(what).to_be_visible()


def listed(number: int, **members: Any) -> dict[str, Any]:
    """A job of a list; a greater number is an older one."""
    created = (_NEWEST - timedelta(seconds=number)).isoformat().replace("+00:00", "Z")
    ended = {"state": "succeeded", "startedAt": created, "endedAt": created}
    job = {"id": f"job-{number:06}", "name": f"train-{number:06}", "door": "queue", "attempt": 1}
    return {
        **job,
        **ended,
        "cluster": "gpu",
        "createdAt": created,
        "receipt": "runs/x/receipt.json",
    } | members


async def answer_tagged(page: Page, pattern: str, body: dict[str, Any]) -> None:
    """Answer in the API's place, with an ETag: 304 to who has that answer already."""

    async def answer(route: Route) -> None:
        await _fulfill(route, body)

    await page.route(pattern, answer)


async def answer_as_first(page: Page, pattern: str) -> None:
    """Answer each address as the API did for the first time: nothing changes."""
    first: dict[str, dict[str, Any]] = {}

    async def answer(route: Route) -> None:
        url = route.request.url
        if url not in first:
            first[url] = await (await route.fetch()).json()
        await _fulfill(route, first[url])

    await page.route(pattern, answer)


async def _fulfill(route: Route, body: dict[str, Any]) -> None:
    text = json.dumps(body)
    tag = f'"{hash(text)}"'
    if route.request.headers.get("if-none-match") == tag:
        await route.fulfill(status=304)
    else:
        await route.fulfill(status=200, content_type="application/json", headers={"ETag": tag}, body=text)


async def answer_jobs(page: Page, jobs: Callable[[Mapping[str, str]], dict[str, Any]]) -> list[str]:
    """Answer every list of jobs in the API's place; the addresses that the page asks for, as they come."""
    addresses: list[str] = []

    async def answer(route: Route) -> None:
        url = route.request.url
        addresses.append(url)
        await _fulfill(route, jobs(dict(parse_qsl(urlsplit(url).query))))

    await page.route("**/api/jobs?*", answer)
    return addresses


async def hold(page: Page, pattern: str | re.Pattern[str]) -> list[Route]:
    """Answer no call; the calls, as they come."""
    held: list[Route] = []

    async def keep(route: Route) -> None:
        held.append(route)

    await page.route(pattern, keep)
    return held
