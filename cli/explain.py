"""`slipway explain`: what would happen with a job, from the settings alone, or asked of a deployment."""

import asyncio
import json
import os
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cli.drop import to_upload
from cli.failure import Failure
from cli.service import service
from cli.settings import load
from shared.accept import Arrived
from shared.drop import explain_folder
from shared.errors import Misconfigured, Misuse
from shared.explain import explain
from shared.explanation import markdown
from shared.memory import MemoryDrops
from shared.message import read_request
from shared.ports import Ports
from shared.settings import Settings
from shared.spec import read, script_pattern
from shared.wiring import build

_JOB = "job.json"


def run(file: Path, url: str, key: str, settings_file: Path | None, *, as_json: bool) -> int:
    """Print the answer; 1 if the job would not run. A job.json stands for the folder that `drop` uploads.

    Raises Failure.
    """
    if not file.exists():
        raise Failure(f"{file}: there is no such file or folder")
    folder = file if file.is_dir() else file.parent if file.name == _JOB else None
    if url:
        document, asked = _request(file, folder)
        bodies = [asyncio.run(_asked(document, asked, url, key))]
    else:
        ports = _ports(settings_file)
        try:
            bodies = asyncio.run(_offline(_with_files(ports, folder), file, folder))
        except Misuse as error:
            raise Failure(f"{error}; {error.remedy}") from error
    if as_json:
        print(json.dumps(bodies[0] if len(bodies) == 1 else bodies, indent=2, ensure_ascii=False))
    else:
        print("\n".join(markdown(body) for body in bodies), end="")
    return int(any(body["verdict"] in ("rejected", "refused") for body in bodies))


def _ports(settings_file: Path | None) -> Ports:
    """The ports of a deployment with these settings; none of them is connected."""
    try:
        settings, where = load(settings_file, os.environ)
    except Failure:
        if settings_file is not None:
            raise
        settings, where = Settings({"SLIPWAY_STORAGE": "UseDevelopmentStorage=true"}), "none; the defaults"
    sys.stderr.write(f"settings: {where}\n")
    try:
        return build(settings)
    except Misconfigured as error:
        raise Failure(str(error)) from error


async def _offline(ports: Ports, file: Path, folder: Path | None) -> list[dict[str, Any]]:
    if folder is None:
        asked = read_request(_bytes(file), ports.policy.limits)
        key = asked.key
        arrived = Arrived(door="http", scope="http:", key=key or "", request=replace(asked, key=None))
        return [await explain(ports, arrived, known=key is not None, look=False)]
    found = await explain_folder(ports, f"{_name(folder)}/", look=False)
    if isinstance(found, str):
        raise Failure(f"{folder}: would not run as a drop: {found}")
    if not found:
        raise Failure(
            f"{folder}: its {_JOB} is a template, which runs scripts of the folders below, never itself"
        )
    return found


def _with_files(ports: Ports, folder: Path | None) -> Ports:
    """The files of the folder in the place of the drop container, as `slipway drop` would upload them."""
    if folder is None:
        return ports
    drops = MemoryDrops(lambda: datetime.now(UTC), container=ports.policy.drop_container)
    for path in to_upload(folder):
        drops.upload(f"{_name(folder)}/{path.relative_to(folder).as_posix()}", _bytes(path))
    return replace(ports, drops=drops)


def _request(file: Path, folder: Path | None) -> tuple[bytes, dict[str, str]]:
    """What to send: the document, and in which folder and with which script it would be dropped."""
    if folder is None:
        return _bytes(file), {}
    document = _bytes(folder / _JOB)
    asked = {"folder": _name(folder)}
    found, _ = read(document)
    pattern = script_pattern(found) if found is not None else None
    if pattern is not None:
        asked["script"] = next((path.name for path in sorted(folder.glob(pattern))), "")
    return document, asked


def _name(folder: Path) -> str:
    return folder.resolve().name


async def _asked(document: bytes, asked: dict[str, str], url: str, key: str) -> dict[str, Any]:
    async with service(url, key) as api:
        return await api.explain(document, asked)


def _bytes(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise Failure(f"{file}: cannot be read: {error.strerror}") from error
