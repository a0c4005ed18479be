"""All that a job wrote as one file, which the browser puts together; and the colours of a log."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from playwright.async_api import Page, Route, expect

from tests.browser.one_job.live import answer_live
from tests.browser.output.log_file import answer_log
from tests.browser.reader import Reader, listed

pytestmark = pytest.mark.asyncio(loop_scope="session")
#: What lies in the directories of the job, by directory and path.
WRITTEN = {
    "stdouterr": {"stdout.txt": b"trained\n", "empty.txt": b""},
    "MODEL": {"model.bin": bytes(range(256)) * 70_000, "best/näme #1.txt": b"0.9"},
}


def _entries(directory: str, folder: str) -> list[dict[str, Any]]:
    inside = {
        path[len(folder) :]: data for path, data in WRITTEN[directory].items() if path.startswith(folder)
    }
    folders = sorted({name.partition("/")[0] for name in inside if "/" in name})
    files = [
        {"name": name, "bytes": len(data), "modified": None}
        for name, data in inside.items()
        if "/" not in name
    ]
    link = {"name": "elsewhere", "bytes": None, "modified": None, "link": True}
    return [*files, link, *({"name": name, "bytes": None, "modified": None} for name in folders)]


async def answer_all(page: Page) -> None:
    async def listing(route: Route) -> None:
        query = {name: values[0] for name, values in parse_qs(urlsplit(route.request.url).query).items()}
        folder = "" if query.get("path", ".") == "." else f"{query['path']}/"
        await route.fulfill(json={"files": _entries(query["directory"], folder), "next": None})

    async def part(route: Route) -> None:
        directory, _, path = unquote(urlsplit(route.request.url).path.partition("/files/")[2]).partition("/")
        data = WRITTEN[directory][path]
        first, last = map(int, route.request.headers["range"].removeprefix("bytes=").split("-"))
        body = data[first : last + 1]
        headers = {"Content-Disposition": "attachment", "Content-Range": f"bytes {first}-{last}/{len(data)}"}
        await route.fulfill(status=206, body=body, content_type="application/octet-stream", headers=headers)

    await answer_live(page, {**listed(1), "history": []})
    outputs = {"outputs": [{"id": name, "path": name} for name in WRITTEN]}
    await page.route("**/api/jobs/job-000001/outputs*", lambda route: route.fulfill(json=outputs))
    await page.route("**/api/jobs/job-000001/files?*", listing)
    await page.route("**/api/jobs/job-000001/files/*/**", part)


async def test_all_that_a_job_wrote_is_saved_as_one_file(reader: Reader, tmp_path: Path) -> None:
    page = reader.page
    await answer_all(page)
    await reader.open("jobs/job-000001/files")

    async with page.expect_download() as download:
        await page.get_by_role("button", name="Download all as one file").click()
    saved = await download.value
    await saved.save_as(tmp_path / "all.zip")

    assert saved.suggested_filename == "job-000001.zip"
    with zipfile.ZipFile(io.BytesIO((tmp_path / "all.zip").read_bytes())) as archive:
        assert archive.testzip() is None
        read = {name: archive.read(name) for name in archive.namelist()}
    assert read == {
        f"{directory}/{path}": data for directory, files in WRITTEN.items() for path, data in files.items()
    }


async def test_more_than_a_browser_keeps_is_left_to_the_command(reader: Reader) -> None:
    page = reader.page
    await answer_all(page)
    huge = {"files": [{"name": "model.bin", "bytes": 3 << 30, "modified": None}], "next": None}
    await page.route("**/api/jobs/job-000001/files?*", lambda route: route.fulfill(json=huge))
    await reader.open("jobs/job-000001/files")

    await page.get_by_role("button", name="Download all as one file").click()

    refusal = page.get_by_role("alert").filter(has_text="6.0 GiB")
    await expect(refusal).to_contain_text("slipway download job-000001")


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_every_colour_of_a_log_can_be_read_in_both_themes(reader: Reader, scheme: Any) -> None:
    page = reader.page
    await page.emulate_media(color_scheme=scheme)
    codes = [*range(30, 38), *range(90, 98), *range(40, 48), *range(100, 108)]
    lines = [f"\x1b[{code}mcolour {code}\x1b[0m" for code in codes]
    lines += [f"\x1b[38;5;{code}mof 256: {code}\x1b[0m" for code in range(16, 256, 9)]
    lines += [
        "\x1b[38;2;255;255;0mexact\x1b[0m",
        "\x1b[38:2::250:250:250mexact by colons\x1b[0m",
        "\x1b[7minverse\x1b[0m",
    ]
    lines += ["\x1b[4munderlined\x1b[24m \x1b[3mitalic\x1b[0m \x1b[8mhidden\x1b[0m"]
    await answer_log(page, "\n".join(lines) + "\n")
    await reader.open("jobs/job-000001/log")

    log = page.get_by_role("log")
    await expect(log.locator(".underline")).to_have_text("underlined")
    await expect(log.locator(".exact-ink").first).to_be_visible()
    await expect(log).to_contain_text("exact by colons")
    assert await reader.violations() == []
