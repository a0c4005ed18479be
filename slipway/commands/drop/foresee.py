"""Predicts the runs of a folder before the upload, and refuses it if none would start, or one be rejected."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shared.intake.drops.folder import ENVELOPE_FILE, JOB_FILE
from shared.intake.drops.plan import Plan
from shared.jobspec import is_bare_job, report
from shared.settings import Settings
from slipway.client.calls.refusal import placed
from slipway.client.drops.folder import outlook_of, to_upload
from slipway.client.service import Service
from slipway.client.storage.upload_settings import refuse_elsewhere
from slipway.failure import Failure
from slipway.terminal.screen import remark, say

if TYPE_CHECKING:
    from slipway.client import shapes

#: The members of a JSON file that `slipway submit` accepts.
_MESSAGE = ("spec", "specBlob", "properties")


async def foresee(settings: Settings, folder: Path, target: str, api: Service | None) -> None:
    """Raise Failure if no job would start, or if the app answers that it would reject one.

    Files that are only in the folder of the container count as well.
    """
    if api:
        await refuse_elsewhere(settings, api)
    files = {f"{target}/{path.relative_to(folder).as_posix()}": path for path in to_upload(folder)}
    read = {JOB_FILE, ENVELOPE_FILE}
    contents = {name: path.read_bytes() if path.name in read else b"" for name, path in files.items()}
    outlook = await outlook_of(settings, list(contents), contents)
    if not outlook.runs and not outlook.template:
        raise Failure(
            f"nothing was uploaded, because no job would begin: {'; '.join(outlook.waits)}{_hint(folder)}"
        )
    for plan in outlook.plans:
        own = report.problems_as_json(plan.problems)
        file = str(files.get(plan.job.blob.name, plan.job.blob.name))
        if warnings := [one for one in own if one["severity"] != "error"]:
            remark(placed(warnings, file))
        errors: list[Mapping[str, Any]] = [one for one in own if one["severity"] == "error"]
        if errors := [*errors, *await _errors(api, plan, contents)]:
            shown = placed(errors, file)
            old = ", ".join(one.name for one in plan.rivals if one.name not in contents)
            shown += f"\nleft in the drop container by an earlier upload or a job: {old}" if old else ""
            raise Failure(f"nothing was uploaded, because the job cannot run\n{shown}")


async def _errors(api: Service | None, plan: Plan, contents: Mapping[str, bytes]) -> list[shapes.Finding]:
    """Why the app would reject a run; nothing, with a remark, if it cannot say: its receipt will show it."""
    parameters = {"folder": plan.folder.rstrip("/")}
    if plan.script is not None:
        parameters["script"] = plan.script.name.rpartition("/")[2]
    if api is None:
        return []
    try:
        body = await api.explain(_document(plan, contents), parameters)
    except Failure as failure:
        say(f"the app could not say beforehand whether the job can run: {failure}")
        return []
    if body.get("verdict") != "rejected":
        return []
    return [one for one in body.get("problems", ()) if one.get("severity") == "error"]


def _document(plan: Plan, contents: Mapping[str, bytes]) -> bytes:
    """The job.json, in the envelope beside it."""
    beside = contents.get(plan.envelope.name, b"") if plan.envelope else b""
    job = plan.job.document
    if not beside or job is None:
        return plan.job.raw
    try:
        envelope, written = json.loads(beside.decode("utf-8-sig")), json.loads(plan.job.raw)
    except (ValueError, RecursionError):
        return plan.job.raw
    if "specversion" in written:  # an event with the job in it
        return plan.job.raw
    own = {"spec": written} if is_bare_job(written) else written
    return json.dumps({**own, **envelope}).encode()


def _hint(folder: Path) -> str:
    """A hint at other commands: a message is submitted; --force uploads any folder."""
    for path in sorted(folder.glob("*.json")):
        if path.name in (JOB_FILE, ENVELOPE_FILE):
            continue
        try:
            document = json.loads(path.read_bytes())
        except (ValueError, RecursionError, OSError):
            continue
        if isinstance(document, dict) and any(name in document for name in _MESSAGE):
            return f"; {path.name} is a message, which is submitted: slipway submit {path}"
    return "; add what is missing, or upload it anyway: slipway drop --force"
