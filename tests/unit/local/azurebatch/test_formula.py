"""Autoscale formulas: values, samples, and errors that say where."""

from __future__ import annotations

from typing import Any

import pytest

from local.azurebatch.autoscale.formula import read
from local.azurebatch.autoscale.values import FormulaError, Samples, World, moment
from tests.breadth import size


def world(*pending: float, apart: float = 30.0) -> World:
    """Samples of $PendingTasks, the last of which is of now."""
    ages = [apart * (len(pending) - 1 - index) for index in range(len(pending))]
    oldest = ages[0] if ages else 0.0
    samples = Samples(
        list(zip(ages, pending, strict=True)), lambda seconds: min(100.0, 100.0 * oldest / seconds)
    )
    return World({"PendingTasks": samples}, now=1000.0)


def value(expression: str, *pending: float) -> Any:
    return read(f"x = {expression};").evaluate(world(*pending or (0,)))["x"]


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        ("1 + 2 * 3", 7),
        ("(1 + 2) * 3 - -1", 10),
        ("7 / 2", 3.5),
        ("1 < 2 && 2 >= 3 || 1 == 1", 1),
        ("!1", 0),
        ("1 > 2 ? 10 : 2 > 1 ? 20 : 30", 20),
        ("min(3, max(1, 2))", 2),
        ("avg(1, 2, 6)", 3),
        ("med(5, 1, 3)", 3),
        ("ceil(1.2) + floor(1.8) + round(2.5)", 6),
        ("TimeInterval_Minute * 2", 120),
        ("time() - 1000", 0),
        ('time("1970-01-01T00:00:10Z") + 1', 11),
        ('time("Thu, 01 Jan 1970 00:00:10 GMT")', 10),
        ("requeue", "requeue"),
    ],
)
def test_an_expression_has_the_value_of_its_operators(expression: str, result: Any) -> None:
    assert value(expression) == result


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        ("$PendingTasks", 4),
        ("$PendingTasks.GetSample(1)", [4]),
        ("$PendingTasks.GetSample(2)", [3, 4]),
        ("$PendingTasks.GetSample(TimeInterval_Minute * 1)", [2, 3, 4]),
        ("$PendingTasks.GetSample(TimeInterval_Second * 90, TimeInterval_Second * 60)", [1, 2]),
        ("avg($PendingTasks.GetSample(TimeInterval_Minute))", 3),
        ("$PendingTasks.GetSamplePercent(TimeInterval_Minute * 3)", 50),
        ("val($PendingTasks.GetSample(4), 0)", 1),
        ("percentile($PendingTasks.GetSample(4), 75)", 3),
        ("std($PendingTasks.GetSample(4)) > 1.29 && std($PendingTasks.GetSample(4)) < 1.3", 1),
    ],
)
def test_samples_are_those_of_so_many_moments_or_seconds(expression: str, result: Any) -> None:
    assert value(expression, 1, 2, 3, 4) == result


def test_names_are_set_in_order_and_comments_are_passed_over() -> None:
    text = """// the floor
    floor = 2; /* the rest */ $TargetDedicatedNodes = max(floor, $PendingTasks.GetSample(1));
    $NodeDeallocationOption = taskcompletion"""

    names = read(text).evaluate(world(5))

    assert names == {"floor": 2, "$TargetDedicatedNodes": 5, "$NodeDeallocationOption": "taskcompletion"}


@pytest.mark.parametrize(
    ("time", "nodes"),
    [("2026-11-30T07:59:00Z", 10), ("2026-11-30T08:00:00Z", 20), ("2026-11-29T12:00:00Z", 10)],
    ids=["monday before eight", "monday at eight", "sunday"],
)
def test_the_first_example_of_the_services_page_has_its_values(time: str, nodes: int) -> None:
    text = """$curTime = time();
    $workHours = $curTime.hour >= 8 && $curTime.hour < 18;
    $isWeekday = $curTime.weekday >= 1 && $curTime.weekday <= 5;
    $isWorkingWeekdayHour = $workHours && $isWeekday;
    $TargetDedicatedNodes = $isWorkingWeekdayHour ? 20:10;
    $NodeDeallocationOption = taskcompletion;"""

    names = read(text).evaluate(World({}, now=moment(time)))

    assert names["$TargetDedicatedNodes"] == nodes


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("$TargetDedicatedNodes=1 +", "Line 1, Col 1: Unexpected 'end'"),
        ("x=1;\ny=nothing;", "Line 2, Col 3: Undefined symbol: nothing"),
        ("x=§;", "Line 1, Col 3: Unexpected character '§'"),
        ("x=drop(1);", "Line 1, Col 3: Undefined function: drop"),
        ("x=$PendingTasks.Take(1);", "Line 1, Col 17: Undefined method: Take"),
        ("1=x;", "Line 1, Col 1: Unexpected '1'; a name is expected"),
        ("$CurrentDedicatedNodes=5;", "Line 1, Col 1: $CurrentDedicatedNodes can be read only"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_place(text: str, message: str) -> None:
    with pytest.raises(FormulaError) as wrong:
        read(text)

    assert str(wrong.value) == message


@pytest.mark.parametrize(
    "text",
    [
        "x=1/0;",
        "x=$Nothing;",
        "x=min();",
        "x=val($PendingTasks.GetSample(1),7);",
        f"x={'1+' * size(100_000, 20_000)}1;",
    ],
)
def test_what_cannot_be_evaluated_is_an_error_of_the_formula(text: str) -> None:
    formula = read(text)

    with pytest.raises(FormulaError):
        formula.evaluate(world(1))


@pytest.mark.parametrize(("pending", "born", "nodes"), [(6.0, 0.0, 4), (0.0, 0.0, 1), (6.0, 900.0, 2)])
def test_a_formula_of_a_workflow_engine_is_evaluated(pending: float, born: float, nodes: float) -> None:
    """With the age of the pool, a share of its present target, and names of its own that begin with $."""
    text = f"""
        age = time() - time("1970-01-01T00:{born // 60:02.0f}:00Z");
        interval = TimeInterval_Minute * 5;
        $share = $PendingTasks.GetSamplePercent(interval);
        $tasks = $share < 70 ? max(0, $PendingTasks.GetSample(1)) : avg($PendingTasks.GetSample(interval));
        $wanted = $tasks > 0 ? $tasks : max(0, $TargetDedicatedNodes / 2);
        $TargetDedicatedNodes = age < interval ? 2 : max(0, min($wanted, 4));
        $NodeDeallocationOption = taskcompletion;
    """
    present = Samples([(0.0, 2.0)], lambda _: 100.0)
    variables = {**world(pending).variables, "TargetDedicatedNodes": present}

    assert read(text).evaluate(World(variables, now=1000.0))["$TargetDedicatedNodes"] == nodes


@pytest.mark.parametrize("text", ["", "soon", "1970-13-01"])
def test_a_text_that_is_not_a_time_is_an_error_of_the_formula(text: str) -> None:
    with pytest.raises(FormulaError, match="Cannot be evaluated"):
        value(f'time("{text}")')
