"""The measurement of downloads, in a size that takes no time: every figure is there."""

from __future__ import annotations

import math

import pytest

from bench.download import download


@pytest.mark.thorough
async def test_a_small_download_is_measured_in_every_way() -> None:
    figures = await download(megabytes=0.5, files=5)

    ways = ("bare MB/s", "discarded MB/s", "direct MB/s", "through the app MB/s", "worker MiB above idle")
    kinds = {f"{kind} {way}" for kind in ("one", "many") for way in ways}
    assert figures.keys() == {f"download {name}" for name in (*kinds, "callers worker MiB above idle")}
    assert all(math.isfinite(figure) for figure in figures.values())
    assert all(figure > 0 for name, figure in figures.items() if name.endswith("MB/s"))
