"""The plots of a job's numbers: of any size, and in the colours that the reader has."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from playwright.async_api import Page, Route, expect

from tests.browser.one_job.live import answer_live, live
from tests.browser.reader import PATIENCE, Reader, comes, listed

pytestmark = pytest.mark.asyncio(loop_scope="session")
#: The middle of what the curve of the first plot covers, as a share of the plot's width.
MIDDLE = """() => {
    const [canvas, over] = [document.querySelector('canvas'), document.querySelector('.u-over')];
    const scale = canvas.width / canvas.clientWidth;
    const [left, width] = [over.offsetLeft * scale, over.offsetWidth * scale];
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    const columns = [];
    for (let at = 0; at < data.length; at += 4) {
        const [red, , blue] = data.slice(at, at + 3);
        if (data[at + 3] > 200 && blue - red > 100) columns.push((at / 4) % canvas.width);
    }
    return ((Math.min(...columns) + Math.max(...columns)) / 2 - left) / width;
}"""


async def open_metrics(reader: Reader, axis: str, **numbers: list[tuple[float, float]]) -> None:
    """The view of these numbers of a job that has ended."""
    await open_series(
        reader,
        [
            {"name": name, "file": "OUT/m.jsonl", "axis": axis, "points": points}
            for name, points in numbers.items()
        ],
    )


async def open_series(reader: Reader, series: list[dict[str, Any]]) -> None:
    """The view of these series, as the API answers them."""
    page = reader.page
    await answer_live(page, {**listed(1), "history": []}, series=series)
    await reader.open("jobs/job-000001/metrics")
    await expect(page.locator("figure").first).to_be_visible()


async def test_any_numbers_are_drawn(reader: Reader) -> None:
    far, tiny = 2.0**53, 5e-324
    numbers: dict[str, list[tuple[float, float]]] = {
        "huge": [(0, 1e308), (1, -1e308), (2, 1)],
        "tiny": [(0, 0), (1, tiny), (2, 2 * tiny)],
        "near": [(0, far), (1, far + 2), (2, far + 4)],
        "same": [(0, 1e299), (1, 1e299)],
        "nothing": [(0, 0), (1, 0)],
        "far": [(far, 1), (far + 2, 2)],  # an axis of these had no end
        "farthest": [(1e308, 1), (-1e308, 2)],
        "alone": [(3, 4)],
        "none": [],
    }
    await open_metrics(reader, "step", **numbers)

    await expect(reader.page.locator("figure")).to_have_count(len(numbers))
    await expect(reader.page.locator("canvas")).to_have_count(len(numbers))
    assert await reader.violations() == []


#: The hues of the lines in a plot, by their pixels: blue is the first curve's, red the second's.
_LINES = """canvas => {
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    const hues = { blue: 0, red: 0 };
    for (let at = 0; at < data.length; at += 4) {
        const [red, green, blue, alpha] = data.slice(at, at + 4);
        if (alpha < 200 || Math.max(red, blue) - green < 60) continue;
        hues[red > blue ? 'red' : 'blue'] += 1;
    }
    return hues;
}"""


async def test_the_use_of_each_node_is_a_line_in_the_plots_of_processor_memory_and_gpu(
    reader: Reader,
) -> None:
    page = reader.page
    numbers = {
        "cpu_percent": ((5.0, 95.0), (60.0, 40.0)),
        "memory_mib": ((2_000.0, 2_500.0), (3_000.0, 3_100.0)),
        "gpu0_percent": ((0.0, 99.0), (50.0, 12.0)),
        "gpu0_memory_mib": ((10.0, 70_000.0), (9_000.0, 60_000.0)),
    }
    series = [
        {"name": name, "file": "stdouterr/usage.jsonl", "axis": "time", "rank": rank}
        | {"points": [[1_790_000_000 + 15 * at, value] for at, value in enumerate(values)]}
        for name, ranks in numbers.items()
        for rank, values in enumerate(ranks)
    ]
    await open_series(reader, series)

    titles = {"cpu_percent": "processor use, %", "memory_mib": "memory, GiB"}
    titles |= {"gpu0_percent": "GPU use, %", "gpu0_memory_mib": "GPU memory, GiB"}
    await expect(page.locator("figcaption > span:first-child")).to_have_text(
        ["GPU use, %", "GPU memory, GiB", "processor use, %", "memory, GiB"]
    )
    for name, (first, second) in numbers.items():
        plot = page.get_by_role("figure").filter(has=page.get_by_text(titles[name], exact=True))
        unit = 1024 if name.endswith("mib") else 1
        await expect(plot).to_contain_text(f"node 0 {first[-1] / unit:.4g}")
        await expect(plot).to_contain_text(f"node 1 {second[-1] / unit:.4g}")
        lines = await plot.locator("canvas").evaluate(_LINES)
        assert min(lines.values()) > 50, (name, lines)
    assert await reader.violations() == []


#: How much of the height of a plot its first curve covers.
_HEIGHT = """() => {
    const [canvas, over] = [document.querySelector('canvas'), document.querySelector('.u-over')];
    const scale = canvas.width / canvas.clientWidth;
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    const rows = [];
    for (let at = 0; at < data.length; at += 4) {
        const [red, , blue] = data.slice(at, at + 3);
        if (data[at + 3] > 200 && blue - red > 100) rows.push(Math.floor(at / 4 / canvas.width));
    }
    return (rows.at(-1) - rows[0]) / (over.offsetHeight * scale);
}"""


@pytest.mark.parametrize(
    ("file", "least", "most"), [("OUT/metrics.jsonl", 0.8, 1), ("stdouterr/usage.jsonl", 0, 0.1)]
)
async def test_only_the_use_of_nodes_is_drawn_from_0_to_100_percent(
    reader: Reader, file: str, least: float, most: float
) -> None:
    points = [[step, 0.5 + step / 100] for step in range(50)]
    await open_series(reader, [{"name": "loss_percent", "file": file, "axis": "step", "points": points}])

    await expect(reader.page.locator("canvas")).to_have_count(1)
    assert least <= await reader.page.evaluate(_HEIGHT) <= most


async def test_times_that_no_calendar_has_are_left_out(reader: Reader) -> None:
    await open_metrics(reader, "time", loss=[(1e300, 2), (8.7e12, 3), (-1e18, 4)], other=[(0, 1), (1e11, 2)])

    await expect(reader.page.locator("canvas")).to_have_count(2)


@pytest.mark.parametrize("axis", ["time", "step"])
async def test_a_number_alone_stands_in_the_middle(reader: Reader, axis: str) -> None:
    await open_metrics(reader, axis, memory=[(1_790_000_000, 8_000)])

    await expect(reader.page.locator("canvas")).to_have_count(1)
    middle = await reader.page.evaluate(MIDDLE)
    assert middle == pytest.approx(0.5, abs=0.05)


async def width_of_labels(page: Page) -> int:
    return int(await page.locator(".u-over").first.evaluate("over => over.offsetLeft"))


async def test_long_numbers_have_room_beside_the_plot(reader: Reader) -> None:
    await open_metrics(reader, "step", bytes=[(0, 0), (1, 25_000_000)])

    assert await width_of_labels(reader.page) > len("25,000,000") * 7


#: Notes where each text of the last drawing of each canvas stands.
_NOTE_TEXTS = """() => {
    const drawing = CanvasRenderingContext2D.prototype, { clearRect, fillText } = drawing;
    drawing.clearRect = function (...area) { this.canvas.texts = []; clearRect.apply(this, area); };
    drawing.fillText = function (text, x, y, ...more) {
        const width = this.measureText(text).width, { e, f } = this.getTransform();
        const from = x + e - width * { left: 0, center: 0.5, right: 1 }[this.textAlign];
        this.canvas.texts.push({ text, from, to: from + width, y: y + f });
        fillText.call(this, text, x, y, ...more);
    };
}"""
_TEXTS = "[...document.querySelectorAll('canvas')].map(canvas => canvas.texts)"


async def test_on_a_telephone_no_labels_of_an_axis_touch(reader: Reader) -> None:
    page, begin = reader.page, 1_790_033_000
    spans = {"time": (50, 140, 150, 310, 4_500, 4_700, 18_000, 4e5, 5e6, 9e7), "step": (9, 9e4, 9e7)}
    series = [
        {"name": f"{axis} {span:g}", "file": "OUT/m.jsonl", "axis": axis}
        | {"points": [[begin * (axis == "time") + share * span, share] for share in (0, 0.5, 1)]}
        for axis in spans
        for span in spans[axis]
    ]
    await page.set_viewport_size({"width": 360, "height": 900})
    await page.evaluate(_NOTE_TEXTS)

    await open_series(reader, series)
    await expect(page.locator("canvas")).to_have_count(len(series))
    touching = []
    for one, texts in zip(series, await page.evaluate(_TEXTS), strict=True):
        for line in {text["y"] for text in texts}:
            row = sorted((text for text in texts if text["y"] == line), key=lambda text: text["from"])
            touching += [
                (one["name"], left["text"], right["text"])
                for left, right in pairwise(row)
                if left["to"] + 3 > right["from"]
            ]
    assert touching == []


async def test_a_plot_follows_the_scheme_of_the_reader(reader: Reader) -> None:
    page = reader.page
    await page.emulate_media(color_scheme="light")
    await open_metrics(reader, "step", loss=[(0, 1), (1, 2)])
    picture = "document.querySelector('canvas').toDataURL()"
    light = await page.evaluate(picture)

    await page.emulate_media(color_scheme="dark")
    await page.wait_for_function(f"light => {picture} !== light", arg=light)

    await page.emulate_media(color_scheme="light")
    await page.wait_for_function(f"light => {picture} === light", arg=light)


async def test_of_ten_thousand_names_a_few_hundred_are_drawn_and_the_rest_is_said(reader: Reader) -> None:
    page, answers = reader.page, list[str]()

    async def answer(route: Route) -> None:
        answers.append(route.request.url)
        start = 200 * len(answers)
        names = ["__proto__", "constructor", *(f"metric {number}" for number in range(start, start + 198))]
        points = [[len(answers), 1]]
        series = [{"name": one, "file": "OUT/m.jsonl", "axis": "step", "points": points} for one in names]
        body = live({**listed(1), "history": []}, series=series, next=str(start))
        await route.fulfill(json={**body, "more": len(answers) < 50})

    await page.route("**/api/jobs/job-000001/live?*", answer)
    await page.clock.install()
    await reader.open("jobs/job-000001/metrics")

    await expect(page.locator("figure").first).to_contain_text("__proto__", timeout=PATIENCE)
    first = len(answers)
    assert first < 50  # what is here is drawn before the rest is read
    await comes(page.get_by_text("Only 400 curves are drawn."))
    while len(answers) < 50:
        await page.clock.run_for(1000)
        await page.evaluate("fetch(location.pathname)")

    await expect(page.locator("figure")).to_have_count(400)
    await expect(page.locator("figure").first).to_contain_text("__proto__1")


async def test_of_numbers_without_an_end_a_part_is_kept(reader: Reader) -> None:
    numbers = [(float(number), float(number % 7)) for number in range(300_000)]

    await open_metrics(reader, "step", loss=numbers)

    await expect(reader.page.get_by_text("Some points of long curves are left out.")).to_be_visible()
    await expect(reader.page.locator("figure small").first).to_have_text("0")
