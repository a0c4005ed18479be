"""Ids of resources, as paths name them."""

from local.batchai.api import routes
from local.batchai.state import ids


def test_ids_are_found_without_regard_to_case() -> None:
    result = routes.find("/subscriptions/S/resourcegroups/G/providers/microsoft.batchai/WORKSPACES/w")

    assert result is not None
    assert (
        ids.workspace(result[1])
        == "/subscriptions/S/resourceGroups/G/providers/Microsoft.BatchAI/workspaces/w"
    )
    assert routes.find("/subscriptions/S/other") is None
