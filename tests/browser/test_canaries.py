"""Every text of every answer of the API tries to become markup, and none does."""

from __future__ import annotations

import pytest
from playwright.async_api import Page, expect

from tests.browser.hostile import SCRIPT, Hostile
from tests.browser.reader import Reader

pytestmark = pytest.mark.asyncio(loop_scope="session")

#: Texts of answers that no view shows, by what becomes of them.
UNSEEN = {
    "parts of an address that the page opens or calls": {
        *(f"{job}.id" for job in ("EndedJob", "IdleJob", "JobMark", "RunningJob")),
        *(
            "DeadOne.job",
            "FailureGroup.signature",
            "LiveJob.next",
            "Metrics.next",
            "OutputEntries.next",
            "ReceiverState.deadEvents",
        ),
        *(f"SignInWay.{name}" for name in ("authorize", "client", "issuer", "scope", "token")),
    },
    "compared, and not shown": {"OutputEntry.kind"},
    "states that the page knows, and no others": {"ClusterNodes.nodes", "Overview.counts"},
    "shown of a file that is opened": {"CodeListing.text"},
    "not read by the page": {
        *(
            "DeadOne.queue",
            "DeadOne.sha256",
            "EventDelivery.last",
            "ExistingJob.id",
            "JobEvent.job",
            "JobPage.note",
        ),
        *(f"ExplainedJob.{name}" for name in ("door", "duplicates", "experiment", "id", "name", "receipt")),
        *(f"CodeListing.{name}" for name in ("at", "origin", "sha256", "url")),
        *("ExplainedSweep.existing", "ExplainedSweep.values"),
        *(f"Explanation.{name}" for name in ("cost", "document", "engineName", "limits", "requestsBefore")),
        *("Explanation.wait", "Explanation.wallClockLimit", "Validated.notes"),
        *(f"ProblemDocument.{name}" for name in ("jobId", "receipt", "title", "type")),
        *(f"Sweep.{name}" for name in ("cluster", "experiment", "labels", "parameters")),
    },
}
_TABS = ("", "/log", "/metrics", "/files", "/document", "/code", "/deliveries")
#: Views, and the words of a button that asks for more of one.
VIEWS = {
    "overview": "",
    "jobs": "",
    "jobs?group=experiment": "",
    "jobs?group=sweep": "",
    "jobs?view=compare": "",
    "jobs?sweep=s_1": "",
    "jobs?sweep=s_1&view=list": "",
    **{f"jobs/j_1{tab}": "" for tab in _TABS},
    "clusters": "",
    "usage": "",
    "usage?by=owner": "",
    "usage?by=experiment": "",
    "operate": "Compare drops",
    "new": "Explain",
    "new?from=j_1": "Explain",
}
#: What markup would make; the editor has such images of its own.
_MARKUP = "img:not(.cm-widgetBuffer), script:not([src]), iframe, object, embed"
_TEXTS = """() => [...document.querySelectorAll('*')].flatMap(one => [
    ...[...one.childNodes].filter(node => node.nodeType === Node.TEXT_NODE).map(node => node.data),
    ...[...one.attributes].map(attribute => attribute.value), one.value ?? '',
]).join('\\n') + document.body.textContent"""


async def shown_texts(page: Page, texts: set[str]) -> set[str]:
    """Those of these texts that stand in the document, which has no element from any of them."""
    await expect(page.get_by_text("Loading")).to_have_count(0)
    elements = page.locator(_MARKUP)
    assert await elements.evaluate_all("all => all.map(one => one.outerHTML)") == []
    shown = await page.evaluate(_TEXTS)
    return {text for text in texts if f"{SCRIPT}{text}" in shown}


async def test_no_text_of_any_answer_becomes_markup_and_none_is_left_out(reader: Reader) -> None:
    page, hostile, visible = reader.page, Hostile(), set[str]()
    await hostile.install(page)
    for view, button in VIEWS.items():
        await reader.open(view)
        await page.reload()
        await expect(page.get_by_role("heading", level=1)).to_be_visible()
        await page.wait_for_load_state("networkidle")
        if button:
            await page.get_by_role("button", name=button).click()
            await page.wait_for_load_state("networkidle")
        visible |= await shown_texts(page, hostile.texts)
    hostile.failing = "/api/jobs"
    await reader.open("jobs")
    await page.reload()
    await expect(page.get_by_role("alert")).to_contain_text("ProblemDocument.detail")
    visible |= await shown_texts(page, hostile.texts)

    assert len(visible) > 50
    assert {"Accepted.variable", "Accepted.value", "Accepted.secret", "Accepted.item"} <= visible
    assert sorted(hostile.texts - visible) == sorted(set[str]().union(*UNSEEN.values()))
