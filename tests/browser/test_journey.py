"""One visit from a folder on a person's disk to the model that its job made."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from playwright.async_api import Page, expect

from tests.acceptance.door import Door, unique
from tests.browser.reader import PATIENCE, Reader
from tests.browser.test_new import drop

pytestmark = pytest.mark.asyncio(loop_scope="session")
EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "digits"


async def unfold_document(page: Page) -> None:
    """Look at the accepted document, in which the packed folder is folded until it is asked for."""
    await page.get_by_role("link", name="job.json").click()
    document = page.get_by_label("The document as it was accepted")
    await expect(document).to_contain_text(re.compile(r"echo … [\d,]+ characters of packed files …"))
    await page.get_by_role("button", name="Show the packed files").click()
    await expect(document).to_contain_text(re.compile(r"echo [A-Za-z0-9+/=]{200,} \| base64"))


async def test_a_folder_is_dropped_and_runs_on_two_nodes_until_its_model_is_downloaded(
    reader: Reader, door: Door, tmp_path: Path
) -> None:
    page, name = reader.page, unique("journey")
    folder = tmp_path / "digits"
    shutil.copytree(EXAMPLE, folder)
    hook = door.hook("journey")
    (folder / "slipway.json").write_text(json.dumps({"name": name, "notify": [hook]}))
    await reader.open("new")
    await expect(page.get_by_label("job.json")).to_be_visible()
    await drop(page, folder)
    await expect(page.get_by_text("This document can run.")).to_be_visible(timeout=PATIENCE)
    await page.get_by_role("button", name="Explain").click()
    await expect(page.get_by_text("It would run on")).to_be_visible(timeout=PATIENCE)
    await page.get_by_role("button", name="Submit").click()
    heading = page.get_by_role("heading", level=1)
    await expect(heading).to_contain_text(name, timeout=PATIENCE)

    await page.get_by_role("link", name="Log", exact=True).click()
    await expect(heading).to_contain_text("running", timeout=PATIENCE)
    for rank in (1, 0):
        await page.get_by_role("button", name=f"rank {rank}", exact=True).click(timeout=PATIENCE)
        await expect(page.get_by_role("log")).to_contain_text(f"rank {rank} of 2", timeout=PATIENCE)
    await expect(page.get_by_role("log")).to_contain_text("epoch 40/40", timeout=2 * PATIENCE)
    await expect(heading).to_contain_text("succeeded", timeout=PATIENCE)

    await page.get_by_role("link", name="Metrics").click()
    memory = page.get_by_role("figure").filter(has=page.get_by_text("memory, GiB", exact=True))
    for node in (0, 1):
        await expect(memory).to_contain_text(f"node {node}")
    await expect(memory.locator("canvas")).to_be_visible()

    await unfold_document(page)
    await page.get_by_role("link", name="Files").click()
    await page.get_by_role("link", name="MODEL", exact=True).click()
    await page.get_by_role("button", name="metrics.json", exact=True).click()
    await expect(page.get_by_role("region", name="Files").locator(".preview")).to_contain_text('"nodes": 2')
    async with page.expect_download() as download:
        await page.get_by_role("button", name="Download model.npz").click()
    await (await download.value).save_as(tmp_path / "model.npz")
    assert np.load(tmp_path / "model.npz")["w1"].shape == (64, 256)

    await page.get_by_role("link", name="Deliveries").click()
    await expect(page.get_by_text("job.succeeded")).to_be_visible(timeout=PATIENCE)
    await expect(page.get_by_text("204 in").first).to_be_visible(timeout=PATIENCE)
    (event,) = await door.event("journey", "io.slipway.job.succeeded.v1")
    assert event["verified"]
