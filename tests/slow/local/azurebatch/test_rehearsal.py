"""Failures of pools on request: each error of a resize, a failed start task, an unusable node."""

from __future__ import annotations

from typing import Any

import pytest
from azure.batch import BatchClient, models
from azure.core.exceptions import HttpResponseError
from azure.core.rest import HttpRequest

from local.azurebatch.state.faults import RESIZE_ERRORS
from tests.slow.local.azurebatch.world import code_of, ended, new_job, new_pool, new_task, until


def tell(client: BatchClient, path: str, **body: Any) -> None:
    client.send_request(HttpRequest("POST", f"/emulator/pools/{path}", json=body)).raise_for_status()


def errors_of(client: BatchClient, pool: str) -> list[str]:
    return [str(one.code) for one in client.get_pool(pool).resize_errors or ()]


@pytest.mark.parametrize("code", RESIZE_ERRORS)
def test_a_pool_fails_to_grow_with_each_error_and_grows_at_the_next_attempt(
    client: BatchClient, code: str
) -> None:
    pool = f"short-{code}"
    client.create_pool(new_pool(pool, target_dedicated_nodes=0))
    until(lambda: client.get_pool(pool).allocation_state == models.AllocationState.STEADY)
    tell(client, f"{pool}/resizeerrors", code=code)
    size = models.BatchPoolResizeOptions(target_dedicated_nodes=1)

    client.begin_resize_pool(pool, size, polling_interval=0).wait()
    until(lambda: errors_of(client, pool) == [code])
    failed = client.get_pool(pool)
    client.begin_resize_pool(pool, size, polling_interval=0).wait()
    until(lambda: client.get_pool(pool).current_dedicated_nodes == 1)

    assert (failed.current_dedicated_nodes, failed.target_dedicated_nodes) == (0, 1)
    assert errors_of(client, pool) == []
    client.begin_delete_pool(pool, polling_interval=0)


def test_a_formula_tries_again_what_could_not_be_allocated(client: BatchClient) -> None:
    pool = "formula-short"
    formula = "$TargetDedicatedNodes = 1;"
    client.create_pool(
        new_pool(pool, enable_auto_scale=True, auto_scale_formula="$TargetDedicatedNodes = 0;")
    )
    tell(client, f"{pool}/resizeerrors", code="AllocationTimedout", times=2)
    client.enable_pool_auto_scale(pool, models.BatchPoolEnableAutoScaleOptions(auto_scale_formula=formula))

    until(lambda: errors_of(client, pool) == ["AllocationTimedout"])
    until(lambda: client.get_pool(pool).current_dedicated_nodes == 1)

    assert errors_of(client, pool) == []


@pytest.mark.parametrize(
    ("body", "state"),
    [
        ({"state": "starttaskfailed", "exitCode": 100}, models.BatchNodeState.START_TASK_FAILED),
        ({"state": "unusable", "code": "DiskFull"}, models.BatchNodeState.UNUSABLE),
    ],
)
def test_a_node_fails_gives_its_task_away_and_is_not_rebooted_but_removed(
    client: BatchClient, body: dict[str, Any], state: models.BatchNodeState
) -> None:
    name = f"fail-{body['state']}"
    client.create_pool(new_pool(name, target_dedicated_nodes=1))
    client.create_job(new_job(name, name))
    client.create_task(name, new_task("t", "[ -e $AZ_BATCH_NODE_SHARED_DIR/go ] || sleep 300"))
    until(lambda: client.get_task(name, "t").state == models.BatchTaskState.RUNNING)
    (node,) = client.list_nodes(name)

    tell(client, f"{name}/nodes/{node.id}/fail", **body)
    failed = client.get_node(name, str(node.id))
    counts = next(one for one in client.list_pool_node_counts() if one.pool_id == name).dedicated
    waits = client.get_task(name, "t")
    client.delete_task(name, "t")
    with pytest.raises(HttpResponseError) as refused:
        client.begin_reboot_node(name, str(node.id), {"nodeRebootOption": "requeue"}, polling_interval=0)  # type: ignore[arg-type]
    removed = models.BatchNodeRemoveOptions(node_ids=[str(node.id)])
    client.begin_remove_nodes(name, removed, polling_interval=0)
    until(lambda: not list(client.list_nodes(name)))
    until(lambda: client.get_pool(name).allocation_state == models.AllocationState.STEADY)
    resized = models.BatchPoolResizeOptions(target_dedicated_nodes=1)
    client.begin_resize_pool(name, resized, polling_interval=0)
    client.create_task(name, new_task("u", "true"))

    assert (failed.state, code_of(refused.value)) == (state, "NodeNotReady")
    assert counts
    assert counts.start_task_failed + counts.unusable == 1
    assert waits.state == models.BatchTaskState.ACTIVE
    if body["state"] == "unusable":
        assert failed.errors
        assert failed.errors[0].code == "DiskFull"
    else:
        assert failed.start_task_info
        assert failed.start_task_info.exit_code == 100
    assert ended(client, name, "u").execution_info
    client.begin_delete_job(name, polling_interval=0)
    client.begin_delete_pool(name, polling_interval=0)


def test_an_error_that_the_service_does_not_have_is_refused_by_name(client: BatchClient) -> None:
    client.create_pool(new_pool("known", target_dedicated_nodes=0))

    with pytest.raises(HttpResponseError) as refused:
        tell(client, "known/resizeerrors", code="Tired")

    assert code_of(refused.value) == "InvalidPropertyValue"
