"""The checker of templates: syntax, modules, hooks."""

from __future__ import annotations

from pathlib import Path

import pytest

from local.bicep.__main__ import hooks, templates
from local.bicep.check import check
from tests.unit.local.bicep.planted import INFRA, planted

#: what → the file, a text in it and another one, the code
PLANTED = {
    "a member that stands twice": (
        "vault.bicep",
        "enableSoftDelete: true",
        "enableSoftDelete: true\n    enableSoftDelete: false",
        "BCP025",
    ),
    "a parameter that a module has not": (
        "main.bicep",
        "dailyLogGb: dailyLogGb",
        "dailyLogs: dailyLogGb",
        "BCP037",
    ),
    "a parameter that a module needs": ("main.bicep", "    dailyLogGb: dailyLogGb\n", "", "BCP035"),
    "a file that is not there": ("main.bicep", "'events.bicep'", "'event.bicep'", "BCP091"),
    "a bracket": (
        "vault.bicep",
        "sku: { family: 'A', name: 'standard' }",
        "sku: { family: 'A', name: 'standard'",
        "SYNTAX",
    ),
    "two modules of one name": ("main.bicep", "name: 'alerts'", "name: 'events'", "SAME"),
    "an output that a hook reads": (
        "main.bicep",
        "output AZURE_KEY_VAULT_NAME",
        "output AZURE_VAULT_NAME",
        "OUTPUT",
    ),
}


def test_the_templates_have_no_finding() -> None:
    assert check(templates(INFRA), hooks(INFRA)) == []
    assert hooks(INFRA)


@pytest.mark.parametrize("error", PLANTED)
def test_a_planted_error_is_found(tmp_path: Path, error: str) -> None:
    file, old, new, code = PLANTED[error]

    findings = check(planted(tmp_path, file, old, new), hooks(INFRA))

    assert code in {one.code for one in findings}
    assert {one.file for one in findings} <= {file, "main.bicep", *hooks(INFRA)}
