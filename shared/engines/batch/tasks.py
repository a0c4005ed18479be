"""The tasks of one cluster: add, list, read, terminate and delete.

A task's display name is the token of its attempt, because lists omit the environment of tasks.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from datetime import datetime
from typing import Any, NamedTuple, Self

from shared.core.engine import Submission
from shared.core.errors import Busy, NotFound, Transient
from shared.core.job import Target
from shared.engines import untrusted
from shared.engines.batch.cluster import BatchCluster
from shared.engines.batch.job.request import encoded, queue_submission
from shared.engines.batch.translation import UNFINISHED
from shared.engines.batch.wire.client import BatchClient

#: The fields to read. The environment is left out, since it holds the job's secrets.
_SELECT = "id,displayName,state,executionInfo,multiInstanceSettings"
#: Of an execution: texts, or missing.
_TEXTS = ("startTime", "endTime", "result")
_ABSENT = ("TaskNotFound", "JobNotFound")
_CREATED = 201


class Place(NamedTuple):
    """The id of a node, and the directory of a task there, below that of all tasks."""

    node: str
    directory: str


class Listed(NamedTuple):
    """A task, and the Batch job that it belongs to."""

    queue: str
    task: Mapping[str, Any]

    @property
    def name(self) -> str:
        """The task's id. The service ignores case in it."""
        return str(self.task.get("id")).lower()

    @property
    def token(self) -> str:
        """The token of its attempt."""
        return str(self.task.get("displayName") or "")

    @property
    def is_over(self) -> bool:
        """Whether the task has ended."""
        return self.task.get("state") not in UNFINISHED

    @property
    def is_readable(self) -> bool:
        """Whether its parts have the service's types: otherwise they decide no state and no end."""
        return _is_readable(self.task)

    def checked(self) -> Self:
        """The same task. Raises Busy if it cannot be read; other tasks of the cluster are not affected."""
        if not self.is_readable:
            raise Busy(f"Azure Batch describes the task {self.name[:64]} in a form that cannot be read")
        return self

    @property
    def handle(self) -> str:
        """The name by which people find the task in Azure."""
        return f"{self.queue}/{self.task.get('id')}"


def _is_readable(task: Mapping[str, Any]) -> bool:
    """Whether each part of a task that matters has the type that the service gives it."""
    info, settings = task.get("executionInfo"), task.get("multiInstanceSettings")
    if not all(part is None or isinstance(part, dict) for part in (info, settings)):
        return False
    info, settings = info or {}, settings or {}
    texts = [task.get("id"), task.get("state"), *(info.get(one) or "" for one in _TEXTS)]
    code, nodes = info.get("exitCode"), settings.get("numberOfInstances")
    return (
        all(isinstance(text, str) for text in texts)
        and isinstance(info.get("failureInfo") or {}, dict)
        and (code is None or untrusted.exit_code(code) is not None)
        and (nodes is None or (type(nodes) is int and nodes > 0))
        and (bool(info) or task["state"] in UNFINISHED)
    )


class Tasks:
    """The tasks of one cluster."""

    def __init__(self, cluster: BatchCluster, client: BatchClient) -> None:
        self._cluster, self._client = cluster, client

    async def add(self, submission: Submission) -> bool:
        """Add a task, with its Batch job if that is missing. False if a task of that name exists."""
        accepted, content = ("TaskExists", "JobNotFound"), encoded(submission)
        answer = await self._client.call(submission.method, submission.path, content, accept=accepted)
        if answer.code == "JobNotFound":
            queue = queue_submission(self._cluster, submission.path.split("/")[2])
            await self._client.call(queue.method, queue.path, queue.body, accept=("JobExists",))
            answer = await self._client.call(
                submission.method, submission.path, content, accept=("TaskExists",)
            )
        if not answer.code and answer.status != _CREATED:
            raise Transient(f"Azure Batch did not confirm the task: {answer.status}")
        return not answer.code

    async def listed(self, since: datetime | None = None) -> AsyncIterator[Listed]:
        """The tasks that have not ended, or have ended since then."""
        words = " or ".join(f"state eq '{word}'" for word in UNFINISHED)
        if since is not None:
            words += f" or stateTransitionTime ge DateTime'{since:%Y-%m-%dT%H:%M:%SZ}'"
        for queue in self._cluster.queues.values():
            try:
                async for task in self._client.listed(f"/jobs/{queue}/tasks", filter=words, select=_SELECT):
                    yield Listed(queue, task)
            except NotFound:
                continue  # no attempt of that priority has come yet

    async def find(self, target: Target) -> Listed | None:
        """The task of that name, with any token; None if there is none."""
        for queue in self._cluster.queues.values():
            path = f"/jobs/{queue}/tasks/{target.name}"
            answer = await self._client.call("GET", path, query={"$select": _SELECT}, accept=_ABSENT)
            if not answer.code:
                return Listed(queue, answer.document)
        return None

    async def place(self, task: Listed, number: int) -> Place:
        """Where a running task is on its node of that number, from 0 on. Raises NotFound."""
        path = f"/jobs/{task.queue}/tasks/{task.task['id']}"
        if number == 0:
            answer = await self._client.call("GET", path, query={"$select": "nodeInfo"})
            info: Any = answer.document.get("nodeInfo")
        else:
            listed = (await self._client.call("GET", f"{path}/subtasksinfo")).document.get("value")
            subtasks = [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
            info = next((one.get("nodeInfo") for one in subtasks if one.get("id") == number), None)
        if not isinstance(info, dict):
            raise NotFound(f"Azure Batch does not run {task.name[:64]} on a node {number} now")
        return Place(str(info.get("nodeId") or ""), str(info.get("taskRootDirectory") or ""))

    async def terminate(self, task: Listed) -> None:
        """Terminate a task. One that has ended or is gone counts as success."""
        path = f"/jobs/{task.queue}/tasks/{task.task['id']}/terminate"
        await self._client.call("POST", path, accept=("TaskCompleted", *_ABSENT))

    async def delete(self, task: Listed) -> None:
        """Delete a task from the service, with its directory on the node."""
        path = f"/jobs/{task.queue}/tasks/{task.task['id']}"
        await self._client.call("DELETE", path, accept=_ABSENT)
