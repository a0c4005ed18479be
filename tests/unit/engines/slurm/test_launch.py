"""What runs on the nodes: the plans of all toolkits, and the one text of the program."""

from __future__ import annotations

import ast
import json

import pytest

from shared.engines.launch import plan as launch
from shared.engines.slurm.job.site import site
from shared.jobspec.format.toolkits import TOOLKITS as FORMAT
from tests.unit.engines.slurm.launch_plans import CLUSTER, EVERYTHING, FOLDER, TOOLKITS, goldens, order


def test_every_toolkit_of_the_format_has_a_golden_plan() -> None:
    assert {next(iter(block)) for block in TOOLKITS.values()} == set(FORMAT)


def test_the_plans_are_the_golden_ones() -> None:
    """`python -m tests.unit.engines.slurm.launch_plans` writes them anew."""
    assert goldens() == {file.name: file.read_text(encoding="utf-8") for file in FOLDER.iterdir()}


def test_the_program_is_one_text_for_python_3_6_and_holds_nothing_of_any_job() -> None:
    text = launch.script()

    ast.parse(text, feature_version=(3, 6))
    assert text.startswith("#!/usr/bin/env python3\n")
    assert "from shared" not in text
    assert launch.script() is text


def test_the_environment_of_the_program_is_the_only_place_of_secrets() -> None:
    job_order = order(TOOLKITS["custom"], **EVERYTHING)

    environment = launch.environment(site(CLUSTER, job_order), job_order, "s1")

    assert "a $b 'c'" in json.loads(environment[launch.PLAN])["secrets"].values()
    assert "canary" not in str(environment), "keys of accounts have no business on the nodes"


@pytest.mark.parametrize("name", ["custom", "pytorch", "horovod", "tensorflow"])
def test_what_a_person_wrote_is_no_word_of_a_command(name: str) -> None:
    evil = "$(touch /tmp/x); `id` {SLIPWAY_TEMP}"
    block = json.loads(json.dumps(TOOLKITS[name]).replace("--epochs 1", evil).replace("echo 'one'", evil))

    whole = launch.plan(site(CLUSTER, order(block)), order(block))

    words = [word for step in whole["main"] for word in step["argv"]]
    assert not any("touch" in word for word in words)
    assert all(evil in step["literal"]["SLIPWAY_COMMAND"] or name == "tensorflow" for step in whole["main"])
