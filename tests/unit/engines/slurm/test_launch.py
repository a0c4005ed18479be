"""What runs on the nodes: the plans of all toolkits, and the one text of the program."""

from __future__ import annotations

import ast
import hashlib
import json
from dataclasses import replace

import pytest

from shared.core.code.record import CodeSource
from shared.core.errors import Rejected
from shared.engines.launch import plan as launch
from shared.engines.launch.mounts import code_file
from shared.engines.node.processes import plan_of
from shared.engines.slurm.job.check import check
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


@pytest.mark.parametrize("nodes", [1, 2])
def test_the_code_of_a_job_is_brought_before_its_preparation_and_its_address_is_in_no_command(
    nodes: int,
) -> None:
    source = CodeSource("https://acct.blob.core.windows.net/snapshots/team/00?sig=canary", "00", 7, "work")
    job_order = replace(order(TOOLKITS["custom"], nodeCount=nodes), code=source)

    whole = launch.plan(site(CLUSTER, job_order), job_order)

    (step,) = whole["code"]
    assert list(whole).index("code") < list(whole).index("preparation")
    assert json.loads(step["input"]) == {"address": source.address, "sha256": "00", "bytes": 7, "at": "work"}
    assert "canary" not in str({**whole, "code": [{**step, "input": ""}]})
    assert ("--input=all" in step["argv"]) is (nodes > 1)
    assert dict(whole["system"])["SLIPWAY_CODE"].endswith("$SLIPWAY_RUN/wd")
    assert "without" not in step
    ast.parse(launch.bringing(), feature_version=(3, 6))
    assert "from shared" not in launch.bringing()
    assert (launch.bringing() + step["argv"][-1]).isascii(), "an old Python reads no other command line"


@pytest.mark.parametrize("name", ["custom", "horovod", "tensorflow"])
def test_the_largest_job_fits_into_one_variable_with_its_code(name: str) -> None:
    source = CodeSource("https://a.example/" + "x" * 500, "0" * 64, 7, "work")
    job_order = replace(order(TOOLKITS[name]), code=source)
    names: list[dict[str, str]] = []
    job_order.document["properties"]["environmentVariables"] = names
    while not any("bytes" in one.message for one in check(CLUSTER, job_order.document["properties"])):
        names += [{"name": f"N{len(names) + more:039d}", "value": "v"} for more in range(20)]

    environment = launch.environment(site(CLUSTER, job_order), job_order, "s1")

    assert len(environment[launch.PLAN]) < 128 * 1024


@pytest.mark.parametrize(("nodes", "fits"), [(43, True), (100, True), (1000, True), (2147483647, False)])
def test_a_plan_of_many_processes_fits_into_one_variable_or_is_refused_before_anything_is_submitted(
    nodes: int, fits: bool
) -> None:
    block = {**TOOLKITS["tensorflow"]["tensorFlowSettings"], "workerCount": nodes}
    job_order = order({"tensorFlowSettings": {**block, "parameterServerCount": 1}}, nodeCount=nodes)
    problems = [one.message for one in check(CLUSTER, job_order.document["properties"])]

    if not fits:
        assert problems == [
            "the plan of so many processes does not fit into a variable of the program on the nodes"
        ]
        return
    text = launch.environment(site(CLUSTER, job_order), job_order, "s1")[launch.PLAN]
    assert problems == []
    assert len(f"{launch.PLAN}={text}") < 128 * 1024
    assert plan_of(text) == json.loads(json.dumps(launch.plan(site(CLUSTER, job_order), job_order)))


def test_command_lines_that_many_processes_repeat_are_refused_where_they_do_not_fit() -> None:
    arguments = "".join(hashlib.sha256(str(number).encode()).hexdigest() for number in range(700))
    block = {**TOOLKITS["tensorflow"]["tensorFlowSettings"], "workerCommandLineArgs": arguments[:40_000]}
    job_order = order({"tensorFlowSettings": {**block, "workerCount": 50}}, nodeCount=50)

    (problem,) = check(CLUSTER, job_order.document["properties"])

    assert "does not fit" in problem.message
    with pytest.raises(Rejected, match="does not fit"):
        launch.environment(site(CLUSTER, job_order), job_order, "s1")


@pytest.mark.parametrize("letter", ["a", "é", "語", "\U0001f600"])
def test_a_document_is_as_long_as_people_wrote_it(letter: str) -> None:
    def problems(count: int) -> list[str]:
        command = {"customToolkitSettings": {"commandLine": letter * count}}
        return [one.message for one in check(CLUSTER, order(command).document["properties"])]

    each = len(letter.encode())
    assert problems(48_000 // each) == []
    assert "a job for Slurm has at most 49152 bytes" in problems(49_200 // each)[0]


@pytest.mark.parametrize("address", ["https://acct.blob.core.windows.net", "http://127.0.0.1:10000/acct"])
def test_nodes_that_mount_the_snapshots_read_the_code_there(address: str) -> None:
    table = {"Acct/snapshots": "/mnt/snapshots/", "acct/scripts": "/mnt/scripts"}
    source = CodeSource(f"{address}/snapshots/a%20team/00?sig=canary", "00", 7, "work")

    assert code_file(table, source) == "/mnt/snapshots/a team/00"
    assert code_file({"acct/scripts": "/mnt/scripts"}, source) == ""
    assert code_file(table, None) == ""


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


@pytest.mark.parametrize(
    "toolkit", [name for name in TOOLKITS if "pythonScriptFilePath" in str(TOOLKITS[name])]
)
@pytest.mark.parametrize(
    ("name", "runs"), [("-c.py", "./-c.py"), ("train.py", "train.py"), ("a/-c.py", "a/-c.py")]
)
def test_a_script_whose_name_begins_with_a_dash_is_no_option(toolkit: str, name: str, runs: str) -> None:
    ((kind, block),) = TOOLKITS[toolkit].items()
    job_order = order({kind: {**block, "pythonScriptFilePath": name}})

    text = json.dumps(launch.plan(site(CLUSTER, job_order), job_order), default=str)

    assert f" {runs}" in text or f"'{runs}'" in text
    assert f"python {name}" not in text.replace(f"python {runs}", "")
