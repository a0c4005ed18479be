"""`slipway submit`: submit a job through the HTTP API, with the folder that is its code."""

import asyncio
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from slipway.client.calls.refusal import placed
from slipway.client.jobs.naming import unmeant
from slipway.client.jobs.words import standing, sweep_lines, why
from slipway.client.request.compose import Choices
from slipway.client.request.cost import refuse
from slipway.client.request.order import Order, in_order, text_in_order
from slipway.client.request.own_job import JOB_FILE, has_its_script
from slipway.client.request.request import Options
from slipway.client.request.send import plan_of, submitted
from slipway.client.service import Service
from slipway.client.snapshot.pack import Archive
from slipway.client.snapshot.submission import submit_folder
from slipway.client.snapshot.walk import Tree
from slipway.commands.asking import asking, show
from slipway.commands.run.plan import explained
from slipway.failure import Failure
from slipway.terminal.screen import remark

_AT_ONCE = Order()


class How(NamedTuple):
    """How to submit: by which key ("": a new one), for how much at most, only to inspect, for a program."""

    once: str = ""
    max_cost: float | None = None
    dry: bool = False
    as_json: bool = False


_USUAL = How()


def run(
    file: Path,
    url: str,
    key: str,
    order: Order = _AT_ONCE,
    code: Path | None = None,
    how: How = _USUAL,
) -> int:
    """Post a job.json or a message, and show what became of it; `-` is standard input.

    `code` is the folder that is its code. The folder of a job.json that lies beside its script is its code.
    Raises Failure, with the places in the file.
    """
    if code is None and has_its_script(file):
        options = Options(Choices(order=order), once=how.once, max_cost=how.max_cost)
        answer = asyncio.run(submitted(file.absolute().parent, options, url, key, dry=how.dry))
        return _shown(answer, str(file), how)
    stdin = str(file) == "-"
    called = "standard input" if stdin else str(file)
    try:
        document = sys.stdin.buffer.read() if stdin else file.read_bytes()
    except OSError as error:
        raise Failure(f"{file}: cannot be read: {error.strerror}") from error

    async def ask(api: Service) -> int:
        async def inspect(
            document: bytes, tree: Tree | None = None, archive: Archive | None = None
        ) -> Mapping[str, Any] | None:
            if not how.dry and how.max_cost is None:
                return None
            plan = await plan_of(api, document, how.once, tree, archive)
            if how.dry:
                return plan
            refuse(plan["explanation"], called, how.max_cost)
            return None

        if code is not None:
            message = in_order(_object(document, called), await order.ids(api))
            own = None if stdin else file
            answer = await submit_folder(api, message, code, name_of(file), own, how.once, inspect)
            return _shown(answer, called, how)
        ordered = text_in_order(document, await order.ids(api))
        if plan := await inspect(ordered):
            return _shown(plan, called, how)
        return await submit(api, ordered, called, name_of(file), how)

    return asking(ask, url, key)


def name_of(file: Path) -> str:
    """The name of a job whose document has none: that of the folder of a job.json, or of another file."""
    if file.name == "-":
        return ""
    return file.resolve().parent.name if file.name == JOB_FILE else file.stem


async def submit(api: Service, document: bytes, file: str, name: str = "", how: How = _USUAL) -> int:
    """Post it, and show its warnings, as of that file, and what it waits for."""
    submit_one = api.submit_sweep if _is_sweep(document) else api.submit
    return _shown(await submit_one(document, how.once, file, name), file, how)


def _shown(answer: Mapping[str, Any], file: str, how: How) -> int:
    """Show a job or a sweep that was accepted, or with `dry` what would be."""
    as_json = how.as_json
    if how.dry:
        return explained(answer, file, how.max_cost, as_json=as_json)
    if "sweepId" in answer:
        show(answer, sweep_lines, as_json=as_json)
        if hint := unmeant({"name": answer.get("name", ""), "id": answer["sweepId"]}):
            remark(hint)
        return 0
    if warnings := placed(answer.get("problems", []), file):
        remark(warnings)
    show(answer, lambda job: [standing(job)], as_json=as_json)
    if "waiting" in answer:
        remark(f"  {why(answer)}")
    if hint := unmeant(answer):
        remark(hint)
    return 0


def _object(document: bytes, file: str) -> dict[str, Any]:
    try:
        read = json.loads(document.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        read = None
    if not isinstance(read, dict):
        raise Failure(f"{file} is not a JSON object; correct it: slipway validate {file}")
    return read


def _is_sweep(document: bytes) -> bool:
    """Whether it is a sweep. An unreadable document is not, and its refusal gives the reason."""
    try:
        envelope = json.loads(document.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return False
    return isinstance(envelope, dict) and envelope.get("sweep") is not None
