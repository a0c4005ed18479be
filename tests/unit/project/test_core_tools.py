"""The nightly workflow with Azure Functions Core Tools: its command is the guide's, and its tests exist."""

import re
from pathlib import Path

from tests.acceptance.hosts.another_host import COMMAND, filled

ROOT = Path(__file__).resolve().parents[3]
WORKFLOW = (ROOT / ".github" / "workflows" / "core-tools.yml").read_text(encoding="utf-8")
GUIDE = (ROOT / "docs" / "how-to" / "use-core-tools.md").read_text(encoding="utf-8")


def test_the_command_of_the_workflow_is_that_of_the_guide_and_can_be_filled_in() -> None:
    (command,) = re.findall(rf"^ +{COMMAND}: (.+)$", WORKFLOW, re.MULTILINE)

    assert f"{COMMAND}='{command}' \\\n" in GUIDE
    assert filled(command, Path("/a b/s.json"), 7171) == (
        "cp '/a b/s.json' local.settings.json && exec func start --port 7171"
    )


def test_one_version_of_the_workflow_is_whole_and_each_test_of_it_exists() -> None:
    (versions,) = re.findall(r"version: \[(.+)\]", WORKFLOW)
    files = re.findall(r"tests/\S+\.py", WORKFLOW)

    assert re.fullmatch(r'"4\.\d+\.\d+", "4"', versions)
    assert "azure-functions-core-tools@${{ matrix.version }}" in WORKFLOW
    assert len(files) > 3
    assert [file for file in files if not (ROOT / file).is_file()] == []


def test_the_workflow_reads_the_repository_and_nothing_else() -> None:
    assert "permissions:\n  contents: read\n" in WORKFLOW
    assert "secrets." not in WORKFLOW
