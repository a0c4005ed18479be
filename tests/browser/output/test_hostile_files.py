"""Previews of files that were written to mislead a reader, or to keep the browser busy."""

from __future__ import annotations

import pytest
from playwright.async_api import expect

from tests.browser.output.folder import answer_files, png
from tests.browser.reader import Reader

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_no_table_takes_the_browser_long_or_grows_without_an_end(reader: Reader) -> None:
    page = reader.page
    files = {
        # A lone return ends a line; where it did not, a cell was looked at from each of its letters.
        "return.csv": b"a" * 65_000 + b"\rb,c",
        "wide.csv": b"," * 65_000,
        "quotes.csv": b'"' + b'""' * 32_000 + b"x",
    }
    await answer_files(page, files)
    await reader.open("jobs/job-000001/files")

    await page.get_by_role("button", name="return.csv", exact=True).click()
    await expect(page.get_by_role("row").nth(1).get_by_role("cell")).to_have_text(["b", "c"])
    await page.get_by_role("button", name="wide.csv", exact=True).click()
    await expect(page.get_by_text("Only the first 100 columns are shown.")).to_be_visible()
    await expect(page.get_by_role("cell")).to_have_count(100)
    await page.get_by_role("button", name="quotes.csv", exact=True).click()
    await expect(page.get_by_role("cell")).to_have_count(1)


async def test_a_formula_in_a_table_is_text_and_what_is_left_out_is_said(reader: Reader) -> None:
    page = reader.page
    rows = "=cmd|' /C calc'!A0,\"=HYPERLINK(1)\"\n" + "1,2\n" * 60
    await answer_files(page, {"formula.csv": rows.encode()})
    await reader.open("jobs/job-000001/files")

    await page.get_by_role("button", name="formula.csv", exact=True).click()

    cells = page.get_by_role("row").first.get_by_role("cell")
    await expect(cells).to_have_text(["=cmd|' /C calc'!A0", "=HYPERLINK(1)"])
    await expect(page.get_by_role("row")).to_have_count(50)
    await expect(page.get_by_text("Only the first 50 rows are shown.")).to_be_visible()


async def test_json_is_indented_and_says_what_the_file_says(reader: Reader) -> None:
    page = reader.page
    text = r'{"seed":12345678901234567890,"far":1e400,"k":1,"k":2,"f":1.10,"e":[],'
    text += r'"o":{"a":[1,"x\"]{,:"]},"n":-0}'
    await answer_files(page, {"data.json": text.encode(), "half.json": b'{"a": [1,'})
    await reader.open("jobs/job-000001/files")

    await page.get_by_role("button", name="data.json", exact=True).click()

    shown = await page.locator(".preview").inner_text()
    assert shown.splitlines() == [
        "{",
        '  "seed": 12345678901234567890,',
        '  "far": 1e400,',
        '  "k": 1,',
        '  "k": 2,',
        '  "f": 1.10,',
        '  "e": [],',
        '  "o": {',
        '    "a": [',
        "      1,",
        r'      "x\"]{,:"',
        "    ]",
        "  },",
        '  "n": -0',
        "}",
    ]
    await page.get_by_role("button", name="half.json", exact=True).click()
    await expect(page.locator(".preview")).to_have_text('{"a": [1,')


async def test_what_turns_the_direction_of_text_is_seen(reader: Reader) -> None:
    page = reader.page
    await answer_files(page, {"check.py": "if level != 'user\u202e \u2066# admin\u2069 \u2066':".encode()})
    await reader.open("jobs/job-000001/files")

    await page.get_by_role("button", name="check.py", exact=True).click()

    await expect(page.locator(".preview")).to_have_text(
        r"if level != 'user\u202e \u2066# admin\u2069 \u2066':"
    )


async def test_an_image_of_a_few_bytes_and_a_billion_points_is_said_to_be_none(reader: Reader) -> None:
    page = reader.page
    await answer_files(page, {"bomb.png": png(30_000, 30_000, bits=1), "after.txt": b"still here"})
    await reader.open("jobs/job-000001/files")

    await page.get_by_role("button", name="bomb.png", exact=True).click()
    await expect(page.get_by_text("This is not an image of the kind that its name says")).to_be_visible()
    await page.get_by_role("button", name="after.txt", exact=True).click()
    await expect(page.locator(".preview")).to_have_text("still here")


async def test_a_name_of_spaces_can_be_seen_and_opened(reader: Reader) -> None:
    page = reader.page
    await answer_files(page, {" ": b"found"})
    await reader.open("jobs/job-000001/files")

    await page.get_by_role("button", name='" "', exact=True).click()

    await expect(page.locator(".preview")).to_have_text("found")
    assert await reader.violations() == []


async def test_a_name_that_reads_as_another_one_is_shown_with_what_deceives(reader: Reader) -> None:
    page = reader.page
    names = {
        "photo\u202egpj.exe": r"photo\u202egpj.exe",
        "model\u200b.txt": r"model\u200b.txt",
        "<img src=x onerror=alert(1)>.txt": "<img src=x onerror=alert(1)>.txt",
        "\u2066admin\u2069.log": r"\u2066admin\u2069.log",
        "line\x1b[2Jend": r"line\u001b[2Jend",
    }
    await answer_files(page, dict.fromkeys(names, "text \x1b[31m and \u200b".encode()))
    await reader.open("jobs/job-000001/files")

    for shown in names.values():
        await page.get_by_role("button", name=shown, exact=True).click()
        await expect(page.locator(".preview")).to_have_text(r"text \u001b[31m and \u200b")
        await page.get_by_role("button", name=shown, exact=True).click()
