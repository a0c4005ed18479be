"""`slipway support`: what helps others to help with a job, in one archive, without secrets.

Each part is collected by itself: one that cannot be read says why in its place, and stops no other.
"""

from __future__ import annotations

import io
import json
import os
import platform
import zipfile
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shared import __version__
from shared.core.identity import is_job_id
from shared.jobspec import redact
from slipway.client.calls.health import health
from slipway.client.deployment import Deployment, find_deployment
from slipway.commands.doctor import app, configuration, machine
from slipway.commands.doctor.doctor import findings
from slipway.commands.doctor.findings import Options
from slipway.failure import Failure
from slipway.terminal.characters import printable
from slipway.terminal.screen import put, put_json

if TYPE_CHECKING:
    from slipway.client.service import Service

_MASK = "***"
#: Bytes of one part: an archive for a message, not for a disk.
_MOST = 1 << 20
#: Shorter keys would mask half of the text.
_SHORTEST_KEY = 8


async def pack(api: Service, job_id: str, to: Path | None, url: str, key: str, *, as_json: bool) -> int:
    """Write the archive, and say what is in it. Raises Failure if the job or the file is not there."""
    deployment = await find_deployment(url, key)
    own_key = deployment.key if len(deployment.key) >= _SHORTEST_KEY else _MASK
    parts = await _parts(api, job_id, deployment)
    texts = {name: _text(part).replace(own_key, _MASK) for name, part in parts.items()}
    file = to or Path(f"support-{job_id if is_job_id(job_id) else 'job'}.zip")
    _write(file, texts)
    if as_json:
        put_json({"file": str(file), "parts": sorted(texts), "bytes": file.stat().st_size})
    else:
        put(f"{printable(str(file))}: {', '.join(texts)}", "Read it before you send it on.")
    return 0


async def _parts(api: Service, job_id: str, deployment: Deployment) -> dict[str, Any]:
    """The parts of the archive, by the name of their file. These names are ours, and never a job's."""

    async def receipt() -> Any:
        return json.loads(await api.receipt(job_id))

    async def versions() -> Any:
        system = {"python": platform.python_version(), "system": platform.platform()}
        return {"slipway": __version__, "deployment": await api.version(), **system}

    async def doctor() -> Any:
        checks = (machine.check, configuration.check, app.check)
        return [asdict(one) for one in await findings(checks, Options(deployment.url, deployment.key))]

    async def is_healthy() -> Any:
        return asdict(await health(deployment.url))

    record = await api.job(job_id)
    others: Mapping[str, Callable[[], Awaitable[Any]]] = {
        "receipt.json": receipt,
        "events.json": lambda: api.events(job_id),
        "last-lines.json": lambda: api.errors(job_id),
        "health.json": is_healthy,
        "versions.json": versions,
        "doctor.json": doctor,
    }
    return {"record.json": record, **{name: await _part(ask) for name, ask in others.items()}}


async def _part(ask: Callable[[], Awaitable[Any]]) -> Any:
    try:
        return await ask()
    except (Failure, ValueError) as error:
        return {"error": str(error)}


def _text(part: Any) -> str:
    """A part as text, without secrets; one that is too long keeps its beginning."""
    document = redact(_without_values(part))
    return json.dumps(document, indent=2, ensure_ascii=True)[:_MOST] + "\n"


def _without_values(value: Any) -> Any:
    """A copy without the values of variables, under any name: a person may have pasted anything there.

    Nor with a rejected document as it was received, or the lines of it that its problems quote.
    """
    if isinstance(value, list):
        return [_without_values(one) for one in value]
    if not isinstance(value, dict):
        return value
    hidden = {"received", "source"} if "received" in value or "caret" in value else {}
    copy = {name: _MASK if name in hidden else _without_values(one) for name, one in value.items()}
    for name in ("environmentVariables", "secrets"):
        if isinstance(copy.get(name), list):
            copy[name] = [{**one, "value": _MASK} if isinstance(one, dict) else _MASK for one in copy[name]]
    return copy


def _write(file: Path, texts: Mapping[str, str]) -> None:
    """Write the archive beside its name, and put it in place whole, for its owner alone."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, text in texts.items():
            packed.writestr(name, text)
    part = file.with_name(f".{file.name}.part")
    try:
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
        with os.fdopen(descriptor, "wb") as out:
            out.write(archive.getvalue())
        part.replace(file)
    except OSError as error:
        raise Failure(f"{printable(str(file))} cannot be written: {error.strerror}") from error
