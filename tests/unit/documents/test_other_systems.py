"""docs/how-to/come-from-another-system.md: each row ends with what there is here."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from slipway.cli_page import commands
from tests.unit.documents.corpus import ROOT

PAGE = (ROOT / "docs/how-to/come-from-another-system.md").read_text(encoding="utf-8")
SCHEMA = json.loads((ROOT / "docs/job.schema.json").read_text(encoding="utf-8"))
TABLES = [
    [line.strip("| ").split(" | ") for line in table.splitlines()[2:]]
    for table in re.findall(r"(?:^\|.*\n)+", PAGE, re.MULTILINE)
]
#: Members of the envelope, which stands around the job file.
ENVELOPE = {"secrets", "resources"}


def properties_of(schema: dict[str, Any]) -> dict[str, Any]:
    """The members of an object, through references and choices."""
    if reference := schema.get("$ref"):
        return properties_of(SCHEMA["$defs"][reference.rpartition("/")[2]])
    members: dict[str, Any] = dict(schema.get("properties", {}))
    for choice in (*schema.get("anyOf", ()), *schema.get("allOf", ()), *schema.get("oneOf", ())):
        members |= properties_of(choice)
    return members


def test_there_are_three_tables() -> None:
    assert [len(table) >= 5 for table in TABLES] == [True, True, True]


@pytest.mark.parametrize("row", TABLES[2], ids=lambda row: row[0])
def test_a_shared_feature_has_its_page_and_a_test(row: list[str]) -> None:
    pages = re.findall(r"\]\(([^)#]+)", row[1])
    (test,) = re.findall(r"^`(tests/[a-z_/]+\.py)`$", row[2])
    assert pages
    assert all((ROOT / "docs/how-to" / page).is_file() for page in pages)
    assert re.search(r"^(async )?def test_", (ROOT / test).read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.parametrize("row", TABLES[0], ids=lambda row: row[0])
def test_a_row_names_a_command_of_ours(row: list[str]) -> None:
    named = re.findall(r"`slipway ([a-z-]+)[^`]*`", row[-1])
    assert named
    assert set(named) <= set(commands())


@pytest.mark.parametrize("row", TABLES[1], ids=lambda row: row[-1][:40])
def test_a_row_names_members_of_a_job_file(row: list[str]) -> None:
    job = properties_of(properties_of(SCHEMA)["properties"])
    for name in re.findall(r"`([A-Za-z.]+)`", row[-1]):
        members = job
        for part in name.split("."):
            assert part in members or name in ENVELOPE, name
            members = properties_of(members.get(part, {}))
