"""Pools that a formula sizes, spot nodes that are taken back, and an emulator that starts again."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
import requests
from azure.batch import BatchClient, models
from azure.core.exceptions import HttpResponseError, ResourceExistsError
from azure.core.rest import HttpRequest

from tests.slow.local.azurebatch.world import (
    Emulator,
    begin,
    code_of,
    emulator,
    ended,
    new_job,
    new_pool,
    new_task,
    text_of,
    until,
)

FORMULA = """
waiting = max(0, $PendingTasks.GetSample(1));
$TargetLowPriorityNodes = min(2, waiting);
$TargetDedicatedNodes = 0;
$NodeDeallocationOption = taskcompletion;
"""
FIVE_MINUTES = timedelta(minutes=5)


def scaled(
    name: str, formula: str = FORMULA, interval: timedelta = FIVE_MINUTES
) -> models.BatchPoolCreateOptions:
    return new_pool(
        name,
        enable_auto_scale=True,
        auto_scale_formula=formula,
        auto_scale_evaluation_interval=interval,
    )


def test_a_pool_grows_from_zero_for_tasks_and_shrinks_behind_them(client: BatchClient) -> None:
    client.create_pool(scaled("grown"))
    client.create_job(new_job("grown", "grown"))
    until(lambda: client.get_pool("grown").auto_scale_run)
    before = list(client.list_nodes("grown"))

    client.create_task("grown", new_task("t", "echo done"))
    info = ended(client, "grown", "t").execution_info
    until(lambda: not list(client.list_nodes("grown")))

    pool = client.get_pool("grown")
    assert before == []
    assert info
    assert info.exit_code == 0
    assert pool.auto_scale_run
    assert "$TargetLowPriorityNodes=0" in str(pool.auto_scale_run.results)


def test_a_formula_is_tried_without_effect_and_its_errors_come_as_an_answer(client: BatchClient) -> None:
    client.create_pool(scaled("tried", "$TargetDedicatedNodes=0"))

    good = client.evaluate_pool_auto_scale(
        "tried", models.BatchPoolEvaluateAutoScaleOptions(auto_scale_formula="$TargetDedicatedNodes=3;")
    )
    bad = client.evaluate_pool_auto_scale(
        "tried", models.BatchPoolEvaluateAutoScaleOptions(auto_scale_formula="$TargetDedicatedNodes=$Nothing")
    )

    assert good.results == (
        "$TargetDedicatedNodes=3;$TargetLowPriorityNodes=0;$NodeDeallocationOption=requeue"
    )
    assert bad.error
    assert bad.error.code == "AutoScalingFormulaEvaluationError"
    assert bad.error.error_values
    assert bad.error.error_values[0].value == "Line 1, Col 23: Undefined symbol: $Nothing"
    assert client.get_pool("tried").target_dedicated_nodes == 0


def test_a_formula_is_enabled_replaced_and_disabled(client: BatchClient) -> None:
    client.create_pool(new_pool("switched"))
    evaluation = models.BatchPoolEvaluateAutoScaleOptions(auto_scale_formula="$TargetDedicatedNodes=1")
    with pytest.raises(ResourceExistsError) as off:
        client.evaluate_pool_auto_scale("switched", evaluation)
    with pytest.raises(HttpResponseError) as wrong:
        client.enable_pool_auto_scale(
            "switched", models.BatchPoolEnableAutoScaleOptions(auto_scale_formula="$Target == ")
        )
    client.enable_pool_auto_scale(
        "switched", models.BatchPoolEnableAutoScaleOptions(auto_scale_formula="$TargetDedicatedNodes=1")
    )
    until(lambda: client.get_pool("switched").current_dedicated_nodes == 1)
    with pytest.raises(ResourceExistsError) as sized:
        client.begin_resize_pool("switched", models.BatchPoolResizeOptions(target_dedicated_nodes=2))
    client.disable_pool_auto_scale("switched")

    pool = client.get_pool("switched")
    assert (pool.enable_auto_scale, pool.target_dedicated_nodes) == (False, 1)
    assert code_of(off.value) == "AutoScalingNotEnabled"
    assert code_of(wrong.value) == "AutoScalingFormulaSyntaxError"
    assert code_of(sized.value) == "PoolBeingAutoScaled"


@pytest.mark.parametrize("hours", [0, 169])
def test_an_interval_that_the_service_does_not_have_is_refused(client: BatchClient, hours: int) -> None:
    with pytest.raises(HttpResponseError) as refused:
        client.create_pool(scaled("often", interval=timedelta(hours=hours, minutes=1)))

    assert code_of(refused.value) == "InvalidPropertyValue"
    assert "autoScaleEvaluationInterval" in str(refused.value)


def test_a_preempted_node_comes_back_and_its_task_runs_again(
    client: BatchClient, running: Emulator, tmp_path: Path
) -> None:
    client.create_pool(new_pool("spot", target_low_priority_nodes=1))
    client.create_job(new_job("spot", "spot"))
    client.create_task(
        "spot", new_task("t", f"[ -e {tmp_path}/seen ] && exit 0; touch {tmp_path}/seen; sleep 600")
    )
    until((tmp_path / "seen").exists)
    node = next(iter(client.list_nodes("spot")))

    answer = client.send_request(HttpRequest("POST", f"/emulator/pools/spot/nodes/{node.id}/preempt"))
    state = client.get_node("spot", str(node.id)).state
    info = ended(client, "spot", "t").execution_info

    assert answer.status_code == 202
    assert state == "preempted"
    assert info
    assert (info.exit_code, info.requeue_count, info.retry_count) == (0, 1, 0)


def test_an_emulator_that_was_killed_goes_on_with_its_tasks(tmp_path: Path) -> None:
    first = begin(tmp_path)
    with first.client() as client:
        client.create_pool(new_pool("kept", target_dedicated_nodes=1))
        client.create_job(new_job("kept", "kept"))
        client.create_task("kept", new_task("t", f"touch {tmp_path}/seen; sleep 2; echo $RANDOM"))
        until((tmp_path / "seen").exists)
    first.kill()

    with emulator(tmp_path) as second, second.client() as client:
        info = ended(client, "kept", "t").execution_info
        text = text_of(client, "kept", "t")

    assert info
    assert (info.exit_code, info.requeue_count) == (0, 0)
    assert text.strip().isdigit()


def test_an_emulator_that_was_stopped_runs_its_tasks_again(tmp_path: Path) -> None:
    first = begin(tmp_path)
    with first.client() as client:
        client.create_pool(new_pool("ended", target_dedicated_nodes=1))
        client.create_job(new_job("ended", "ended"))
        client.create_task(
            "ended", new_task("t", f"[ -e {tmp_path}/seen ] && exit 0; touch {tmp_path}/seen; sleep 600")
        )
        until((tmp_path / "seen").exists)
    first.stop()
    assert first.process.returncode == 0
    with pytest.raises(requests.ConnectionError):
        requests.get(first.url, timeout=5)

    with emulator(tmp_path) as second, second.client() as client:
        info = ended(client, "ended", "t").execution_info

    assert info
    assert (info.exit_code, info.requeue_count) == (0, 1)
