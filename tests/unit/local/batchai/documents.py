"""Documents and a job of the emulator, for its tests."""

from datetime import UTC, datetime
from typing import Any

from local.batchai.state.models import Job

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def secret(url: str) -> dict[str, Any]:
    return {"sourceVault": {"id": "/vault"}, "secretUrl": url}


def job_document(**more: Any) -> dict[str, Any]:
    return {
        "cluster": {"id": "/c"},
        "nodeCount": 1,
        "stdOutErrPathPrefix": "/out",
        "customToolkitSettings": {"commandLine": "true"},
    } | more


def a_job(**more: Any) -> Job:
    group = "/subscriptions/s/resourceGroups/g/providers/Microsoft.BatchAI"
    return Job(
        id=f"{group}/workspaces/w/experiments/e/jobs/j",
        sequence=1,
        created=NOW,
        since=NOW,
        document=job_document(**more),
        cluster="/c",
        instance="instance",
        wall_clock=60,
    )
