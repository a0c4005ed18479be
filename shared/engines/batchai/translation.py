"""Translates Batch AI's words into ours: states, error codes, ids (API 2018-05-01). Pure."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from shared.core.engine import Observation, OutputFile
from shared.core.errors import NotFound, Transient
from shared.core.job import JobState, Reason, Target
from shared.core.relations.entrance import Entrance, entrance
from shared.core.visible import escaped, is_askable
from shared.engines import untrusted
from shared.engines.batchai.code import TOKEN, ended_without_code
from shared.engines.saving import saving

log = logging.getLogger(__name__)

#: executionState → our state. `failed` is refined by the error codes below.
STATES: dict[str, JobState] = {
    "queued": JobState.QUEUED,
    "running": JobState.RUNNING,
    "terminating": JobState.RUNNING,
    "succeeded": JobState.SUCCEEDED,
    "failed": JobState.FAILED,
}

#: executionInfo.errors[].code → why it ended.
REASONS: dict[str, Reason] = {
    "JobFailed": Reason.USER,
    "JobPreparationFailed": Reason.PREPARATION,
    "JobTerminated": Reason.TERMINATED,
    "JobMaxWallClockTimeReached": Reason.TIMEOUT,
    "JobPreempted": Reason.PREEMPTED,
    "MpiNotInstalled": Reason.UNSUPPORTED,
    "ProgramNotInstalled": Reason.UNSUPPORTED,
    "ContainerRuntimeNotFound": Reason.UNSUPPORTED,
    "FailedStartingContainer": Reason.UNSUPPORTED,
    "AFSMountError": Reason.INFRASTRUCTURE,
    "BFSMountError": Reason.INFRASTRUCTURE,
    "FileServerMountError": Reason.INFRASTRUCTURE,
    "UnmanagedMountError": Reason.INFRASTRUCTURE,
    "KeyVaultSecretNotFound": Reason.INFRASTRUCTURE,
    "JobEnvironmentFailed": Reason.INFRASTRUCTURE,
    "ClusterDeleted": Reason.INFRASTRUCTURE,
    "NodeFailed": Reason.INFRASTRUCTURE,
    "InternalError": Reason.INFRASTRUCTURE,
}

#: The codes of ends by a command of the job's own, whose exit code it is.
_OF_THE_JOB = ("JobFailed", "JobPreparationFailed")


def output_file(file: Mapping[str, Any]) -> OutputFile:
    """The output file for an entry of a list; a job may have chosen any name for it.

    An entry without an address and without properties is not a file, or stands for the rest of a directory.
    """
    name, properties = str(file["name"]), file.get("properties")
    folder = file.get("fileType") == "directory"
    modified = untrusted.moment((properties or {}).get("lastModified"))
    if is_askable(name) and (folder or file.get("downloadUrl")):
        size = None if folder else int((properties or {}).get("contentLength") or 0)
        return OutputFile(name, size, modified)
    kind = "directory" if folder else "file" if properties is not None or file.get("downloadUrl") else "other"
    return OutputFile(escaped(name), None, modified, left_out=True, kind=kind)


def observation(job: Mapping[str, Any]) -> Observation:
    """The observation of a job resource.

    Raises Transient for a state that is not in the table: it decides nothing.
    """
    properties = job.get("properties") or {}
    info = properties.get("executionInfo") or {}
    errors = info.get("errors") or []
    code = str(errors[0].get("code", "")) if errors else ""
    word = str(properties.get("executionState", "queued")).lower()
    if word not in STATES:
        raise Transient(f"the cluster reports an unknown state of {job.get('name')}: {word[:40]!r}")
    state = STATES[word]
    is_own = code in _OF_THE_JOB or code not in REASONS
    exit_code = untrusted.exit_code(info.get("exitCode")) if is_own else None
    reason = None
    if state is JobState.FAILED:
        reason = REASONS.get(code, Reason.INFRASTRUCTURE if exit_code is None else Reason.USER)
        if reason is Reason.TERMINATED:
            state = JobState.CANCELLED
    elif str(properties.get("provisioningState", "")).lower() == "failed":
        state, reason = JobState.FAILED, Reason.INFRASTRUCTURE
    end = Observation(
        state=state,
        reason=reason,
        message=_message(errors),
        exit_code=exit_code,
        why=saving() if word == "terminating" else None,
        started=untrusted.moment(info.get("startTime")),
        ended=untrusted.moment(info.get("endTime")),
        handle=str(job.get("id") or ""),
        segment=untrusted.path(properties.get("jobOutputDirectoryPathSegment")),
    )
    return ended_without_code(job, end)


def token_of(job: Mapping[str, Any]) -> str | None:
    """The token in a job resource's environment; None if it has none."""
    for variable in (job.get("properties") or {}).get("environmentVariables") or []:
        if isinstance(variable, dict) and variable.get("name") == TOKEN:
            return str(variable.get("value"))
    return None


def understood_job(job: Mapping[str, Any]) -> Observation | None:
    """The status from the list, if its words are known; a missing job is queried directly."""
    try:
        return observation(job)
    except Transient as error:
        log.warning("%s", error)
    except (ValueError, KeyError, TypeError, AttributeError):
        log.warning("the cluster's API sent an unreadable answer of %s", job.get("name"), exc_info=True)
    return None


def works(job: Mapping[str, Any], cluster_id: str) -> str | None:
    """Our token of a job that has not ended on that cluster; None for any other job."""
    of_cluster = (job["properties"].get("cluster") or {}).get("id", "").lower()
    understood = understood_job(job) if of_cluster == cluster_id else None
    return token_of(job) if understood is not None and not understood.state.terminal else None


def login_of(
    cluster: Mapping[str, Any], nodes: Sequence[Mapping[str, Any]], number: int, target: Target
) -> Entrance:
    """The entrance to the node of that number, given the cluster's resource and the nodes' addresses."""
    if number >= len(nodes):
        raise NotFound(f"Batch AI does not run {target.name} on a node {number} now")
    node, account = nodes[number], cluster.get("userAccountSettings") or {}
    host, user = str(node.get("ipAddress", "")), str(account.get("adminUserName", ""))
    return entrance("ssh", host=host, port=int(node.get("port") or 0), user=user)


def _message(errors: list[Mapping[str, Any]]) -> str:
    parts = []
    for error in errors:
        details = "; ".join(f"{d.get('name')}: {d.get('value')}" for d in error.get("details") or [])
        text = f"{error.get('code', '')}: {error.get('message', '')}".strip(": ")
        parts.append(f"{text} ({details})" if details else text)
    return "; ".join(parts)[:2000]
