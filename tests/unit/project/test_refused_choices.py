"""Choices of an environment that do not go together: the template refuses them, with the variables' names."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tests.unit.project.test_deployment import parameters
from tests.unit.project.test_infra import code

MAIN = code("infra/main.bicep")
#: Each condition under which the template refuses, and what it says then.
REFUSALS = re.findall(r"^var \w+ = (.+?)\s+\? fail\('([^']+)'\)\n", MAIN, re.MULTILINE)
DEFAULTS: dict[str, Any] = {
    name: json.loads(default.replace("'", '"'))
    for name, default in re.findall(r"^param (\w+) \w+ = ('.*'|\d+|true|false)$", MAIN, re.MULTILINE)
}


def refused(**choices: Any) -> list[str]:
    """What the template says of the choices: its conditions, in Python's words."""
    preset = {**DEFAULTS, "location": "westeurope", "empty": lambda text: not text, "toLower": str.lower}
    values = preset | choices
    values["isBatch"] = values["engine"] == "batch"
    values["nodesLocation"] = values["batchLocation"] or values["location"]
    words = {"&&": "and", "||": "or", "!": " not "}
    return [
        text
        for condition, text in REFUSALS
        if eval(re.sub(r"&&|\|\||!(?!=)", lambda word: words[word[0]], condition), {}, values)
    ]


def test_the_defaults_go_together_with_every_engine() -> None:
    assert [refused(engine=engine) for engine in ("none", "slurm", "batch")] == [[], [], []]


@pytest.mark.parametrize(
    ("choices", "named"),
    [
        ({"engine": "batch", "batchMinNodes": 3}, {"BATCH_MIN_NODES", "BATCH_MAX_NODES"}),
        ({"engine": "batch", "vnetEnabled": True, "batchLocation": "eastus"}, {"BATCH_LOCATION"}),
        ({"natGateway": True}, {"NAT_GATEWAY", "VNET_ENABLED"}),
        ({"monthlyBudget": 100, "alertEmail": "a@b.c"}, {"MONTHLY_BUDGET", "BUDGET_START"}),
        ({"monthlyBudget": 100, "budgetStart": "2026-01-01"}, {"MONTHLY_BUDGET", "ALERT_EMAIL"}),
    ],
)
def test_what_does_not_go_together_is_refused_by_name(choices: dict[str, Any], named: set[str]) -> None:
    (text,) = refused(**choices)

    assert named <= set(re.findall(r"[A-Z_]{5,}", text)) <= set(parameters().values())


@pytest.mark.parametrize(
    "choices",
    [
        {"engine": "batch", "batchMinNodes": 2},
        {"engine": "none", "batchMinNodes": 3},
        {"natGateway": True, "vnetEnabled": True},
        {"engine": "batch", "vnetEnabled": True, "batchLocation": "WestEurope"},
        {"engine": "batch", "batchLocation": "eastus"},
        {"monthlyBudget": 100, "budgetStart": "2026-01-01", "alertEmail": "a@b.c"},
    ],
)
def test_what_goes_together_is_not_refused(choices: dict[str, Any]) -> None:
    assert refused(**choices) == []


def test_each_refusal_is_used_where_its_choice_is() -> None:
    """Azure evaluates what a resource uses."""
    used = re.findall(r"^var (\w+) = .+?\s+\? fail\(", MAIN, re.MULTILINE)

    assert len(used) == len(REFUSALS) == 4
    assert all(re.search(rf"\b(location|maxNodes|email|hasGateway): {name}\b", MAIN) for name in used)


def test_a_default_is_the_same_in_the_guides_in_the_template_and_in_what_azd_fills_in() -> None:
    """A choice that is open by one of them would open a deployment that its guide calls closed."""
    document = json.loads(code("infra/main.parameters.json"))["parameters"]
    filled = {name: re.findall(r"\$\{([A-Z_]+)=?(.*)\}", one["value"])[0] for name, one in document.items()}
    guides = code("docs/how-to/deploy.md") + code("docs/how-to/deploy-gpus.md")
    rows = re.findall(r"^\| `([A-Z_]+)`[^|]* \| (?:`([^`]*)`)?[^|]*\|", guides, re.MULTILINE)
    written = {name: default for name, default in rows if name in {one[0] for one in filled.values()}}
    template = {
        filled[name][0]: json.dumps(value).strip('"') for name, value in DEFAULTS.items() if name in filled
    }

    assert {"SLIPWAY_ENGINE", "VNET_ENABLED", "BATCH_SPOT", "BATCH_VM_SIZE", "MONTHLY_BUDGET"} <= set(written)
    assert {name: default for name, default in filled.values() if name in written} == written
    assert {name: default for name, default in filled.values() if name in template} == template
