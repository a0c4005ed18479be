"""Every rule there is, of the format and of deployments, and the index of their pages. Pure.

`python -m shared.catalogue > docs/rules/README.md` writes the index.
"""

from __future__ import annotations

from typing import NamedTuple

from shared.refusals import REFUSALS
from shared.spec import CODES, Severity, page_of

_GROUPS = (
    ("SW00", "Reading"),
    ("SW01", "Shape"),
    ("SW02", "Toolkits"),
    ("SW03", "Mounts, credentials and paths"),
    ("SW04", "Names, variables and places"),
    ("SW05", "Time"),
    ("SW06", "The envelope"),
    ("SW07", "Lint"),
    ("SW1", "Deployments"),
)
_HEAD = """# Rules

One page for each problem that `slipway validate`, the API and the diagnostics of a drop can name.
Errors stop the job; warnings and hints do not. This index is generated: `python -m shared.catalogue`.
"""


class Rule(NamedTuple):
    """One rule: what it is called, what to do, how much it matters, and where its page is."""

    code: str
    title: str
    remedy: str
    severity: Severity

    @property
    def page(self) -> str:
        """The path of the page, from the top of the project."""
        return page_of(self.code)


RULES: dict[str, Rule] = {
    **{code: Rule(code, entry.title, entry.remedy, entry.severity) for code, entry in CODES.items()},
    **{code: Rule(code, title, remedy, "error") for code, (title, remedy) in sorted(REFUSALS.items())},
}


def index_text() -> str:
    """The content of docs/rules/README.md."""
    parts = [_HEAD]
    for prefix, title in _GROUPS:
        rows = [
            f"| [{rule.code}]({rule.code}.md) | {rule.title} | {rule.severity} |"
            for rule in RULES.values()
            if rule.code.startswith(prefix)
        ]
        parts.append("\n".join((f"## {title}", "", "| rule | what | severity |", "|---|---|---|", *rows, "")))
    return "\n".join(parts)


if __name__ == "__main__":
    import sys

    sys.stdout.write(index_text())
