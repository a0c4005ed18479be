"""What every engine can do, as the table of docs/reference/engines.md. Pure.

`python -m slipway.engines_page` writes the table, from the engines' own declarations.
"""

from __future__ import annotations

from collections.abc import Mapping

from shared.core.engine import ABILITIES, Ability
from shared.engines import registry

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


def _cell(ability: Ability) -> str:
    answer = "where configured" if ability.answer == "configured" else ability.answer
    return f"{answer}: {ability.note}" if ability.note else answer


if __name__ == "__main__":
    import sys

    sys.stdout.write(table() + "\n")
