"""What engines declare: all of it, and the table of the page is made of that."""

from __future__ import annotations

from pathlib import Path

import pytest

from shared.core.engine import ABILITIES
from shared.core.ports import Engine
from shared.engines.batchai.client import Workspace
from shared.engines.batchai.engine import BatchAIEngine
from shared.engines.matrix import ENGINES, table
from shared.engines.memory import MemoryEngine
from shared.engines.slurm.engine import SlurmEngine

PAGE = Path(__file__).resolve().parents[3] / "docs" / "reference" / "engines.md"


def test_the_table_of_the_page_is_the_generated_one() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert f"\n\n{table()}\n\n" in text, "put in what `python -m shared.engines.matrix` writes"


@pytest.mark.parametrize(
    "engine",
    [MemoryEngine(), BatchAIEngine(Workspace("https://x", "s", "g", "w")), SlurmEngine({}, {})],
    ids=["memory", "batchai", "slurm"],
)
def test_every_engine_declares_every_ability(engine: Engine) -> None:
    assert engine.capabilities.keys() == ABILITIES.keys()


def test_the_table_shows_what_the_engines_themselves_declare() -> None:
    assert ENGINES["slurm"] is SlurmEngine({}, {}).capabilities
    assert ENGINES["batchai"] is BatchAIEngine(Workspace("https://x", "s", "g", "w")).capabilities
