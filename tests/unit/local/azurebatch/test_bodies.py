"""Bodies and filters that cannot be are refused with what is wrong, and never end the emulator's work."""

from __future__ import annotations

from typing import Any

import pytest

from local.azurebatch.api import bodies, job_bodies, pool_bodies
from local.azurebatch.autoscale.formula import read
from local.azurebatch.autoscale.values import FormulaError
from local.azurebatch.state.errors import BatchError
from tests.breadth import size

TASK = {"id": "t", "commandLine": "true"}
POOL = {"id": "p", "vmSize": "x", "virtualMachineConfiguration": {}}


@pytest.mark.parametrize(
    ("body", "code", "name"),
    [
        ({"commandLine": "true"}, "MissingRequiredProperty", "id"),
        ({"id": "t"}, "MissingRequiredProperty", "commandLine"),
        ({**TASK, "id": "a/b"}, "InvalidPropertyValue", "id"),
        ({**TASK, "id": "t" * 65}, "InvalidPropertyValue", "id"),
        ({**TASK, "requiredSlots": 0}, "InvalidPropertyValue", "requiredSlots"),
        ({**TASK, "containerSettings": {}}, "MissingRequiredProperty", "imageName"),
        ({**TASK, "exitConditions": {"exitCodes": "4"}}, "InvalidPropertyValue", "exitConditions.exitCodes"),
        ({**TASK, "dependsOn": {"taskIds": 4}}, "InvalidPropertyValue", "dependsOn.taskIds"),
        ({**TASK, "requiredSlots": "1"}, "InvalidPropertyValue", "requiredSlots"),
        (
            {**TASK, "multiInstanceSettings": {"numberOfInstances": 0, "coordinationCommandLine": "true"}},
            "InvalidPropertyValue",
            "multiInstanceSettings.numberOfInstances",
        ),
        (
            {**TASK, "dependsOn": {"taskIdRanges": [{"start": 1, "end": 2**31}]}},
            "InvalidPropertyValue",
            "dependsOn.taskIdRanges.0.end",
        ),
        (
            {**TASK, "constraints": {"maxTaskRetryCount": -2}},
            "InvalidPropertyValue",
            "constraints.maxTaskRetryCount",
        ),
    ],
)
def test_the_first_wrong_property_is_named(body: dict[str, Any], code: str, name: str) -> None:
    with pytest.raises(BatchError) as refused:
        bodies.read(job_bodies.NewTask, body)

    assert (refused.value.status, refused.value.code) == (400, code)
    assert refused.value.values["PropertyName"] == name


def test_a_property_that_is_none_is_refused_by_its_name() -> None:
    with pytest.raises(BatchError) as refused:
        bodies.read(job_bodies.NewTask, {**TASK, "comandLine": "x"})

    assert refused.value.code == "InvalidRequestBody"
    assert "'comandLine'" in refused.value.values["Reason"]


@pytest.mark.parametrize(
    "policy", [{"nodeFillType": "none"}, {"jobDefaultOrder": "age"}, {"nodeFilType": "pack"}]
)
def test_an_order_that_there_is_not_is_refused(policy: dict[str, str]) -> None:
    with pytest.raises(BatchError):
        bodies.read(pool_bodies.NewPool, {**POOL, "taskSchedulingPolicy": policy})


@pytest.mark.parametrize("nodes", [-1, 10_001, 10**30, 1.0, "1", True])
@pytest.mark.parametrize("member", ["targetDedicatedNodes", "targetLowPriorityNodes"])
def test_a_number_of_nodes_that_no_pool_may_have_is_refused(member: str, nodes: object) -> None:
    for model, body in ((pool_bodies.NewPool, POOL), (pool_bodies.Resize, {})):
        with pytest.raises(BatchError) as refused:
            bodies.read(model, {**body, member: nodes})
        assert refused.value.values["PropertyName"] == member


def test_what_a_caller_said_is_kept_and_no_default_is_added() -> None:
    body = {**TASK, "exitConditions": {"default": {"jobAction": "disable"}}}

    assert bodies.shown(bodies.read(job_bodies.NewTask, body)) == body


def test_a_formula_that_is_nested_too_deeply_is_an_error_of_the_formula() -> None:
    with pytest.raises(FormulaError):
        read(f"x={'(' * size(100_000, 20_000)}1{')' * size(100_000, 20_000)};")


def test_a_container_of_a_start_task_is_refused_with_what_to_do_instead() -> None:
    start = {"commandLine": "true", "containerSettings": {"imageName": "x"}}
    with pytest.raises(BatchError) as refused:
        bodies.read(pool_bodies.NewPool, {**POOL, "startTask": start})

    assert "start this one by the command line" in refused.value.values["Reason"]


@pytest.mark.parametrize(
    ("member", "reason"),
    [
        ({"applicationPackageReferences": [{"applicationId": "x"}]}, "bring files by resourceFiles"),
    ],
)
def test_what_the_emulator_does_not_do_is_named_with_what_to_do_instead(
    member: dict[str, Any], reason: str
) -> None:
    with pytest.raises(BatchError) as refused:
        bodies.read(job_bodies.NewTask, {**TASK, **member})

    assert refused.value.status == 400
    assert reason in refused.value.values["Reason"]
    assert bodies.read(job_bodies.NewTask, {**TASK, "applicationPackageReferences": []})
