"""Translates Batch AI's words into ours: states, error codes, ids (API 2018-05-01). Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shared.core.engine import Observation, OutputFile
from shared.core.errors import Transient
from shared.core.job import JobState, Reason
from shared.core.visible import escaped, is_askable
from shared.engines import untrusted
from shared.engines.batchai.code import TOKEN, ended_without_code
from shared.engines.saving import saving

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


def _message(errors: list[Mapping[str, Any]]) -> str:
    parts = []
    for error in errors:
        details = "; ".join(f"{d.get('name')}: {d.get('value')}" for d in error.get("details") or [])
        text = f"{error.get('code', '')}: {error.get('message', '')}".strip(": ")
        parts.append(f"{text} ({details})" if details else text)
    return "; ".join(parts)[:2000]
