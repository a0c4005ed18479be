"""Every rule there is, of the format and of deployments, and the index of their pages. Pure.

`python -m slipway.rules > docs/rules/README.md` writes the index.
"""

from __future__ import annotations

from typing import NamedTuple

from shared.core.refusals import REFUSALS
from shared.jobspec import CODES, Severity, page_of

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
    ("SW1", "Deployments"),
)
_HEAD = """# Rules

One page for each problem that `slipway validate`, the API and the diagnostics of a drop can name.
Errors stop the job; warnings and hints do not. This index is generated: `python -m slipway.rules`.
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
DEPLOYMENT = {
    "SW001": "the limits of the deployment, and how long a document is once its secrets are sealed",
    "SW013": "the most nodes that the operator allows",
    "SW033": "what the cluster mounts; the drop container, which only drops have mounted at scripts",
    "SW034": "what the cluster mounts",
    "SW035": "the cloud of the configured storage accounts",
    "SW036": "the storage account that stands for its placeholder",
    "SW038": "whether the operator allows mount commands",
    "SW039": "the storage accounts whose keys are configured",
    "SW046": "placeholders of a script and a folder, which only drops have, and the storage account",
    "SW047": "the configured clusters",
    "SW051": "the longest time that the operator allows",
    "SW063": "the most receivers that the operator allows",
    "SW070": "which scripts lie in the drop container",
    "SW071": "what the scripts in the drop container contain",
    "SW073": "what the cluster mounts",
    "SW074": "how long the cluster lets a job run",
    "SW075": "how many nodes the cluster has",
    "SW076": "how many GPUs the cluster's nodes have",
    "SW078": "the size of the cluster's nodes",
    "SW082": "the containers and shares that the operator lets jobs mount",
}

RULES: dict[str, Rule] = {
    **{code: Rule(code, entry.title, entry.remedy, entry.severity) for code, entry in CODES.items()},
    **{code: Rule(code, *refusal) for code, refusal in sorted(REFUSALS.items())},
}


def index_text() -> str:
    """The index of the rules, as docs/rules/README.md holds it."""
    parts = [_HEAD]
    for prefix, title in _GROUPS:
        rows = [
            f"| [{rule.code}]({rule.code}.md) | {rule.title} | {rule.severity} |"
            for rule in RULES.values()
            if rule.code.startswith(prefix)
        ]
        parts.append("\n".join((f"## {title}", "", "| rule | what | severity |", "|---|---|---|", *rows, "")))
    lines = [f"| [{code}]({code}.md) | {what} |" for code, what in DEPLOYMENT.items()]
    return "\n".join((*parts, _TAIL, "| rule | depends on |", "|---|---|", *lines, ""))


if __name__ == "__main__":
    import sys

    sys.stdout.write(index_text())
