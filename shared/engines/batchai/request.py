"""The request that creates a job, built in one place: the engine sends it, explain shows it. Pure.

Jobs_Create of API 2018-05-01: PUT by name, so that a repeated request addresses the same resource.
"""

from __future__ import annotations

from typing import Any

from shared.core.engine import Order, Submission
from shared.engines.batchai.client import Workspace
from shared.engines.batchai.code import with_code
from shared.engines.batchai.usage import asking

API = "2018-05-01"


def submission(workspace: Workspace, order: Order) -> Submission:
    """Method, path with query, and body. Null members are left out: the service treats them as absent."""
    path = f"{job_path(workspace, order)}?api-version={API}"
    return Submission("PUT", path, _without_nulls(document_of(order)))


def document_of(order: Order) -> dict[str, Any]:
    """The document of an order as the service gets it: it brings the job's code, and asks for reports."""
    return asking(with_code(order))


def job_path(workspace: Workspace, order: Order) -> str:
    """The path of the job's resource."""
    target = order.target
    return f"{workspace.id}/experiments/{target.experiment}/jobs/{target.name}"


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_nulls(item) for name, item in value.items() if item is not None}
    if isinstance(value, list):
        return [_without_nulls(item) for item in value]
    return value
