"""The task of an attempt, for the engine, which sends it, and for explain, which shows it. Pure."""

from __future__ import annotations

import base64
import gzip
import json
from datetime import datetime, timedelta
from functools import cache
from typing import Any

from shared.core.engine import Order, Submission
from shared.engines.batch.cluster import PRIORITIES, BatchCluster
from shared.engines.batch.job.before import with_brought
from shared.engines.batch.job.site import Life, site
from shared.engines.launch import plan as launch
from shared.jobspec import iso_duration

#: Added to the job's own limit, which the program on the nodes enforces to the second.
_SLACK = timedelta(minutes=5)
#: Added for the upload of files to a container (`node/run.py`).
_UPLOAD = timedelta(hours=1)
#: How long a task may wait for a node until another attempt gets new signatures.
_WAIT = timedelta(days=7)
#: Stands for values that are chosen at each submission.
ANEW = "<chosen at submission>"
#: The variables with the packed programs. The service limits the whole request, not a single value.
_PROGRAM, _SPREAD = "SLIPWAY_PROGRAM", "SLIPWAY_SPREAD"
_UNPACK = 'printf %s "${name}" | base64 -d | gzip -d >{file}'
_KEEPING, _MOUNTING = "SLIPWAY_KEEPING", "SLIPWAY_MOUNTING"
_PROGRAMS = (_PROGRAM, _SPREAD, _MOUNTING, _KEEPING)
_ENTER = 'cd "$AZ_BATCH_TASK_WORKING_DIR"'
_RUN = (
    _UNPACK.format(name=_PROGRAM, file="run.py"),
    f"unset {_SPREAD} {_PROGRAM} {_KEEPING} {_MOUNTING}",
    # mpirun reaches the other nodes in the same way as `spread.py`, without sshd.
    'export OMPI_MCA_plm_rsh_agent="python3 -I $PWD/spread.py rsh"',
    'export PRTE_MCA_plm_ssh_agent="$OMPI_MCA_plm_rsh_agent"',
    "exec python3 -I run.py",
)
_AGENT = (
    f"unset {_SPREAD} {_PROGRAM} {_KEEPING} {_MOUNTING} {launch.PLAN}",
    "exec python3 -I spread.py serve",
)


def queue(cluster: BatchCluster, order: Order) -> str:
    """The id of the Batch job for an order's task."""
    return cluster.queues[_level(order)]


def queue_submission(cluster: BatchCluster, queue_id: str) -> Submission:
    """POST of one of the cluster's Batch jobs, which are permanent.

    Tasks yield to those of a higher priority.
    """
    level = queue_id.rpartition("-")[2]
    body = {
        "id": queue_id,
        "priority": PRIORITIES[level],
        "poolInfo": {"poolId": cluster.pool},
        "onAllTasksComplete": "noaction",
        "metadata": [{"name": "slipway", "value": cluster.name}],
    }
    return Submission("POST", "/jobs", body)


def submission(
    cluster: BatchCluster,
    order: Order,
    once: str = ANEW,
    signature: str = ANEW,
    life: Life | None = None,
) -> Submission:
    """POST of the task.

    `once`: the key of its nodes' agents; `signature`: for the container of an emulator; `life`: of it,
    and of those for its volumes.
    """
    order = with_brought(cluster, order)
    properties = order.document["properties"]
    nodes = int(properties["nodeCount"])
    body: dict[str, Any] = {
        "id": order.target.name,
        # A list returns the display name without the environment, which holds everything else.
        "displayName": order.target.token,
        "commandLine": _shell(_commands(cluster, _RUN)),
        "environmentSettings": _pairs(_environment(cluster, order, once, signature, life)),
        "userIdentity": {"autoUser": {"scope": "pool", "elevationLevel": "admin"}},
        "constraints": {
            "maxWallClockTime": iso_duration(_limit(cluster, order)),
            "maxTaskRetryCount": 0,
            "retentionTime": "P1D",
        },
    }
    if nodes > 1:
        coordination = {
            "numberOfInstances": nodes,
            "coordinationCommandLine": _shell(_commands(cluster, _AGENT)),
        }
        body["multiInstanceSettings"] = coordination
    return Submission("POST", f"/jobs/{queue(cluster, order)}/tasks", body)


def life(cluster: BatchCluster, order: Order, now: datetime) -> Life:
    """How long the signatures of an attempt live that is submitted now.

    A task's environment cannot be changed, so they last for its time in the queue and for its whole run.
    """
    return Life(now + _WAIT, now + _WAIT + _limit(cluster, order) + _SLACK)


def _limit(cluster: BatchCluster, order: Order) -> timedelta:
    seconds = launch.seconds(order.document["properties"], cluster.longest) + cluster.grace_seconds
    return timedelta(seconds=seconds) + _SLACK + (_UPLOAD if cluster.blobs else timedelta())


def forgetting(cluster: BatchCluster, name: str, plan: str) -> Submission:
    """POST of a small task that removes the records of attempts from the nodes' shared directory."""
    run = " && ".join((_UNPACK.format(name=_PROGRAM, file="forget.py"), "exec python3 -I forget.py"))
    body = {
        "id": name,
        "commandLine": _shell(run),
        "environmentSettings": _pairs(
            {
                "PATH": cluster.path,
                "LANG": "C.UTF-8",
                launch.PLAN: plan,
                _PROGRAM: _packed(launch.forgetting()),
            }
        ),
        "userIdentity": {"autoUser": {"scope": "pool", "elevationLevel": "admin"}},
        "constraints": {"maxWallClockTime": "PT30M", "maxTaskRetryCount": 0, "retentionTime": "PT1H"},
    }
    return Submission("POST", f"/jobs/{cluster.queues['low']}/tasks", body)


def encoded(task: Submission) -> bytes:
    """A task's body as it is sent. The programs, nine tenths of it, are always the same: encoded once."""
    environment = {one["name"]: one["value"] for one in task.body["environmentSettings"]}
    programs = tuple((name, environment.pop(name)) for name in _PROGRAMS if name in environment)
    own = _pairs(environment)
    text = json.dumps({**task.body, "environmentSettings": own}, separators=(",", ":"))
    # Within a text the quotes would be escaped.
    start = '"environmentSettings":['
    return text.replace(start, f"{start}{_constant(programs)},", 1).encode()


@cache
def _constant(programs: tuple[tuple[str, str], ...]) -> str:
    return json.dumps(_pairs(dict(programs)), separators=(",", ":"))[1:-1]


def _commands(cluster: BatchCluster, last: tuple[str, ...]) -> str:
    programs = ((_SPREAD, "spread.py"), (_MOUNTING, "volumes.py"))
    unpacked = [_UNPACK.format(name=name, file=file) for name, file in programs]
    unpacked += [_UNPACK.format(name=_KEEPING, file="keep.py")] if cluster.blobs else []
    return " && ".join((_ENTER, *unpacked, *last))


def _environment(
    cluster: BatchCluster, order: Order, once: str, signature: str, life: Life | None
) -> dict[str, str]:
    nodes, place = int(order.document["properties"]["nodeCount"]), site(cluster, order, signature, life)
    # The same at every submission of an attempt, so that a second copy takes over from one that was lost.
    environment = launch.environment(place, order, order.target.token)
    environment |= {
        _PROGRAM: _packed(launch.script()),
        _SPREAD: _packed(launch.spreading()),
        _MOUNTING: _packed(launch.mounting()),
        "SLIPWAY_NODES": str(nodes),
    }
    if cluster.blobs:
        environment[_KEEPING] = _packed(launch.keeping())
    if nodes == 1:
        return environment
    agents = f"{cluster.layout.attempt(order.target)}/agents"
    return environment | {
        "SLIPWAY_AGENTS": cluster.place(agents, signature) or agents,
        "SLIPWAY_AGENT_KEY": once,
    }


def _level(order: Order) -> str:
    return order.document["properties"].get("schedulingPriority") or "normal"


def _shell(text: str) -> str:
    """A command line for /bin/sh. The service starts no shell itself, and unescapes double quotes."""
    return f"/bin/sh -c '{text}'"


def _pairs(environment: dict[str, str]) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in environment.items()]


@cache
def _packed(text: str) -> str:
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()
