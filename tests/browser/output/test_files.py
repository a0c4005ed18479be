"""What a job wrote in a browser: long logs, their colours and their ends; tables, images and large files."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.async_api import Route, expect

from tests.browser.output.folder import answer_files, png
from tests.browser.output.log_file import answer_log
from tests.browser.reader import PATIENCE, Reader

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_a_long_log_draws_few_lines_and_stays_where_the_reader_scrolled(reader: Reader) -> None:
    page, count = reader.page, 100_000
    await answer_log(page, "".join(f"line {number}\n" for number in range(count)))
    await reader.open("jobs/job-000001/log")
    log = page.get_by_role("log")
    await expect(log).to_contain_text(f"line {count - 1}", timeout=PATIENCE)
    await page.get_by_role("button", name="Earlier lines").click()
    await expect(page.get_by_role("button", name="Earlier lines")).to_have_count(0)

    frames = await page.evaluate(
        """async () => {
            const box = document.querySelector('[role=log]');
            const times = [];
            for (let step = 0; step < 40; step += 1) {
                const start = performance.now();
                box.scrollTop = box.scrollHeight * step / 40;
                await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
                times.push(performance.now() - start);
            }
            return [times.toSorted((a, b) => a - b)[20], box.querySelectorAll('*').length];
        }"""
    )

    _, elements = frames
    assert elements < 2_000
    await log.evaluate("box => { box.scrollTop = 5000; }")
    await page.get_by_label("Lines with").fill("line")  # every line has it: all is drawn again
    await expect(page.get_by_text(f"{count:,} lines of the log")).to_be_visible()
    assert await log.evaluate("box => box.scrollTop") == 5000


async def test_lines_wrap_where_the_reader_wants_it(reader: Reader) -> None:
    page = reader.page
    await answer_log(page, f"{'wide ' * 500}\n")
    await reader.open("jobs/job-000001/log")
    log = page.get_by_role("log")
    await expect(log).to_contain_text("wide")
    sticks_out = "box => box.scrollWidth > box.clientWidth + 5"
    assert not await log.evaluate(sticks_out)

    await page.get_by_label("Wrap").uncheck()

    assert await log.evaluate(sticks_out)


async def test_colours_are_shown_and_other_control_sequences_are_not(reader: Reader) -> None:
    page = reader.page
    text = "\x1b[1;32mgood\x1b[0m \x1b[2J\x1b[91mbad\x1b[39m plain\x07\u202e!"
    text += "\x1bPq#0~\x1b\\\x1b_app\x1b\\\n10%\r50%\r100%\n"
    text += (
        "\x1b]8;;https://evil.example/\x07a link\x1b]8;;\x1b\\ \x1b]0;title\x07\x1b]52;c;ZXZpbA==\x07end\n"
    )
    await answer_log(page, text)
    await reader.open("jobs/job-000001/log")

    await expect(page.locator(".bold.ink-2")).to_have_text("good")
    await expect(page.locator(".ink-1")).to_have_text("bad")
    lines = page.get_by_role("log").locator(".text")
    await expect(lines).to_have_text(["good bad plain!", "100%", "a link end"])
    await expect(lines.get_by_role("link")).to_have_count(0)


async def test_a_log_without_line_ends_and_with_endless_colours_is_drawn_in_pieces(reader: Reader) -> None:
    page = reader.page
    await answer_log(page, "x" * 3_000_000 + "\n" + "\x1b[31ma\x1b[32mb" * 20_000 + "\nthe end\n")
    await reader.open("jobs/job-000001/log")
    log = page.get_by_role("log")

    await expect(log).to_contain_text("the end", timeout=PATIENCE)
    assert await log.evaluate("box => box.querySelectorAll('*').length") < 10_000
    longest = "box => Math.max(...[...box.querySelectorAll('.text')].map(one => one.textContent.length))"
    assert 1_000 < await log.evaluate(longest) <= 10_000


async def test_a_log_with_a_colour_for_each_letter_is_drawn_with_few_elements(reader: Reader) -> None:
    line = "".join(f"\x1b[3{number % 8}m{number % 10}" for number in range(60))
    await answer_log(reader.page, f"{line}\n" * 4_000 + "the end\n")
    await reader.open("jobs/job-000001/log")
    log = reader.page.get_by_role("log")

    await expect(log).to_contain_text("the end", timeout=PATIENCE)
    assert await log.evaluate("box => box.querySelectorAll('*').length") < 50_000
    assert set(await log.locator(".text").all_text_contents()) == {"0123456789" * 6, "the end"}


async def test_a_progress_bar_without_a_line_end_is_shown_as_it_is_now(reader: Reader) -> None:
    await answer_log(reader.page, "".join(f"{number} of 9999\r" for number in range(10_000)))
    await reader.open("jobs/job-000001/log")

    await expect(reader.page.get_by_role("log")).to_have_text("9999 of 9999", timeout=PATIENCE)


async def test_what_has_only_the_name_of_an_image_is_said_to_be_none(reader: Reader) -> None:
    page, drawing = reader.page, '<svg xmlns="http://www.w3.org/2000/svg"><circle r="4"/></svg>'
    await answer_files(page, {"drawing.png": drawing.encode(), "cut.png": png(40, 30)[:30]})
    await reader.open("jobs/job-000001/files")

    for name in ("drawing.png", "cut.png"):
        await page.get_by_role("button", name=name, exact=True).click()
        await expect(page.get_by_text("This is not an image of the kind that its name says")).to_be_visible()
        await expect(page.get_by_role("region", name="Files").get_by_role("img")).to_have_count(0)
        if name == "drawing.png":
            await expect(page.locator(".preview")).to_have_text(drawing)


async def test_a_large_folder_is_turned_page_by_page(reader: Reader) -> None:
    page = reader.page
    await answer_files(page, {})
    parts: dict[str, tuple[list[str], str | None]] = {"": (["a", "b"], "b"), "b": (["c"], None)}

    async def listing(route: Route) -> None:
        (after,) = parse_qs(urlsplit(route.request.url).query).get("after", [""])
        names, following = parts[after]
        entries = [{"name": name, "bytes": 1, "modified": None} for name in names]
        await route.fulfill(json={"files": entries, "next": following})

    await page.route("**/api/jobs/job-000001/files?*", listing)
    await reader.open("jobs/job-000001/files")

    await expect(page.get_by_role("button", name="b", exact=True)).to_be_visible()
    await page.get_by_role("button", name="Next 2 names").click()
    await expect(page.get_by_role("button", name="c", exact=True)).to_be_visible()
    await expect(page.get_by_role("button", name="b", exact=True)).to_have_count(0)
    await page.get_by_role("button", name="First names").click()
    await expect(page.get_by_role("button", name="b", exact=True)).to_be_visible()
    assert await reader.violations() == []


async def test_files_are_previewed_by_their_kind_and_only_their_beginnings(
    reader: Reader, tmp_path: Path
) -> None:
    page = reader.page
    table = 'name,text\n"a ""b""","x,\ny"\n' + "".join(f"{n},z\n" for n in range(200))
    deep = b"[" * 20_000 + b"]" * 20_000
    large = b"0123456789abcde\n" * 600_000
    files = {
        "grey.png": png(40, 30),
        "table.csv": table.encode(),
        "large.txt": large,
        "data.bin": b"a\0b",
        "deep.json": deep,
    }
    await answer_files(page, files)
    await reader.open("jobs/job-000001/files")

    await page.get_by_role("button", name="grey.png", exact=True).click()
    image = page.get_by_role("img", name="grey.png")
    await expect(image).to_be_visible()
    await expect(image).to_have_js_property("naturalWidth", 40)
    await page.get_by_role("button", name="table.csv", exact=True).click()
    await expect(page.get_by_role("row")).to_have_count(50)
    assert await page.get_by_role("row").nth(1).get_by_role("cell").all_text_contents() == ['a "b"', "x,\ny"]
    await page.get_by_role("button", name="large.txt", exact=True).click()
    await expect(page.get_by_text("Only the first 64 KiB are shown.")).to_be_visible()
    await page.get_by_role("button", name="data.bin", exact=True).click()
    await expect(page.get_by_text("This is not text; download it.")).to_be_visible()
    await page.get_by_role("button", name="deep.json", exact=True).click()
    await expect(page.locator(".preview")).to_have_text(deep.decode())

    async with page.expect_download() as download:
        await page.get_by_role("button", name="Download large.txt").click()
    await (await download.value).save_as(tmp_path / "large.txt")
    assert (tmp_path / "large.txt").read_bytes() == large
    assert await reader.violations() == []


async def test_a_long_name_of_a_file_is_read_on_a_telephone(reader: Reader) -> None:
    page, name = reader.page, f"stdout-job_prep-{'tvm-840350604-' * 6}p.txt"
    await page.set_viewport_size({"width": 360, "height": 740})
    await answer_files(page, {name: b"here"})
    await reader.open("jobs/job-000001/files")

    await page.get_by_role("button", name=name, exact=True).click()

    await expect(page.locator(".preview")).to_have_text("here")
    box = await page.get_by_role("button", name=name, exact=True).bounding_box()
    assert box is not None
    assert box["width"] > 150
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")


async def test_an_empty_file_is_shown_and_saved_without_a_refusal(reader: Reader, tmp_path: Path) -> None:
    """No part of it can be asked for, and the browser reports a refusal (416) as an error."""
    page, refused = reader.page, list[str]()
    page.on("console", lambda message: refused.append(message.text) if message.type == "error" else None)
    files = {"empty.txt": b"", "grown.txt": b""}
    await answer_files(page, files)
    await reader.open("jobs/job-000001/files")

    await page.get_by_role("button", name="empty.txt", exact=True).click()
    await expect(page.get_by_text("The file is empty.")).to_be_visible()
    async with page.expect_download() as download:
        await page.get_by_role("button", name="Download empty.txt").click()
    await (await download.value).save_as(tmp_path / "empty.txt")
    files["grown.txt"] = b"later"
    await page.get_by_role("button", name="grown.txt", exact=True).click()

    await expect(page.locator(".preview")).to_have_text("later")
    assert (tmp_path / "empty.txt").read_bytes() == b""
    assert [text for text in refused if "416" in text] == []
