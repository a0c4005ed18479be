"""A log that is too large to be read whole: its end first, earlier lines on demand, all of it on the disk."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.async_api import Page, Route, expect

from tests.browser.output.log_file import LogFile
from tests.browser.reader import PATIENCE, Reader, comes

pytestmark = pytest.mark.asyncio(loop_scope="session")
MIB = 1 << 20
#: Every line has as many bytes, the last of them a line end; ü has two of them.
LINE = 32


def lines(start: int, end: int) -> bytes:
    """The bytes of a file of numbered lines from one to another: a file of any size."""
    numbers = range(start // LINE, -(-end // LINE))
    text = "".join(f"line {number:021} ü #\n"[: LINE - 1] for number in numbers).encode()
    assert len(text) == LINE * len(numbers)
    return text[start % LINE :][: end - start]


def line_text(number: int) -> str:
    return lines(number * LINE, (number + 1) * LINE).decode().strip()


async def open_log(reader: Reader, written: LogFile) -> None:
    await written.install(reader.page)
    await reader.open("jobs/job-000001/log")
    await expect_last(reader.page, written)


async def expect_last(page: Page, written: LogFile) -> None:
    """The last line of the file is in the document. Only its block is compared: all of them take long."""
    last = page.get_by_role("log").locator(".line").last
    await expect(last).to_contain_text(line_text(written.size // LINE - 1), timeout=PATIENCE)


async def first_line(page: Page) -> str:
    """The first of those that are loaded."""
    log = page.get_by_role("log")
    await log.evaluate("box => { box.scrollTop = 0; }")
    await expect(log.locator("[data-piece='0']")).to_have_count(1)
    return (await log.locator(".line").first.text_content()) or ""


async def top_of(page: Page, text: str) -> float:
    """How far below the upper edge of the log these words begin."""
    top = """text => {
        const box = document.querySelector('[role=log]');
        const walker = document.createTreeWalker(box, NodeFilter.SHOW_TEXT);
        for (let node; (node = walker.nextNode()); ) {
            const at = node.data.indexOf(text);
            if (at < 0) continue;
            const range = document.createRange();
            range.setStart(node, at);
            range.setEnd(node, at + 1);
            return range.getBoundingClientRect().top - box.getBoundingClientRect().top;
        }
        return NaN;
    }"""
    return float(await page.evaluate(top, text))


async def test_of_a_gigabyte_its_end_is_read_and_what_is_before_on_demand(reader: Reader) -> None:
    page, written = reader.page, LogFile(lines, 1 << 30)
    await open_log(reader, written)

    assert sum(end - start for start, end in written.reads) < 3 * MIB
    await expect(page.get_by_text("Here is the last 256 KiB of 1.0 GiB.")).to_be_visible()
    first = (written.size - MIB // 4) // LINE + 1
    assert await first_line(page) == line_text(first)
    assert await reader.violations() == []

    await page.get_by_role("button", name="Earlier lines").click()

    await expect(page.get_by_text("Here is the last 2.3 MiB of 1.0 GiB.")).to_be_visible()
    # Nothing moves under the eyes of the reader.
    assert await page.get_by_text(line_text(first), exact=True).is_visible()
    assert abs(await top_of(page, line_text(first))) < 60
    assert await first_line(page) == line_text(first - 2 * MIB // LINE)
    assert not await page.get_by_label("Follow").is_checked()

    await page.get_by_role("button", name="Earlier lines").click()
    await expect(page.get_by_text("Here is 3.0 MiB before its end of 1.0 GiB.")).to_be_visible()
    await page.get_by_role("button", name="Last lines").click()
    await expect_last(page, written)
    await expect(page.get_by_text("Here is the last 256 KiB of 1.0 GiB.")).to_be_visible()


async def test_there_are_never_more_than_two_thousand_lines_in_the_document(reader: Reader) -> None:
    page, written = reader.page, LogFile(lines, 1 << 30)
    await open_log(reader, written)
    for _ in range(2):
        await page.get_by_role("button", name="Earlier lines").click()
    log, most = page.get_by_role("log"), 0
    for share in range(11):
        await log.evaluate(f"box => {{ box.scrollTop = box.scrollHeight * {share / 10}; }}")
        await page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        assert await log.locator(".line").first.is_visible()
        most = max(most, await log.locator(".line").count())
    assert 100 < most <= 2000


async def test_a_line_has_an_address_which_opens_the_log_there_however_far_before_its_end(
    reader: Reader,
) -> None:
    page, written, number = reader.page, LogFile(lines, 1 << 30), 10_000_000
    await written.install(page)
    await reader.open(f"jobs/job-000001/log?at=stdout.txt:{number * LINE}")

    marked = page.get_by_role("log").locator(".marked-line")
    await expect(marked).to_have_text(line_text(number), timeout=PATIENCE)
    await expect(marked).to_be_in_viewport()
    assert sum(end - start for start, end in written.reads) < 4 * MIB

    await (
        page.get_by_role("log").locator(".line").filter(has_text=line_text(number + 3)).locator(".no").click()
    )
    await expect(page).to_have_url(f"{reader.url}#/jobs/job-000001/log?at=stdout.txt%3A{(number + 3) * LINE}")
    await expect(marked).to_have_text(line_text(number + 3))


async def test_lines_are_whole_wherever_the_parts_of_the_file_begin_and_end(reader: Reader) -> None:
    page, size = reader.page, MIB // 4 + 4_028  # the part begins, and the file ends, within a character
    await LogFile(lines, size).install(page)
    await reader.open("jobs/job-000001/log")
    log = page.get_by_role("log")
    await expect(log.locator(".line").last).to_contain_text(f"line {size // LINE:021}", timeout=PATIENCE)

    await page.get_by_role("button", name="Earlier lines").click()

    await expect(page.get_by_role("button", name="Earlier lines")).to_have_count(0)
    texts, number = (
        dict[int, str](),
        "one => [Number(one.querySelector('.no').dataset.number), one.textContent]",
    )
    for share in range(9):
        await log.evaluate(f"box => {{ box.scrollTop = box.scrollHeight * {share / 8}; }}")
        await page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        texts |= dict(await log.locator(".line").evaluate_all(f"all => all.map({number})"))
    whole = lines(0, size).decode(errors="replace").split("\n")
    assert {at: whole[at - 1] for at in texts} == texts
    assert {1, len(whole) // 2, len(whole)} <= texts.keys()


async def test_a_search_says_which_part_it_is_of(reader: Reader) -> None:
    page = reader.page
    await open_log(reader, LogFile(lines, 1 << 30))
    status = page.locator(".part").get_by_role("status")

    await page.get_by_label("Lines with").fill(f"LINE {(1 << 30) // LINE - 3:021}")
    await expect(status).to_have_text("1 line of the last 256 KiB of 1.0 GiB")
    await expect(page.get_by_role("log")).to_have_text(line_text((1 << 30) // LINE - 3))
    await page.get_by_label("Lines with").fill("no such words")
    await expect(status).to_have_text("0 lines of the last 256 KiB of 1.0 GiB")
    await page.get_by_role("button", name="Earlier lines").click()
    await expect(status).to_have_text("0 lines of the last 2.3 MiB of 1.0 GiB")


async def test_a_reader_who_scrolls_up_is_left_there_while_more_is_written(reader: Reader) -> None:
    page, written = reader.page, LogFile(lines, 3000 * LINE, state="running", endedAt=None)
    await page.clock.install()
    await open_log(reader, written)
    log = page.get_by_role("log")

    await log.hover()
    await page.mouse.wheel(0, -2000)
    await expect(page.get_by_label("Follow")).not_to_be_checked()
    before = await log.evaluate("box => box.scrollTop")
    written.size += 50 * LINE
    await comes(page.get_by_text("3,050 lines"))
    assert await log.evaluate("box => box.scrollTop") == before

    await page.get_by_label("Follow").check()
    await expect_last(page, written)
    await expect(log.locator(".line").last).to_be_in_viewport()


async def test_what_is_written_faster_than_it_is_read_is_left_out(reader: Reader) -> None:
    page, written = reader.page, LogFile(lines, 10 * LINE, state="running", endedAt=None)
    await page.clock.install()
    await open_log(reader, written)
    written.size = 1 << 30
    written.reads.clear()

    await comes(page.get_by_text("Here is the last 256 KiB of 1.0 GiB."))

    await expect_last(page, written)
    assert sum(end - start for start, end in written.reads) < MIB


async def test_a_log_is_saved_whole_while_it_grows_and_a_failure_is_said(
    reader: Reader, tmp_path: Path
) -> None:
    page, size = reader.page, 20 * MIB
    written = LogFile(lines, size, state="running", endedAt=None)

    def read(start: int, end: int) -> bytes:
        written.size += LINE
        return lines(start, end)

    written.read = read
    await written.install(page)
    await reader.open("jobs/job-000001/log")
    await expect(page.get_by_text("Here is the last")).to_be_visible()

    async with page.expect_download() as download:
        await page.get_by_role("button", name="Download").click()
    await (await download.value).save_as(tmp_path / "stdout.txt")

    saved = (tmp_path / "stdout.txt").read_bytes()
    assert len(saved) >= size
    assert saved == lines(0, len(saved))

    async def fail(route: Route) -> None:
        await route.fulfill(status=503, json={"detail": "the cluster does not answer", "remedy": "wait"})

    await page.route("**/files/stdouterr/stdout.txt", fail)
    await page.get_by_role("button", name="Download").click()
    refused = page.get_by_role("alert").filter(has_text="the cluster does not answer. wait")
    await expect(refused).to_be_visible()
    await expect(page.get_by_role("button", name="Download")).to_be_enabled()
