"""A new job in a browser: written, mended, made of a folder, or of an earlier job."""

from __future__ import annotations

import io
import json
import random
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page, Route, expect

from tests.acceptance.door import Door, shell, unique
from tests.browser.reader import PATIENCE, Reader

pytestmark = pytest.mark.asyncio(loop_scope="session")
RUNS, CANNOT_RUN = "This document can run.", "This document cannot run."
#: Ten thousand levels of lists.
DEEP = '{"a":' + 10_000 * "[" + 10_000 * "]" + "}"


async def drop(page: Page, file: Path) -> None:
    """Drop a file or a folder of this machine onto the editor, as a file manager does."""
    box = await page.get_by_label("job.json").bounding_box()
    assert box is not None
    session = await page.context.new_cdp_session(page)
    for kind in ("dragEnter", "dragOver", "drop"):
        data = {"items": [], "files": [str(file)], "dragOperationsMask": 1}
        place = {"x": box["x"] + 40, "y": box["y"] + 40}
        await session.send("Input.dispatchDragEvent", {"type": kind, "data": data, **place})


async def test_a_document_is_mended_explained_and_run(reader: Reader) -> None:
    page, name = reader.page, unique("page")
    await reader.open("new")
    await page.get_by_label("Name").fill(name)
    text = page.get_by_label("job.json")
    await text.fill(json.dumps(shell("echo made here"), indent=2).replace("nodeCount", "nodeCuont"))
    await expect(page.get_by_text(CANNOT_RUN)).to_be_visible(timeout=PATIENCE)
    await expect(page.get_by_role("button", name="Submit")).to_be_disabled()
    await expect(page.locator(".cm-lint-marker-error")).to_have_count(1)
    assert await reader.violations() == []
    await page.locator(".findings").get_by_role("button", name="Fix it").first.click()
    await expect(text).to_contain_text('"nodeCount"')
    await expect(page.get_by_text(RUNS)).to_be_visible(timeout=PATIENCE)
    await expect(page.locator(".cm-lint-marker-error")).to_have_count(0)

    await page.get_by_role("button", name="Explain").click()
    await expect(page.get_by_text("runs", exact=True)).to_be_visible(timeout=PATIENCE)
    await page.get_by_role("button", name="Submit").click()

    await expect(page.get_by_role("heading", level=1)).to_contain_text(name, timeout=PATIENCE)
    await expect(page.get_by_role("heading", level=1)).to_contain_text("succeeded", timeout=PATIENCE)


async def test_a_problem_is_marked_at_its_place_and_mended_there(reader: Reader) -> None:
    page = reader.page
    await reader.open("new")
    text = page.get_by_label("job.json")
    await text.fill('{"labels": {"é𝄞": "x"}, "spec": {"properties": {"nodeCuont": 2}}}')

    mark = page.locator(".cm-lintRange-error").filter(has_text="nodeCuont")
    await expect(mark).to_have_text('"nodeCuont"', timeout=PATIENCE)
    await mark.hover()
    await page.locator(".cm-diagnostic").get_by_role("button", name="Fix it").click()

    await expect(text).to_contain_text('"nodeCount": 2')
    await page.get_by_label("job.json").press("Control+z")
    await expect(text).to_contain_text('"nodeCuont": 2')


async def test_only_the_answer_to_the_last_text_counts(reader: Reader) -> None:
    page, held = reader.page, []

    async def answer(route: Route) -> None:
        if "old" in (route.request.post_data or ""):
            held.append(route)  # its answer comes after the one to the next text
        else:
            await route.fulfill(json={"valid": True, "problems": []})

    await page.route("**/api/validate", answer)
    await reader.open("new")
    async with page.expect_request(lambda request: "old" in (request.post_data or "")):
        await page.get_by_label("job.json").fill('{"old": 1}')
    await page.get_by_label("job.json").fill('{"new": 1}')
    await expect(page.get_by_text(RUNS)).to_be_visible()
    problem = {"code": "SW001", "severity": "error", "pointer": "", "message": "stale", "remedy": "none"}
    for route in held:
        await route.fulfill(json={"valid": False, "problems": [problem]})
    await page.evaluate("fetch(location.pathname)")

    assert held
    await expect(page.get_by_text("stale")).to_have_count(0)
    await expect(page.get_by_text(RUNS)).to_be_visible()


async def test_a_job_file_is_dropped_onto_the_editor(reader: Reader, tmp_path: Path) -> None:
    (tmp_path / "job.json").write_text('{"dropped": true}')
    await reader.open("new")

    await drop(reader.page, tmp_path / "job.json")

    await expect(reader.page.get_by_label("job.json")).to_have_text('{"dropped": true}')


async def test_a_job_file_that_is_too_deep_is_checked_as_any_other(reader: Reader, tmp_path: Path) -> None:
    (tmp_path / "job.json").write_text(DEEP)
    await reader.open("new")

    await drop(reader.page, tmp_path / "job.json")

    await expect(reader.page.locator(".findings")).to_contain_text("more than 64 levels")


def folder_in(place: Path, **files: str | bytes) -> Path:
    """A folder `work` with a script that shows its other files."""
    script = "import pathlib, os\nhere = pathlib.Path(__file__).parent\n"
    script += "print('found', *sorted(str(p.relative_to(here)) for p in here.rglob('*') if p.is_file()))\n"
    (folder := place / "work").mkdir()
    (folder / "train.py").write_text(script)
    (folder / "data").mkdir()
    (folder / "data" / "points é.csv").write_text("1,2\n")
    (folder / ".hidden").write_text("stays at home")
    for name, content in files.items():
        data = content if isinstance(content, bytes) else content.encode()
        (folder / name.replace("_", ".")).write_bytes(data)
    return folder


@pytest.mark.parametrize("way", ["drop", "choose"])
async def test_a_folder_runs_with_all_of_its_files(reader: Reader, tmp_path: Path, way: str) -> None:
    page, name = reader.page, unique("page")
    path = "$AZ_BATCHAI_JOB_MOUNT_ROOT/scripts/work/train.py"
    own: dict[str, Any] = {"jobPreparation": {"commandLine": "echo prepared # too"}}
    document = {"properties": {"nodeCount": 1, "pyTorchSettings": {"pythonScriptFilePath": path}, **own}}
    envelope = {"name": name, "labels": {"way": way}}
    folder = folder_in(tmp_path, job_json=json.dumps(document), slipway_json=json.dumps(envelope))
    await reader.open("new")
    await expect(page.get_by_label("job.json")).to_be_visible()

    if way == "drop":
        await drop(page, folder)
    else:
        await page.get_by_label("Choose a folder").set_input_files(folder)
    await expect(page.get_by_label("job.json")).to_contain_text("characters of packed files")
    await page.get_by_role("button", name="Submit").click()

    await expect(page.get_by_role("heading", level=1)).to_contain_text(name, timeout=PATIENCE)
    await expect(page.get_by_text(f"way={way}")).to_be_visible()
    await page.get_by_role("link", name="Log").click()
    await expect(page.get_by_role("log")).to_have_text("found data/points é.csv train.py", timeout=PATIENCE)


async def test_a_folder_without_a_job_file_gets_one_for_its_only_script(
    reader: Reader, tmp_path: Path
) -> None:
    await reader.open("new")
    await expect(reader.page.get_by_label("job.json")).to_be_visible()

    await drop(reader.page, folder_in(tmp_path))

    await expect(reader.page.get_by_label("job.json")).to_contain_text(
        '"pythonScriptFilePath": "$AZ_BATCHAI_JOB_TEMP/scripts/work/train.py"'
    )
    await expect(reader.page.get_by_text(RUNS)).to_be_visible(timeout=PATIENCE)


def wheel(name: str) -> bytes:
    """A package of one empty module, as pip installs it."""
    record = f"{name}.py,,\n{name}-1.0.dist-info/METADATA,,\n{name}-1.0.dist-info/RECORD,,\n"
    files = {
        f"{name}.py": "",
        f"{name}-1.0.dist-info/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
        f"{name}-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{name}-1.0.dist-info/RECORD": f"{record}{name}-1.0.dist-info/WHEEL,,\n",
    }
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for file, text in files.items():
            archive.writestr(file, text)
    return data.getvalue()


async def test_the_packages_of_a_folder_are_installed_before_its_script_starts(
    reader: Reader, tmp_path: Path
) -> None:
    page = reader.page
    (folder := tmp_path / "packaged").mkdir()
    (folder / "tiny-1.0-py3-none-any.whl").write_bytes(wheel("tiny"))
    (folder / "requirements.txt").write_text(
        "--no-index\n--find-links ${AZ_BATCHAI_JOB_TEMP}/scripts/packaged\ntiny==1.0\n"
    )
    (folder / "train.py").write_text("import tiny\nprint('has', tiny.__name__)\n")
    await reader.open("new")
    await expect(page.get_by_label("job.json")).to_be_visible()

    await drop(page, folder)
    await expect(page.get_by_text(RUNS)).to_be_visible(timeout=PATIENCE)
    await page.get_by_role("button", name="Submit").click()

    await expect(page.get_by_role("heading", level=1)).to_contain_text("succeeded", timeout=PATIENCE)
    await page.get_by_role("link", name="Log").click()
    await expect(page.get_by_role("log")).to_have_text("has tiny")


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("model_bin", bytes(5 << 20), "slipway run work"),
        ("noise_bin", random.Random(7).randbytes(60_000), "slipway run work"),
        ("job_json", "{", "job.json is not a JSON object"),
        ("job_json", DEEP, "job.json has more than 64 levels"),
        ("other_py", "", "not one script alone"),
    ],
    ids=["large", "too large when packed", "no JSON", "deep", "two scripts"],
)
async def test_a_folder_that_cannot_be_sent_is_refused_with_the_remedy(
    reader: Reader, tmp_path: Path, name: str, content: str | bytes, reason: str
) -> None:
    await reader.open("new")
    await expect(reader.page.get_by_label("job.json")).to_be_visible()

    await drop(reader.page, folder_in(tmp_path, **{name: content}))

    await expect(reader.page.get_by_role("alert")).to_contain_text(reason)


async def test_a_job_is_run_again_with_changes(reader: Reader, door: Door) -> None:
    page, name = reader.page, unique("page")
    document = {"name": name, "labels": {"rate": "0.1"}, "spec": shell("echo before")}
    _, job, _ = await door.call("POST", "jobs", document, Content_Type="application/json")
    await reader.open(f"jobs/{job['id']}")
    await page.get_by_role("link", name="Run with changes").click(timeout=PATIENCE)
    text = page.get_by_label("job.json")
    await expect(text).to_contain_text('"rate": "0.1"')
    lines = await text.locator(".cm-line").all_text_contents()

    await text.fill("\n".join(lines).replace("echo before", "echo after"))
    await expect(page.get_by_text(RUNS)).to_be_visible(timeout=PATIENCE)
    await page.get_by_role("button", name="Submit").click()

    await expect(page.get_by_role("heading", level=1)).to_contain_text(f"{name} succeeded", timeout=PATIENCE)
    assert not page.url.endswith(job["id"])
    await page.get_by_role("link", name="Log").click()
    await expect(page.get_by_role("log")).to_have_text("after")


async def test_a_first_visit_leads_to_a_first_run_in_one_click(reader: Reader) -> None:
    page = reader.page

    async def empty(route: Route) -> None:
        if route.request.method == "GET":
            await route.fulfill(json={"jobs": [], "next": None})
        else:
            await route.continue_()

    await page.route(re.compile(r"/api/jobs(\?|$)"), empty)
    await page.reload()
    await page.get_by_role("button", name="Run the example").click()

    await expect(page.get_by_role("heading", level=1)).to_contain_text("digits", timeout=PATIENCE)
    await expect(page.get_by_role("heading", level=1)).to_contain_text("succeeded", timeout=2 * PATIENCE)
    await expect(page.get_by_role("log")).to_contain_text("test accuracy 0.9")
