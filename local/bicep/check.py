"""Checks the syntax of templates, and what modules and hooks ask of them.

The compiler itself runs in the public workflow (`.github/workflows/ci.yml`), where any warning of it fails.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from local.bicep.template import Finding, Module, Template, Value

#: A name of azd's environment in a hook: `$AZURE_KEY_VAULT_NAME`.
_READ = re.compile(r"\$\{?([A-Z][A-Z0-9_]+)\b")
#: What azd itself puts there.
_OF_AZD = frozenset({"AZURE_ENV_NAME", "AZURE_LOCATION", "AZURE_SUBSCRIPTION_ID"})
#: The file whose outputs azd puts there.
_WHOLE = "main.bicep"


def check(templates: Mapping[str, Template], hooks: Mapping[str, str]) -> list[Finding]:
    """Check the templates of a folder, by their names, and the texts of its hooks."""
    findings: list[Finding] = []
    for name, template in templates.items():
        findings += template.findings
        for module in template.modules:
            referenced = templates.get(str(PurePosixPath(name).parent / module.path))
            findings += _arguments(template.file, module, referenced)
        findings += _names(template)
    if (whole := templates.get(_WHOLE)) is not None:
        findings += _read_by_hooks(whole, hooks)
    return sorted(findings, key=lambda one: (one.file, one.line, one.column))


def _arguments(file: str, module: Module, referenced: Template | None) -> Iterator[Finding]:
    line, column = module.body.line, module.body.column
    if referenced is None:
        yield Finding(file, line, column, "BCP091", f"There is no file {module.path}.")
        return
    params = module.body.members.get("params")
    members = params.members if params is not None else {}
    for name, value in members.items():
        if name not in referenced.parameters:
            text = f'{module.path} does not take a parameter "{name}".'
            yield Finding(file, value.line, value.column, "BCP037", text)
    lacks = [name for name, default in referenced.parameters.items() if not default and name not in members]
    if lacks:
        yield Finding(file, line, column, "BCP035", f"{module.path} needs {', '.join(lacks)}.")


def _names(template: Template) -> Iterator[Finding]:
    """Two modules of one name in one scope are one deployment, and the second replaces the first."""
    earlier: dict[tuple[str, str], str] = {}
    for module in template.modules:
        name, scope = (module.body.members.get(member) for member in ("name", "scope"))
        key = (_text(name), _text(scope))
        if key in earlier:
            text = f"{module.symbol} has the name {key[0]} of {earlier[key]}."
            yield Finding(template.file, module.body.line, module.body.column, "SAME", text)
        earlier[key] = module.symbol


def _text(value: Value | None) -> str:
    return value.text if value is not None else ""


def _read_by_hooks(whole: Template, hooks: Mapping[str, str]) -> Iterator[Finding]:
    """Variables that a hook reads, and that no output of the deployment sets."""
    for file, text in hooks.items():
        for number, line in enumerate(text.splitlines(), 1):
            for match in _READ.finditer(line):
                if match[1] not in _OF_AZD | whole.outputs.keys():
                    yield Finding(file, number, match.start() + 1, "OUTPUT", f"{match[1]} is not an output.")
