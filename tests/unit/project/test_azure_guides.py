"""The guides of a deployment: each command has its output, time and cost, and is one that azd has."""

from __future__ import annotations

import re

import pytest

from tests.unit.project.test_infra import code

#: What we use of azd, from its own usage texts (Azure/azure-dev, cli/azd/cmd/testdata).
AZD = {
    "auth login": {"--client-id", "--tenant-id", "--federated-credential-provider"},
    "env new": {"--location", "--subscription"},
    "env set": {"--environment"},
    "env select": set(),
    "env get-value": {"--environment"},
    "env list": set(),
    "up": {"--no-prompt", "--environment"},
    "provision": {"--preview", "--no-state", "--no-prompt", "--environment"},
    "deploy": {"--no-prompt", "--environment"},
    "down": {"--purge", "--force", "--no-prompt", "--environment"},
}
GUIDES = ("connect-a-cluster", "deploy-with-entra", "operate-a-deployment")
HEADER = "| step | expected output | time | cost |\n|---|---|---|---|\n"
COMMAND = re.compile(r"\b(?:az|azd|git|slipway)(?: [a-z][a-z-]+)+")


def guide(name: str) -> str:
    return code(f"docs/how-to/{name}.md")


def shown(text: str) -> set[str]:
    """The commands of a page's blocks; what only reads a value of azd stands within others."""
    blocks = "\n".join(re.findall(r"^```sh\n(.*?)^```$", text, re.DOTALL | re.MULTILINE))
    lines = re.sub(r"\$\(azd env get-value \w+\)|^\s*#.*$| {3}#.*$", "", blocks, flags=re.MULTILINE)
    return set(COMMAND.findall(lines))


def explained(text: str) -> set[str]:
    """The commands in the first column of the page's tables."""
    tables = re.findall(re.escape(HEADER) + r"((?:\|.*\n?)+)", text)
    rows = [line.split(" | ") for table in tables for line in table.splitlines()]
    assert all(len(row) == 4 and all(cell.strip("| ") for cell in row) for row in rows), rows
    return {span for row in rows for span in re.findall(r"`([^`]+)`", row[0])}


@pytest.mark.parametrize("name", GUIDES)
def test_each_command_of_a_guide_has_its_output_time_and_cost(name: str) -> None:
    text = guide(name)
    rows = explained(text)

    assert shown(text)
    assert {one for one in shown(text) if not any(one.startswith(row) for row in rows)} == set()
    assert "☐" in text


def test_azd_has_each_command_and_option_that_we_name() -> None:
    texts = code("docs/**/*.md") + code(".github/workflows/azure-dev.yml") + code("README.md")
    used = re.findall(
        r"(?:`|^ *|&& |\(|run: )azd ((?:auth |env )?[a-z][a-z-]*)([^`|&)\n]*)", texts, re.MULTILINE
    )
    commands = {command for command, _ in used}

    assert {"up", "down", "env set", "provision"} <= commands <= set(AZD)
    for command, rest in used:
        assert set(re.findall(r"--[a-z-]+", rest)) <= AZD[command], command


@pytest.mark.parametrize("name", ["deploy-gpus", "first-live-run"])
def test_what_was_deleted_by_hand_is_made_again_without_the_state_of_azd(name: str) -> None:
    """azd compares a deployment with the last one, and not with what there is: it would do nothing."""
    again = re.findall(
        r"(?:az resource delete |remove the queue)(?:(?!\n\n|\n\|)[\s\S])*?azd provision([^`\n]*)",
        guide(name),
    )

    assert again
    assert set(again) == {" --no-state"}


def test_azd_knows_the_hooks_and_where_they_run() -> None:
    text = code("azure.yaml")
    names = set(re.findall(r"^ +((?:pre|post)\w+):$", text, re.MULTILINE))

    assert names == {"prepackage", "postprovision"}


@pytest.mark.parametrize("name", [*GUIDES, "deploy", "deploy-gpus"])
def test_no_secret_is_written_where_a_package_takes_it(name: str) -> None:
    """azd packs the folder of the clone, also what git does not know; .funcignore cannot know every name."""
    files = re.findall(r"az keyvault secret set [^`]*?--file (\S+)", guide(name).replace("\\\n", ""))

    assert [file for file in files if not file.startswith("../")] == []
