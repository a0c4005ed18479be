"""What every engine can do, as the table of docs/reference/engines.md.

`python -m slipway.engines_page` writes the table into the page, from the engines' own declarations; a test
compares.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from shared.core.abilities import ABILITIES, Ability
from shared.engines import registry

PAGE = Path(__file__).resolve().parents[1] / "docs" / "reference" / "engines.md"
_TABLE = re.compile(r"(?<=\n\n)\| \| .*?(?=\n\n)", re.DOTALL)

#: Engine → what it declares in its module `abilities`.
ENGINES: Mapping[str, Mapping[str, Ability]] = {
    name: entry.abilities() for name, entry in registry.ENGINES.items()
}


def table() -> str:
    """A row for each ability, a column for each engine."""
    heads = [f"{registry.ENGINES[name].title} (`{name}`)" for name in ENGINES]
    rows = [f"| | {' | '.join(heads)} |", f"|---|{'---|' * len(ENGINES)}"]
    for ability, words in ABILITIES.items():
        answers = " | ".join(_cell(declared[ability]) for declared in ENGINES.values())
        rows.append(f"| {words} | {answers} |")
    return "\n".join(rows)


def page(text: str) -> str:
    """The page with the table of these engines in place of its first one without a name above its rows."""
    return _TABLE.sub(lambda _: table(), text, count=1)


def _cell(ability: Ability) -> str:
    answer = "where configured" if ability.answer == "configured" else ability.answer
    return f"{answer}: {ability.note}" if ability.note else answer


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
