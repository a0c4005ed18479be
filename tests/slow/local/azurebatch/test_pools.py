"""Pools and their nodes, by Microsoft's client."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from azure.batch import BatchClient, models
from azure.core import MatchConditions
from azure.core.exceptions import (
    HttpResponseError,
    ResourceExistsError,
    ResourceModifiedError,
    ResourceNotFoundError,
)

from tests.slow.local.azurebatch.world import code_of, emulator, new_job, new_pool, new_task, until


def idle(client: BatchClient, pool: str, count: int) -> list[models.BatchNode]:
    """The nodes of a pool, once so many are idle and no others are there."""

    def check() -> tuple[list[models.BatchNode]] | None:
        nodes = list(client.list_nodes(pool))
        ready = len(nodes) == count and all(node.state == models.BatchNodeState.IDLE for node in nodes)
        return (nodes,) if ready and client.get_pool(pool).allocation_state == "steady" else None

    return until(check)[0]


def test_a_pool_gets_its_nodes_and_another_size(client: BatchClient) -> None:
    client.create_pool(new_pool("sized", target_dedicated_nodes=1, target_low_priority_nodes=1))

    before = client.get_pool("sized")
    nodes = idle(client, "sized", 2)
    client.begin_resize_pool(
        "sized",
        models.BatchPoolResizeOptions(target_dedicated_nodes=3, target_low_priority_nodes=0),
        polling_interval=0,
    ).result()
    larger = idle(client, "sized", 3)
    client.begin_resize_pool(
        "sized", models.BatchPoolResizeOptions(target_dedicated_nodes=0), polling_interval=0
    ).result()

    assert (before.allocation_state, before.current_dedicated_nodes) == ("resizing", 0)
    assert sorted(bool(node.is_dedicated) for node in nodes) == [False, True]
    assert all(node.is_dedicated for node in larger)
    assert idle(client, "sized", 0) == []


def test_a_pool_is_not_made_twice_and_its_name_is_free_when_it_is_gone(client: BatchClient) -> None:
    client.create_pool(new_pool("once", target_dedicated_nodes=1))

    with pytest.raises(ResourceExistsError) as refused:
        client.create_pool(new_pool("ONCE"))
    idle(client, "once", 1)
    client.begin_delete_pool("once", polling_interval=0)
    until(lambda: "once" not in [pool.id for pool in client.list_pools()])
    with pytest.raises(ResourceNotFoundError) as absent:
        client.get_pool("once")
    client.create_pool(new_pool("once"))

    assert [code_of(one.value) for one in (refused, absent)] == ["PoolExists", "PoolNotFound"]


def test_the_name_of_a_pool_is_taken_while_its_nodes_leave(tmp_path: Path) -> None:
    with emulator(tmp_path, "--leaving-seconds=3600") as running, running.client() as client:
        client.create_pool(new_pool("leaves", target_dedicated_nodes=1))
        idle(client, "leaves", 1)
        client.begin_delete_pool("leaves", polling_interval=0)

        with pytest.raises(ResourceExistsError) as refused:
            client.create_pool(new_pool("leaves"))

    assert code_of(refused.value) == "PoolBeingDeleted"


def test_a_version_that_has_changed_refuses_a_change(client: BatchClient) -> None:
    client.create_pool(new_pool("versioned"))
    first = client.get_pool("versioned")
    assert first.etag
    client.update_pool(
        "versioned",
        models.BatchPoolUpdateOptions(metadata=[models.BatchMetadataItem(name="a", value="b")]),
        etag=first.etag,
        match_condition=MatchConditions.IfNotModified,
    )

    with pytest.raises(ResourceModifiedError) as refused:
        client.update_pool(
            "versioned",
            models.BatchPoolUpdateOptions(metadata=[]),
            etag=first.etag,
            match_condition=MatchConditions.IfNotModified,
        )

    changed = client.get_pool("versioned")
    assert refused.value.status_code == 412
    assert changed.etag != first.etag
    assert not (changed.etag or '"').startswith('"')
    assert [(item.name, item.value) for item in changed.metadata or []] == [("a", "b")]


def test_lists_are_filtered_selected_and_paged(client: BatchClient) -> None:
    for number in range(5):
        client.create_pool(new_pool(f"listed-{number}"))

    paged = list(client.list_pools(max_results=2, filter="startswith(id,'listed-')").by_page())
    pages = [
        [pool.id for pool in page]
        for page in client.list_pools(max_results=2, filter="startswith(id,'listed-')").by_page()
    ]
    chosen = list(client.list_pools(filter="id eq 'listed-3' and state eq 'active'", select=["id", "state"]))

    assert len(paged) == 3
    assert pages == [["listed-0", "listed-1"], ["listed-2", "listed-3"], ["listed-4"]]
    assert [one.as_dict() for one in chosen] == [{"id": "listed-3", "state": "active"}]
    with pytest.raises(HttpResponseError) as wrong:
        list(client.list_pools(filter="id like 'x'"))
    assert code_of(wrong.value) == "InvalidQueryParameterValue"


@pytest.mark.parametrize("text", ["stat eq 'active'", "startswith(nam,'x')", "id eq 'a' or owner eq 'b'"])
def test_a_filter_by_what_a_pool_has_not_is_refused_with_its_name(client: BatchClient, text: str) -> None:
    with pytest.raises(HttpResponseError, match="InvalidQueryParameterValue") as refused:
        list(client.list_pools(filter=text))

    assert refused.value.status_code == 400
    assert refused.value.response is not None
    assert "is not a property by which this list can be filtered" in str(refused.value.response.text())


def test_a_start_task_prepares_each_node_and_a_bad_one_makes_it_useless(client: BatchClient) -> None:
    def pool(name: str, command: str) -> models.BatchPoolCreateOptions:
        start = models.BatchStartTask(command_line=f"/bin/bash -c {command!r}", wait_for_success=True)
        return new_pool(name, target_dedicated_nodes=1, start_task=start)

    client.create_pool(pool("prepared", "echo ready $AZ_BATCH_NODE_ID"))
    client.create_pool(pool("spoilt", "exit 9"))

    node = idle(client, "prepared", 1)[0]
    text = b"".join(client.download_node_file("prepared", node.id, "startup/stdout.txt")).decode()
    bad = until(
        lambda: next((one for one in client.list_nodes("spoilt") if one.state == "starttaskfailed"), None)
    )

    assert text == f"ready {node.id}\n"
    assert node.start_task_info
    assert node.start_task_info.exit_code == 0
    assert bad.start_task_info
    assert bad.start_task_info.exit_code == 9


def test_a_removed_node_is_gone_and_a_rebooted_one_comes_back(client: BatchClient) -> None:
    client.create_pool(new_pool("changing", target_dedicated_nodes=2))
    first, second = idle(client, "changing", 2)

    client.begin_remove_nodes(
        "changing", models.BatchNodeRemoveOptions(node_ids=[first.id]), polling_interval=0
    ).result()
    remaining = idle(client, "changing", 1)
    client.begin_reboot_node(
        "changing",
        second.id,
        {"nodeRebootOption": "requeue"},  # type: ignore[arg-type]
        polling_interval=0,
    )
    again = idle(client, "changing", 1)[0]

    assert [node.id for node in remaining] == [second.id]
    assert client.get_pool("changing").target_dedicated_nodes == 1
    assert again.last_boot_time
    assert second.last_boot_time
    assert again.last_boot_time > second.last_boot_time


def test_a_node_that_takes_no_tasks_is_left_alone(client: BatchClient) -> None:
    client.create_pool(new_pool("shut", target_dedicated_nodes=1))
    node = idle(client, "shut", 1)[0]
    client.disable_node_scheduling(
        "shut", node.id, models.BatchNodeDisableSchedulingOptions(node_disable_scheduling_option="requeue")
    )
    client.create_job(new_job("shut", "shut"))
    client.create_task("shut", new_task("t", "true"))

    shut = client.get_node("shut", node.id).scheduling_state
    counts = client.get_job_task_counts("shut").task_counts
    client.enable_node_scheduling("shut", node.id)

    assert shut == "disabled"
    assert (counts.active, counts.running) == (1, 0)
    until(lambda: client.get_job_task_counts("shut").task_counts.succeeded == 1)


def test_counts_of_nodes_come_by_pool(client: BatchClient) -> None:
    client.create_pool(new_pool("counted", target_dedicated_nodes=2))
    idle(client, "counted", 2)

    counts = next(one for one in client.list_pool_node_counts() if one.pool_id == "counted")

    assert counts.dedicated
    assert (counts.dedicated.idle, counts.dedicated.total) == (2, 2)


def test_the_images_name_the_agent_that_a_pool_needs(client: BatchClient) -> None:
    images = {image.node_agent_sku_id for image in client.list_supported_images()}

    assert "batch.node.ubuntu 24.04" in images


def test_no_answer_holds_a_secret_that_was_sent(client: BatchClient) -> None:
    canary = "canary-of-a-secret"
    blobs = {"accountName": "a", "containerName": "c", "relativeMountPath": "m"}
    mounts = [
        {"azureBlobFileSystemConfiguration": {**blobs, "accountKey": canary}},
        {"azureBlobFileSystemConfiguration": {**blobs, "sasKey": canary}},
        {
            "cifsMountConfiguration": {
                "username": "u",
                "source": "s",
                "relativeMountPath": "m",
                "password": canary,
            }
        },
    ]
    body = {
        **new_pool("private", target_dedicated_nodes=1).as_dict(),
        "userAccounts": [
            {
                "name": "u",
                "password": canary,
                "linuxUserConfiguration": {"uid": 1, "gid": 1, "sshPrivateKey": canary},
            }
        ],
        "mountConfiguration": mounts,
    }
    body["virtualMachineConfiguration"]["containerConfiguration"] = {
        "type": "dockerCompatible",
        "containerRegistries": [{"username": "u", "registryServer": "r", "password": canary}],
    }
    client.create_pool(body)  # type: ignore[arg-type]  # a document as other clients send it

    shown = client.get_pool("private").as_dict()
    everything = [shown, *(pool.as_dict() for pool in client.list_pools())]

    assert canary not in str(everything)
    assert shown["userAccounts"][0]["name"] == "u"
    assert shown["mountConfiguration"][0]["azureBlobFileSystemConfiguration"]["containerName"] == "c"


def test_a_node_that_is_named_twice_is_removed_once(client: BatchClient) -> None:
    client.create_pool(new_pool("twice", target_dedicated_nodes=2))
    first, second = idle(client, "twice", 2)

    options = models.BatchNodeRemoveOptions(node_ids=[first.id, first.id])
    client.begin_remove_nodes("twice", options, polling_interval=0).result()

    assert [node.id for node in idle(client, "twice", 1)] == [second.id]
    assert client.get_pool("twice").target_dedicated_nodes == 1


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ({"task_slots_per_node": 17}, "InvalidPropertyValue"),
        ({"auto_scale_formula": "$TargetDedicatedNodes=1;"}, "InvalidPropertyValue"),
        ({"enable_auto_scale": True, "auto_scale_formula": "x=1;" * 101}, "AutoScalingFormulaSyntaxError"),
        (
            {"enable_auto_scale": True, "auto_scale_formula": "x=1;" + " " * 8200},
            "AutoScalingFormulaSyntaxError",
        ),
    ],
)
def test_a_pool_keeps_the_limits_of_the_description(
    client: BatchClient, more: dict[str, Any], code: str
) -> None:
    with pytest.raises(HttpResponseError) as refused:
        client.create_pool(new_pool("limits", **more))

    assert code_of(refused.value) == code


def test_most_members_of_a_pool_change_only_while_it_is_empty(client: BatchClient) -> None:
    client.create_pool(new_pool("filled", target_dedicated_nodes=1))
    client.create_pool(new_pool("empty"))
    idle(client, "filled", 1)
    change = models.BatchPoolUpdateOptions(task_slots_per_node=2)

    client.update_pool("empty", change)
    with pytest.raises(HttpResponseError) as refused:
        client.update_pool("filled", change)

    assert client.get_pool("empty").task_slots_per_node == 2
    assert (refused.value.status_code, code_of(refused.value)) == (409, "PoolNotEmpty")
