"""What is said beside a job's logs: why they are empty, how the job failed, where the others are."""

from collections.abc import Mapping, Sequence
from typing import Any

from slipway.client.jobs.selection import Selection
from slipway.client.jobs.words import ENDED

_STREAMS = {"stdout": " to standard output", "stderr": " to standard error"}


def remark(job: Mapping[str, Any], selection: Selection, files: Sequence[str], *, written: bool) -> str:
    """A message about the logs that were printed; "" for none."""
    state, attempt = job["state"], selection.attempt
    if attempt and attempt < job.get("attempt", 1):
        return "" if written else f"attempt {attempt}: {_nothing(selection)}"
    if state not in ENDED:
        text = "" if written else f"{state}: {_nothing(selection)} yet"
    elif state == "succeeded":
        text = "" if written else f"{state}: {_nothing(selection)}"
    else:
        code = f", exit code {job['exitCode']}" if "exitCode" in job else ""
        text = f"{state}{code}{_errors(job['id'], selection, files)}"
    return "; ".join(filter(None, (text, _before(job))))


def why_again(job: Mapping[str, Any], attempt: int) -> str:
    """Why an attempt of a job was followed by another one."""
    notes = (one.get("note") for one in job["history"] if one.get("attempt", 1) == attempt + 1)
    why = next(filter(None, notes), f"attempt {attempt} has ended")
    return f"{job['id']}: {why}; what follows is attempt {attempt + 1}"


def _nothing(selection: Selection) -> str:
    if selection.file:
        return "nothing was written to it"
    by = f" by rank {selection.rank}" if selection.rank else ""
    return f"nothing was written{_STREAMS.get(selection.stream, '')}{by}"


def _errors(job_id: str, selection: Selection, files: Sequence[str]) -> str:
    """Where the errors of the job are, unless they were printed."""
    if selection.stream == "stdout":
        return f"; its errors: slipway log {job_id} --stderr"
    (file,) = files if selection.file and files else ("",)
    errors = file.replace("stdout", "stderr", 1)
    return f"; see `slipway log {job_id} --file {errors}`" if errors != file else ""


def _before(job: Mapping[str, Any]) -> str:
    """Where the logs of the attempts before this one are."""
    if (last := job.get("attempt", 1) - 1) < 1:
        return ""
    return f"the attempt before: slipway log {job['id']} --attempt {last}"
