"""docs/how-to/come-from-another-system.md: each row ends with what there is here."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from shared.jobspec import Source
from slipway.cli_page import commands
from slipway.client.request.diagnose import diagnosed
from slipway.commands.init.foreign.translate import translate
from tests.unit.documents.corpus import ROOT

PAGE = (ROOT / "docs/how-to/come-from-another-system.md").read_text(encoding="utf-8")
SCHEMA = json.loads((ROOT / "docs/job.schema.json").read_text(encoding="utf-8"))
TABLES = [
    [line.strip("| ").split(" | ") for line in table.splitlines()[2:]]
    for table in re.findall(r"(?:^\|.*\n)+", PAGE, re.MULTILINE)
]
#: Members of the envelope, which stands around the job file.
ENVELOPE = {"secrets", "resources"}
#: The files of the page, and whose they are.
SYSTEMS = {
    "sky.yaml": "a task of SkyPilot",
    ".dstack.yml": "a task of dstack",
    "job.yml": "a command job of Azure ML",
    "train.sh": "a script for sbatch",
}


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


#: What the page calls each file → its text.
FILES = dict(re.findall(r"```yaml\n# (\S+?),?(?: of [^\n]*)?\n(.*?)```", PAGE, re.DOTALL)) | {
    "train.sh": "".join(re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL))
}


@pytest.mark.parametrize(("name", "system"), SYSTEMS.items())
def test_the_file_of_each_system_becomes_the_same_job(name: str, system: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(FILES[name], encoding="utf-8")
    (tmp_path / "environment.yml").write_text("dependencies: [python=3.12]", encoding="utf-8")

    result = translate(tmp_path / name)

    properties = json.loads(result.files["job.json"])["properties"]
    assert result.system == system
    assert properties["nodeCount"] == 2
    assert [one.kind for one in result.notes if one.kind == "unknown"] == []
    assert "train.py" in result.files.get("run.sh", FILES[name])
    foreign = diagnosed(Source(FILES[name].encode()), tmp_path / "job.json")
    assert [one.remedy.partition(";")[0] for one in foreign] == ["translate it: slipway init --from FILE"]


def test_the_page_has_a_file_of_each_system() -> None:
    assert FILES.keys() == SYSTEMS.keys()
