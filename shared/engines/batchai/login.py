"""Where a node of a job answers ssh. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from shared.core.errors import NotFound
from shared.core.job import Target
from shared.core.relations.entrance import Entrance, entrance


def login_of(
    cluster: Mapping[str, Any], nodes: Sequence[Mapping[str, Any]], number: int, target: Target
) -> Entrance:
    """The entrance to the node of that number, given the cluster's resource and the nodes' addresses."""
    if number >= len(nodes):
        raise NotFound(f"Batch AI does not run {target.name} on a node {number} now")
    node, account = nodes[number], cluster.get("userAccountSettings") or {}
    host, user = str(node.get("ipAddress", "")), str(account.get("adminUserName", ""))
    return entrance("ssh", host=host, port=int(node.get("port") or 0), user=user)
