"""Predicts the runs of a folder before the upload, and refuses it if none would start, or one be rejected."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from shared.intake.drops.folder import ENVELOPE_FILE, JOB_FILE
from shared.intake.drops.plan import Plan
from shared.jobspec import is_bare_job, report
from shared.settings import Settings
from slipway.client.calls.refusal import placed
from slipway.client.drops.folder import outlook_of
from slipway.client.drops.outlook import Outlook
from slipway.client.service import Service
from slipway.client.storage.upload_settings import refuse_elsewhere
from slipway.failure import Failure
from slipway.terminal.screen import remark, say

if TYPE_CHECKING:
    from slipway.client import shapes


class Foreseen(NamedTuple):
    """What is uploaded, with the text of the job's own documents, and what it begins."""

    contents: Mapping[str, bytes]
    outlook: Outlook


#: The members of a JSON file that `slipway submit` accepts.
_MESSAGE = ("spec", "specBlob", "properties")


async def foresee(settings: Settings, files: Mapping[str, Path]) -> Foreseen:
    """What the drop container will begin with these files, by the names that they have there."""
    read = {JOB_FILE, ENVELOPE_FILE}
    contents = {name: path.read_bytes() if path.name in read else b"" for name, path in files.items()}
    sizes = {name: path.stat().st_size for name, path in files.items()}
    return Foreseen(contents, await outlook_of(settings, contents, sizes))


async def refuse(
    foreseen: Foreseen, settings: Settings, folder: Path, files: Mapping[str, Path], api: Service | None
) -> None:
    """Raise Failure if no job would begin, or if the app would reject it, as far as it says so."""
    if api:
        await refuse_elsewhere(settings, api)
    contents, outlook = foreseen
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
            shown += f"\nin the drop container already, by an earlier upload or a job: {old}" if old else ""
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
