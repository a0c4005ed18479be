"""Lint: what the format allows and what still fails later."""

from __future__ import annotations

from typing import Any

import pytest

from shared.jobspec import Facts, lint, validate, with_lint
from tests.unit.jobspec.checks.lint_jobs import CLEAN, LINTED, Linted, dropped
from tests.unit.jobspec.jobs import job


@pytest.mark.parametrize("linted", LINTED, ids=lambda linted: linted.name)
def test_each_oddity_gives_exactly_its_finding(linted: Linted) -> None:
    problems = lint(linted.document, linted.facts)

    assert [(one.code, one.pointer, one.severity) for one in problems] == [
        (linted.code, f"/properties{linted.pointer}", linted.severity)
    ]
    assert linted.says in problems[0].message + problems[0].remedy


@pytest.mark.parametrize("linted", LINTED, ids=lambda linted: linted.name)
def test_what_lint_finds_breaks_no_rule_of_the_format(linted: Linted) -> None:
    assert validate(linted.document)[0] is not None


@pytest.mark.parametrize(("document", "facts"), CLEAN.values(), ids=CLEAN)
def test_what_is_in_order_is_left_alone(document: dict[str, Any], facts: Facts) -> None:
    assert lint(document, facts) == ()


@pytest.mark.parametrize(
    "document", [{}, {"properties": 7}, {"properties": {"mountVolumes": [], "nodeCount": "x"}}, [], None]
)
def test_any_document_can_be_linted(document: Any) -> None:
    lint(document, Facts(drop_container="x", absent={"a.py"}, max_nodes=1, gpus_per_node=1))


def test_the_right_root_is_a_certain_fix_once_the_mounts_of_the_cluster_are_known() -> None:
    text = "ls $AZ_BATCHAI_MOUNT_ROOT/data/a $AZ_BATCHAI_MOUNT_ROOT/afs ${AZ_BATCHAI_MOUNT_ROOT}/logs"
    document = dropped(customToolkitSettings={"commandLine": text})

    unsure = lint(document)[0]
    sure = lint(document, Facts(cluster_mounts=frozenset({"afs"})))[0]

    assert unsure.fix is None
    assert sure.fix is not None
    assert sure.fix.value == (
        "ls $AZ_BATCHAI_JOB_MOUNT_ROOT/data/a $AZ_BATCHAI_MOUNT_ROOT/afs ${AZ_BATCHAI_JOB_MOUNT_ROOT}/logs"
    )


def test_results_outside_of_mounts_are_no_problem_where_the_cluster_keeps_them() -> None:
    outputs = [{"id": "A", "pathPrefix": "/results"}, {"id": "B", "pathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/b"}]
    document = job(
        stdOutErrPathPrefix="$AZ_BATCHAI_MOUNT_ROOT/own",
        outputDirectories=outputs,
        inputDirectories=[{"id": "C", "path": "$AZ_BATCHAI_MOUNT_ROOT/c"}],
    )
    codes = {
        keeps: [one.code for one in with_lint(validate(document)[1], document, Facts(keeps_files=keeps))]
        for keeps in (False, True)
    }

    assert codes == {False: ["SW034", "SW033", "SW034", "SW034"], True: ["SW034"]}


def test_a_variable_that_nothing_sets_loses_no_results_where_the_cluster_keeps_them() -> None:
    document = job(stdOutErrPathPrefix="$AZ_LEARNING_MOUNT_ROOT/logs")
    problems = validate(document)[1]
    flaws = {keeps: with_lint(problems, document, Facts(keeps_files=keeps)) for keeps in (False, True)}

    assert {keeps: [(one.severity, one.message) for one in flaws[keeps]] for keeps in flaws} == {
        False: [("error", "nothing sets $AZ_LEARNING_MOUNT_ROOT, so the results are lost with the node")],
        True: [("warning", "nothing sets $AZ_LEARNING_MOUNT_ROOT")],
    }


def test_results_on_no_mount_of_a_known_cluster_are_an_error_there_too() -> None:
    document = job(stdOutErrPathPrefix="$AZ_BATCHAI_MOUNT_ROOT/own")
    _, problems = validate(document, cluster_mounts=frozenset({"data"}))

    assert [one.code for one in with_lint(problems, document, Facts(keeps_files=True))] == ["SW033"]


def test_nothing_is_said_of_a_default_path_that_no_one_wrote() -> None:
    document = job(stdOutErrPathPrefix="$AZ_BATCHAI_MOUNT_ROOT/logs")

    reports = with_lint((), document, original=document)
    untold = with_lint((), document, original=job(stdOutErrPathPrefix=None))

    assert [one.code for one in reports] == ["SW073"]
    assert untold == ()
