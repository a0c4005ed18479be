"""`slipway submit`: submit a job through the HTTP API, or drop the folder of a job.json with its script."""

import asyncio
import json
import sys
from pathlib import Path

from shared.jobspec import is_bare_job, script_pattern
from slipway.client.refusal import placed
from slipway.client.service import Service, service
from slipway.commands.document.compose import Choices
from slipway.commands.document.diagnose import scripts_named
from slipway.commands.document.order import Order, text_in_order
from slipway.commands.jobs import asking, show, standing, unmeant, why
from slipway.commands.running import drop, stage
from slipway.commands.sweeps.sweep import lines
from slipway.failure import Failure
from slipway.screen import remark

_AT_ONCE = Order()
_JOB_FILE = "job.json"


def run(
    file: Path,
    url: str,
    key: str,
    order: Order = _AT_ONCE,
    settings_file: Path | None = None,
    *,
    once: str = "",
    as_json: bool = False,
) -> int:
    """Post a job.json or a message, and show what became of it; `-` is standard input.

    `once` is its idempotency key, by default a new one.

    The folder of a job.json that lies beside its script is dropped. Raises Failure, with the places in the
    file.
    """
    if has_its_script(file):
        if once:
            raise Failure(
                f"{file} runs a script beside it, so its folder is dropped, and its files are its key; leave "
                "out --idempotency-key"
            )
        return _drop(file.absolute().parent, url, key, order, settings_file, as_json=as_json)
    stdin = str(file) == "-"
    try:
        document = sys.stdin.buffer.read() if stdin else file.read_bytes()
    except OSError as error:
        raise Failure(f"{file}: cannot be read: {error.strerror}") from error

    async def ask(api: Service) -> int:
        ordered = text_in_order(document, await order.ids(api))
        called = "standard input" if stdin else str(file)
        return await submit(api, ordered, called, name_of(file), once=once, as_json=as_json)

    return asking(ask, url, key)


def has_its_script(file: Path) -> bool:
    """Whether it is a job.json, no template, that runs a script which lies beside it."""
    if file.name != _JOB_FILE or not file.is_file():
        return False
    try:
        document = json.loads(file.read_bytes().decode("utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return False  # its refusal gives the reason
    if not is_bare_job(document) or script_pattern(document) is not None:
        return False
    folder = file.resolve().parent
    own = f"{folder.name}/"
    scripts = [name for name in scripts_named(file, folder.name) if name.startswith(own)]
    return any((folder / name.removeprefix(own)).is_file() for name in scripts)


def _drop(
    folder: Path, url: str, key: str, order: Order, settings_file: Path | None, *, as_json: bool
) -> int:
    """Drop the folder, with the jobs that it waits for in its slipway.json."""

    async def ids() -> Order:
        async with service(url, key) as api:
            return await order.ids(api)

    order = asyncio.run(ids()) if order.members else order
    options = stage.Options(Choices(order=order), folder.name)
    with stage.staged(folder, options, "") as staged:
        return drop.run(staged, folder.name, url, key, settings_file, as_json=as_json)


def name_of(file: Path) -> str:
    """The name of a job whose document has none: that of the folder of a job.json, or of another file."""
    if file.name == "-":
        return ""
    return file.resolve().parent.name if file.name == _JOB_FILE else file.stem


async def submit(
    api: Service, document: bytes, file: str, name: str = "", *, once: str = "", as_json: bool = False
) -> int:
    """Post it, and show its warnings, as of that file, and what it waits for."""
    if _is_sweep(document):
        sweep = await api.submit_sweep(document, once, file, name)
        show(sweep, lines, as_json=as_json)
        if hint := unmeant({"name": sweep.get("name", ""), "id": sweep["sweepId"]}):
            remark(hint)
        return 0
    job = await api.submit(document, once, file, name)
    if warnings := placed(job.get("problems", []), file):
        remark(warnings)
    show(job, lambda job: [standing(job)], as_json=as_json)
    if "waiting" in job:
        remark(f"  {why(job)}")
    if hint := unmeant(job):
        remark(hint)
    return 0


def _is_sweep(document: bytes) -> bool:
    """Whether it is a sweep. An unreadable document is not, and its refusal gives the reason."""
    try:
        envelope = json.loads(document.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return False
    return isinstance(envelope, dict) and envelope.get("sweep") is not None
