"""Users of nodes and remote login settings, by Microsoft's client: they are noted, and open no login."""

from __future__ import annotations

import pytest
from azure.batch import BatchClient, models
from azure.core.exceptions import HttpResponseError, ResourceNotFoundError

from tests.slow.local.azurebatch.world import code_of, new_pool, until


def test_a_user_of_a_node_is_added_changed_and_removed(client: BatchClient) -> None:
    client.create_pool(new_pool("users", target_dedicated_nodes=1))
    until(lambda: [node.state for node in client.list_nodes("users")] == [models.BatchNodeState.IDLE])
    (node,) = (str(node.id) for node in client.list_nodes("users"))
    user = models.BatchNodeUserCreateOptions(name="ann", is_admin=True, password="canary-1")

    client.create_node_user("users", node, user)
    with pytest.raises(HttpResponseError) as twice:
        client.create_node_user("users", node, user)
    client.replace_node_user("users", node, "ann", models.BatchNodeUserReplaceOptions(password="canary-2"))
    login = client.get_node_remote_login_settings("users", node)
    shown = str(client.get_node("users", node).as_dict())
    client.delete_node_user("users", node, "ann")
    with pytest.raises(ResourceNotFoundError) as absent:
        client.delete_node_user("users", node, "ann")

    assert code_of(twice.value) == "NodeUserExists"
    assert code_of(absent.value) == "NodeUserNotFound"
    assert (str(login.remote_login_ip_address)[:6], login.remote_login_port) == ("127.0.", 22)
    assert "canary" not in shown
