"""docs/reference/deployment.md: its table names every metric of the source, and no other."""

from __future__ import annotations

import re

from tests.unit.documents.corpus import ROOT

PAGE = (ROOT / "docs/reference/deployment.md").read_text(encoding="utf-8")
_METERED = re.compile(r'meter\.(?:add|set)\(\s*f?"(slipway\.[\w.{}]+)"')
#: The age of the last pass is worked out of this time.
_TIMES = {"slipway.sweeper.passed": "slipway.sweeper.age"}


def documented() -> set[str]:
    """The names of the table; `.nodes` beside `slipway.team.jobs` is short for `slipway.team.nodes`."""
    names: set[str] = set()
    for cell in re.findall(r"^\| (`slipway\.[^|]*) \|", PAGE, re.MULTILINE):
        first, *others = re.findall(r"`([^`]+)`", cell)
        names |= {first, *(first.rpartition(".")[0] + other for other in others)}
    return names


def metered() -> set[str]:
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "shared").rglob("*.py")]
    names = {name for text in texts for name in _METERED.findall(text)}
    return {_TIMES.get(name, name) for name in names}


def test_every_metric_is_documented_and_every_documented_one_is_there() -> None:
    patterns = {re.escape(name).replace(r"\{name\}", r"[a-z_]+") for name in metered()}

    assert len(documented()) > 15
    assert {one for one in documented() if not any(re.fullmatch(p, one) for p in patterns)} == set()
    assert {p for p in patterns if not any(re.fullmatch(p, one) for one in documented())} == set()
