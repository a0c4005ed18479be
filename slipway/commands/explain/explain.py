"""`slipway explain`: what would happen to a job, from the settings alone or from a deployment."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from shared.core.errors import Misconfigured, Misuse
from shared.core.ports import Ports
from shared.intake.candidate import Candidate
from shared.intake.desk.draft import draft_of
from shared.intake.drops.contents import files_in, walk
from shared.intake.drops.explained import explain_folder
from shared.intake.drops.folder import parent, plans
from shared.intake.explanation.explain import explain
from shared.intake.explanation.explain_sweep import explain_sweep
from shared.intake.explanation.explain_text import markdown
from shared.intake.message import read_request
from shared.jobspec import is_ignored
from shared.settings import TABLE, Settings
from shared.wiring import build
from slipway.client.drops.folder import to_upload
from slipway.client.drops.folder_drops import FolderDrops
from slipway.client.drops.no_teams import with_files
from slipway.client.drops.outlook import ONLY_TEMPLATE
from slipway.client.service import service
from slipway.failure import Failure, Verdict, finding_out
from slipway.settings import load
from slipway.terminal.characters import printable
from slipway.terminal.screen import put, put_json, remark

if TYPE_CHECKING:
    from slipway.client import shapes

_JOB = "job.json"
#: The defaults of a local stack.
_NOWHERE = {
    name: setting.example
    for name, setting in TABLE.items()
    if setting.example and setting.group in ("first", "clusters")
}


def run(file: Path, url: str, key: str, settings_file: Path | None, *, as_json: bool) -> int:
    """Print the answer; 1 if the job would not run. A job.json stands for the folder that `drop` uploads.

    Raises Verdict for a folder in which nothing would run, and Failure with NOT_KNOWN.
    """
    with finding_out():
        bodies = _bodies(file, url, key, settings_file)
    if as_json:
        put_json(bodies[0] if len(bodies) == 1 else bodies)
    else:
        _print_page("\n".join(markdown(body) for body in bodies))
    return int(any(body["verdict"] in ("rejected", "refused", "cancelled") for body in bodies))


def _bodies(file: Path, url: str, key: str, settings_file: Path | None) -> Sequence[Mapping[str, Any]]:
    if not file.exists():
        raise Failure(f"{file}: there is no such file or folder")
    folder = file if file.is_dir() else file.parent if file.name == _JOB else None
    if url:
        return asyncio.run(_from_service(file, folder, url, key))
    ports = _ports(settings_file)
    try:
        return asyncio.run(_offline(_with_files(ports, folder), file, folder))
    except Misuse as error:
        raise Failure(f"{error}; {error.remedy}") from error


def _print_page(page: str) -> None:
    """Print Markdown: unchanged for a file or a pipe, rendered and printable for a terminal."""
    if not sys.stdout.isatty():
        put(*page.splitlines())
        return
    from rich.console import Console
    from rich.markdown import Markdown

    text = "\n".join(map(printable, page.split("\n")))
    Console().print(Markdown(text, code_theme="ansi_dark", hyperlinks=False))


def _ports(settings_file: Path | None) -> Ports:
    """The ports of a deployment with these settings, without connections."""
    try:
        settings, where = load(settings_file, os.environ)
    except Failure:
        if settings_file is not None:
            raise
        settings, where = Settings(_NOWHERE), "none; as on a local stack"
    remark(f"settings: {where}")
    try:
        return build(settings)
    except Misconfigured as error:
        raise Failure(str(error)) from error


async def _offline(ports: Ports, file: Path, folder: Path | None) -> list[dict[str, Any]]:
    if folder is None:
        request = read_request(_bytes(file), ports.policy.limits)
        key = request.key
        candidate = Candidate(door="http", source="http:", key=key or "", request=replace(request, key=None))
        draft = await draft_of(ports, candidate, live=False)
        how = explain if request.envelope.sweep is None else explain_sweep
        return [await how(ports, draft, keyed=key is not None, live=False)]
    bodies: list[dict[str, Any]] = []
    waits: list[str] = []
    for where in await _folders(ports):
        plans = await explain_folder(ports, where, live=False)
        bodies += plans.bodies
        if plans.waits:
            waits.append(f"{where.rstrip('/')}: would not run as a drop: {plans.waits}")
    if not bodies:
        raise Verdict("\n".join(waits) or f"{folder}: {ONLY_TEMPLATE}")
    return bodies


def _with_files(ports: Ports, folder: Path | None) -> Ports:
    """The files of the folder in place of the drop container, as `slipway drop` would upload them."""
    if folder is None:
        return ports
    files = {
        f"{_name(folder)}/{path.relative_to(folder).as_posix()}": _bytes(path) for path in to_upload(folder)
    }
    return with_files(ports, FolderDrops(files, ports.policy.drop_container))


async def _folders(ports: Ports) -> list[str]:
    """The folders of these files, each with its slash: a template runs in the folders below it."""
    return sorted({parent(blob.name) async for blob in walk(ports.drops, "") if not is_ignored(blob.name)})


async def runs_of(folder: Path) -> list[tuple[bytes, dict[str, str]]]:
    """The documents to explain, each with its drop folder and script.

    Raises Verdict if nothing would run.
    """
    ports = _with_files(build(Settings(_NOWHERE)), folder)
    runs: list[tuple[bytes, dict[str, str]]] = []
    beside: list[str] = []
    for where in await _folders(ports):
        files = await files_in(ports, where)
        blobs, deeper = (files.blobs, files.deeper) if files else ([], False)
        folder_plans = await plans(ports, where, blobs, deeper=deeper)
        if folder_plans.of_template:
            beside.append(f"{where.rstrip('/')}: {folder_plans.waits}")
            continue
        if folder_plans.waits:
            # a file that is missing here may be in the container
            own = await ports.drops.read(f"{where}{_JOB}", limit=ports.policy.max_document)
            runs += [(own.data, {"folder": where.rstrip("/")})] if own else []
            continue
        for plan in folder_plans.runs:
            if error := next((one for one in plan.problems if one.severity == "error"), None):
                raise Verdict(f"{where.rstrip('/')}: {error.message}; {error.remedy}")
            script = {"script": PurePosixPath(plan.script.name).name} if plan.script else {}
            runs.append((plan.job.raw, {"folder": where.rstrip("/"), **script}))
    if not runs:
        raise Verdict("\n".join(beside) or f"{folder}: {ONLY_TEMPLATE}")
    return runs


def _name(folder: Path) -> str:
    return folder.resolve().name


async def _from_service(file: Path, folder: Path | None, url: str, key: str) -> list[shapes.Explanation]:
    runs = await runs_of(folder) if folder else [(_bytes(file), {})]
    async with service(url, key) as api:
        return [await api.explain(document, request) for document, request in runs]


def _bytes(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise Failure(f"{file}: cannot be read: {error.strerror}") from error
