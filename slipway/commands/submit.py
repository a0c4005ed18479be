"""`slipway submit`: ask for a job through the HTTP API."""

import json
import sys
from pathlib import Path

from slipway.client.refusal import placed
from slipway.client.service import Service
from slipway.commands.document.order import Order, text_in_order
from slipway.commands.jobs import asking, show, standing, why
from slipway.commands.sweeps.sweep import lines
from slipway.failure import Failure
from slipway.screen import remark

_AT_ONCE = Order()


def run(file: Path, url: str, key: str, order: Order = _AT_ONCE, *, as_json: bool = False) -> int:
    """Post a job.json or a message, and show what became of it; `-` is standard input.

    Raises Failure, with the places in the file.
    """
    stdin = str(file) == "-"
    try:
        document = sys.stdin.buffer.read() if stdin else file.read_bytes()
    except OSError as error:
        raise Failure(f"{file}: cannot be read: {error.strerror}") from error

    async def ask(api: Service) -> int:
        ordered = text_in_order(document, await order.ids(api))
        return await submit(
            api, ordered, "standard input" if stdin else str(file), name_of(file), as_json=as_json
        )

    return asking(ask, url, key)


def name_of(file: Path) -> str:
    """What a job is called whose document has no name: a job.json as its folder, another file as it is."""
    if file.name == "-":
        return ""
    return file.resolve().parent.name if file.name == "job.json" else file.stem


async def submit(api: Service, document: bytes, file: str, name: str = "", *, as_json: bool = False) -> int:
    """Post it, and show its warnings, as of that file, and what it waits for."""
    if _is_sweep(document):
        show(await api.submit_sweep(document, file=file, name=name), lines, as_json=as_json)
        return 0
    job = await api.submit(document, file=file, name=name)
    if warnings := placed(job.get("problems", []), file):
        remark(warnings)
    show(job, lambda job: [standing(job)], as_json=as_json)
    if "waiting" in job:
        remark(f"  {why(job)}")
    return 0


def _is_sweep(document: bytes) -> bool:
    """Whether it asks for a sweep; what cannot be read does not, and its refusal says why."""
    try:
        envelope = json.loads(document.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return False
    return isinstance(envelope, dict) and envelope.get("sweep") is not None
