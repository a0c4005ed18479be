"""What Azure Batch and Kubernetes say of waits and ends, as their engines word it, stands in the page."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.async_api import expect

from shared.core.engine import Why
from shared.engines.batch.pools import view, why
from shared.engines.batch.translation import observation
from shared.engines.kubernetes.translation.ends import ended
from shared.engines.kubernetes.translation.wait_reasons import events_wait, pods_wait, queue_waits
from tests.browser.one_job.live import answer_live
from tests.browser.reader import Reader, answer_jobs, listed, rows
from tests.browser.trouble.everything import AT
from tests.unit.engines.batch.service import CLUSTER

pytestmark = pytest.mark.asyncio(loop_scope="session")
_NO_ROOM = "0/3 nodes are available: 3 Insufficient nvidia.com/gpu. preemption: 0/3 nodes are available"
_NO_IMAGE = 'Back-off pulling image "registry.example/train:9"'
_NO_QUOTA = "couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu"
_RESIZE = {"code": "AccountCoreQuotaReached", "message": "The specified account has reached core quota."}


def waits() -> list[Why | None]:
    """The waits of recorded pods, Workloads, events and pools."""
    unscheduled = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": _NO_ROOM}
    pull = {"state": {"waiting": {"reason": "ImagePullBackOff", "message": _NO_IMAGE}}}
    reserved = {"type": "QuotaReserved", "status": "False", "reason": "Pending", "message": _NO_QUOTA}
    refused = {"reason": "FailedCreate", "message": 'pods "j-x" is forbidden: exceeded quota: gpus'}
    pools = (
        {"allocationState": "steady", "targetDedicatedNodes": 4, "resizeErrors": [_RESIZE]},
        {"allocationState": "resizing", "targetDedicatedNodes": 2, "currentDedicatedNodes": 0},
    )
    return [
        pods_wait([{"status": {"conditions": [unscheduled]}}]),
        pods_wait([{"status": {"containerStatuses": [pull]}}]),
        queue_waits({"status": {"conditions": [reserved]}}, is_old=True),
        queue_waits(None, is_old=True),
        events_wait([refused]),
        *(why(1, view(CLUSTER, pool, {})) for pool in pools),
    ]


def ends() -> list[str]:
    """The messages of recorded tasks and pods that failed."""
    lost = {"category": "servererror", "code": "NodeBootFailed", "message": "The node has not started."}
    facts = {"startTime": AT, "endTime": AT, "requeueCount": 0}
    tasks = ({**facts, "failureInfo": lost}, {**facts, "exitCode": 137})
    batch = [observation({"id": "t", "state": "completed", "executionInfo": one}).message for one in tasks]
    killed = {"state": {"terminated": {"reason": "OOMKilled", "exitCode": 137}}}
    failed = {"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded", "message": "no more"}
    end = ended({"status": {"conditions": [failed]}}, [{"status": {"containerStatuses": [killed]}}], None)
    return [*batch, end.message if end else ""]


async def test_each_wait_and_each_end_of_a_cluster_is_read_in_the_list_and_in_the_job(reader: Reader) -> None:
    page = reader.page
    texts = [one.text if one else "" for one in waits()]
    assert all(texts), texts
    messages = ends()
    assert all(messages), messages
    waiting: list[dict[str, Any]] = [
        {"state": "queued", "endedAt": None, "waiting": {"word": "Waits", "text": text, "since": AT}}
        for text in texts
    ]
    failed: list[dict[str, Any]] = [{"state": "failed", "message": text} for text in messages]
    jobs = [listed(number, **members) for number, members in enumerate([*waiting, *failed])]
    jobs = [{name: value for name, value in job.items() if value is not None} for job in jobs]
    await answer_jobs(page, lambda _: {"jobs": jobs, "next": None})
    for job in jobs:
        await answer_live(page, {**job, "history": []})
    await page.reload()
    await expect(rows(page)).to_have_count(len(jobs))
    for number, text in enumerate([*texts, *messages]):
        await expect(rows(page).nth(number)).to_contain_text(text)

    for number, text in enumerate([*texts, *messages]):
        await reader.open(f"jobs/{jobs[number]['id']}")
        words = text[0].upper() + text[1:] if number < len(texts) else text
        await expect(page.get_by_role("main").get_by_text(words, exact=True)).to_be_visible()
