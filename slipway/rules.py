"""Every rule there is, of the format and of deployments; the index of their pages, and what all pages have.

`python -m slipway.rules` writes the index and the heads of the pages, and begins the page of a new rule.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from shared.core.refusals import REFUSALS
from shared.jobspec import CODES, Severity, page_of

ROOT = Path(__file__).resolve().parents[1]
INDEX = ROOT / "docs" / "rules" / "README.md"
_GROUPS = (
    ("SW00", "Reading"),
    ("SW01", "Shape"),
    ("SW02", "Toolkits"),
    ("SW03", "Mounts, credentials and paths"),
    ("SW04", "Names, variables and places"),
    ("SW05", "Time"),
    ("SW06", "The envelope"),
    ("SW07", "Lint"),
    ("SW08", "The document as a whole"),
    ("SW09", "Code"),
    ("SW1", "Deployments"),
)
_HEAD = """# Rules

One page for each problem that `slipway validate`, the API and the diagnostics of a drop can name.
Errors stop the job; warnings and hints do not. This index is generated: `python -m slipway.rules`.
"""
_EFFECTS: Mapping[Severity, str] = {
    "error": "Error: the job does not run.",
    "warning": "Warning: the job runs.",
    "hint": "Hint: the job runs.",
}
_TODO = "**What to do.** "
_NEW = """What is wrong.

**Why.** What happens otherwise.

**What to do.** …

## Wrong

```json
{}
```

## Right

```json
{}
```
"""
_TAIL = """## What only a deployment knows

`slipway validate`, `POST /api/validate` and the doors agree on every document, but for these rules and
for SW101 and up.
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


#: The codes that `slipway validate` cannot decide, and what they depend on. With all others the command, the
#: API and the doors agree. SW101 and up are a deployment's own.
DEPLOYMENT = {code: entry.depends for code, entry in CODES.items() if entry.depends}

RULES: dict[str, Rule] = {
    **{code: Rule(code, entry.title, entry.remedy, entry.severity) for code, entry in CODES.items()},
    **{code: Rule(code, *refusal) for code, refusal in sorted(REFUSALS.items())},
}


def page_text(rule: Rule, written: str) -> str:
    """A page with its title, its severity and its remedy as the rule has them; the rest as it was written."""
    head = f"# {rule.code}: {rule.title}\n\n{_EFFECTS[rule.severity]}\n\n"
    *_, body = (written or f"\n\n\n\n{_NEW}").split("\n", 4)
    remedy = f"{_TODO}{rule.remedy[:1].upper()}{rule.remedy[1:]}."
    return head + "\n".join(remedy if line.startswith(_TODO) else line for line in body.split("\n"))


def index_text() -> str:
    """The index of the rules, with the first sentence of each page."""
    parts = [_HEAD]
    for prefix, title in _GROUPS:
        rows = [
            f"| [{rule.code}]({rule.code}.md) | {rule.title} | {rule.severity} | {_cause(rule)} |"
            for rule in RULES.values()
            if rule.code.startswith(prefix)
        ]
        parts.append(
            "\n".join(
                (f"## {title}", "", "| rule | what | severity | when |", "|---|---|---|---|", *rows, "")
            )
        )
    lines = [f"| [{code}]({code}.md) | {what} |" for code, what in DEPLOYMENT.items()]
    return "\n".join((*parts, _TAIL, "| rule | depends on |", "|---|---|", *lines, ""))


def _cause(rule: Rule) -> str:
    """The first sentence of a page."""
    paragraph = _written(rule).split("\n\n")[2]
    return f"{' '.join(paragraph.split()).partition('. ')[0].rstrip('.')}".replace("|", "\\|")


def _written(rule: Rule) -> str:
    page = ROOT / rule.page
    return page.read_text(encoding="utf-8") if page.exists() else ""


if __name__ == "__main__":
    for one in RULES.values():
        (ROOT / one.page).write_text(page_text(one, _written(one)), encoding="utf-8")
    INDEX.write_text(index_text(), encoding="utf-8")
