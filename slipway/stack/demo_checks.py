"""Checks the results of the demo from outside: API, receipt files, receiver."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from local.stack import Stack
from slipway.client.service import Service
from slipway.failure import Failure
from slipway.terminal.screen import Screen, table

_ACCURACY = re.compile(r"test accuracy (\d\.\d+) on (\d+) images")
_GOOD = 0.9
_SUCCEEDED, _REJECTED, _MISTAKES, _DROPS = 3, 1, 3, 2
_EVENT = "io.slipway.job.{}.v1"

Job = Mapping[str, Any]


@dataclass(frozen=True)
class DemoCheck:
    """One result of the demo: lines for a person, and its problems, if any."""

    name: str
    lines: Sequence[str]
    trouble: str = ""


async def check(stack: Stack, api: Service, jobs: Sequence[Job], peak: int | None) -> list[DemoCheck]:
    """Check everything that the jobs left behind. Raises Failure when the API does not answer.

    `peak`: the most nodes that the cluster had; None if it does not add nodes for jobs.
    """
    jobs = sorted(jobs, key=lambda job: str(job["createdAt"]))
    succeeded = [job for job in jobs if job["state"] == "succeeded"]
    rejected = [job for job in jobs if job["state"] == "rejected"]
    broken = [job for job in jobs if job["state"] not in ("succeeded", "rejected")]
    return [
        *[await _errors(api, job) for job in broken],
        await _receipt(stack, next(filter(dropped, succeeded), None)),
        await _diagnostics(stack, rejected[0] if rejected else None),
        await _results(api, succeeded),
        webhooks(_deliveries(stack), jobs),
        times(jobs, peak),
    ]


def dropped(job: Job) -> bool:
    """Whether the event of a drop made the job, and not the inventory."""
    return bool(job["door"] == "drop")


def show(screen: Screen, parts: Sequence[DemoCheck]) -> None:
    """Show each check with its lines."""
    for part in parts:
        screen.heading(part.name + (f": {part.trouble}" if part.trouble else ""))
        for line in part.lines:
            screen.write(f"  {line}")
    screen.write("")


def webhooks(deliveries: Sequence[Mapping[str, Any]], jobs: Sequence[Job]) -> DemoCheck:
    """Each job's end was delivered once, with a signature that the public package has verified."""
    names = {f"jobs/{job['id']}": job["name"] for job in jobs}
    expected = {(f"jobs/{job['id']}", _EVENT.format(job["state"])) for job in jobs}
    deliveries_by_type = {
        (one["subject"], one["type"]): one for one in deliveries if one["verified"] and one["status"] == 204
    }
    rows = [("signature", "event", "job", "webhook-id")]
    for one in deliveries:
        signature = "verified" if one["verified"] else "WRONG"
        job = names.get(one["subject"] or "", "?")
        rows.append((signature, one["type"] or "?", job, one["id"] or "?"))
    absent = [names[subject] for subject, type_ in sorted(expected - deliveries_by_type.keys())]
    wrong = sum(not one["verified"] for one in deliveries)
    trouble = f"none came for {', '.join(absent)}" if absent else ""
    trouble = trouble or (f"{wrong} with a wrong signature" if wrong else "")
    return DemoCheck("webhooks, verified by the package standardwebhooks", table(rows), trouble)


def times(jobs: Sequence[Job], peak: int | None) -> DemoCheck:
    """All jobs: whether they ended as expected, and how long each step took."""
    rows = [("job", "door", "state", "waited", "ran", "exit")]
    for job in jobs:
        waited, ran = _seconds(job, "createdAt", "startedAt"), _seconds(job, "startedAt", "endedAt")
        rows.append((job["name"], job["door"], job["state"], waited, ran, str(job.get("exitCode", ""))))
    ends, drops = sorted(job["state"] for job in jobs), sum(map(dropped, jobs))
    trouble = ""
    if ends != sorted(["succeeded"] * _SUCCEEDED + ["rejected"] * _REJECTED):
        trouble = (
            "; ".join(
                f"{job['name']} is {job['state']}: {job.get('message', 'no message')}"
                for job in jobs
                if job["state"] not in ("succeeded", "rejected")
            )
            or f"expected {_SUCCEEDED} to succeed and {_REJECTED} to be rejected, not {', '.join(ends)}"
        )
    elif drops != _DROPS:
        trouble = f"{drops} jobs came by the event of their drop, not {_DROPS}"
    elif peak not in (2, None):
        trouble = f"the cluster grew to {peak} nodes, not to 2"
    return DemoCheck("the jobs", table(rows), trouble)


async def _receipt(stack: Stack, job: Job | None) -> DemoCheck:
    name = "the receipt of the drop"
    if job is None:
        return DemoCheck(name, (), "no dropped job succeeded")
    text = await _receipt_file(stack, job["receipt"])
    receipt = json.loads(text) if text else {}
    lines = [
        job["receipt"],
        *(f"{key:<10} {receipt.get(key)}" for key in ("id", "state", "cluster", "startedAt", "endedAt")),
        *(
            f"{file['name']}  sha256 {file['sha256'][:16]}…"
            for file in receipt.get("drop", {}).get("files", ())
        ),
    ]
    return DemoCheck(
        name, lines, "" if receipt.get("state") == "succeeded" else "it does not say how the job ended"
    )


async def _diagnostics(stack: Stack, job: Job | None) -> DemoCheck:
    name = "the diagnostics of the drop with mistakes"
    if job is None:
        return DemoCheck(name, (), "no job was rejected")
    path = job["receipt"].replace("receipt.json", "diagnostics.txt")
    text = await _receipt_file(stack, path)
    count = len(re.findall(r"^\S+: (?:error|warning) SW\d+ ", text, re.MULTILINE))
    trouble = "" if count == _MISTAKES else f"it names {count} mistakes, not {_MISTAKES}"
    return DemoCheck(name, [path, *text.rstrip().splitlines()], trouble)


async def _results(api: Service, jobs: Sequence[Job]) -> DemoCheck:
    rows, trouble = [("job", "accuracy", "in its output directory MODEL")], ""
    for job in jobs:
        log = (await api.log(job["id"])).data.decode("utf-8", "replace")
        files = {file["name"]: file["bytes"] for file in await api.files(job["id"], "MODEL")}
        match = _ACCURACY.search(log)
        shown = f"{float(match[1]):.2%} of {match[2]} images" if match else "?"
        rows.append((job["name"], shown, ", ".join(f"{name} ({size} bytes)" for name, size in files.items())))
        if not match or float(match[1]) < _GOOD:
            trouble = f"{job['name']} reports no accuracy of at least {_GOOD:.0%}"
        elif not {"model.npz", "metrics.json"} <= files.keys():
            trouble = f"{job['name']} left no model"
    return DemoCheck("what the jobs learnt", table(rows), trouble)


async def _errors(api: Service, job: Job) -> DemoCheck:
    """The last lines of the logs of a job that should have succeeded."""
    try:
        files = [file["name"] for file in await api.files(job["id"], "stdouterr") if file["bytes"]]
        logs = [await api.log(job["id"], file=name) for name in files]
    except Failure as failure:
        return DemoCheck(f"the files of {job['name']}", (), str(failure))
    lines = [
        line
        for name, log in zip(files, logs, strict=True)
        for line in (name, *(f"| {text}" for text in log.data.decode("utf-8", "replace").splitlines()[-8:]))
    ]
    return DemoCheck(f"the files of {job['name']}", lines)


async def _receipt_file(stack: Stack, blob: str) -> str:
    """A blob by container and name; empty if it does not exist."""
    from azure.core.exceptions import ResourceNotFoundError
    from azure.storage.blob.aio import BlobClient

    container, _, name = blob.partition("/")
    storage = stack.settings["SLIPWAY_STORAGE"]
    async with BlobClient.from_connection_string(storage, container, name) as client:
        try:
            return (await (await client.download_blob()).readall()).decode()
        except ResourceNotFoundError:
            return ""


def _deliveries(stack: Stack) -> list[Mapping[str, Any]]:
    return [json.loads(line) for line in stack.deliveries.read_text(encoding="utf-8").splitlines()]


def _seconds(job: Job, start: str, end: str) -> str:
    if start not in job or end not in job:
        return ""
    return f"{(datetime.fromisoformat(job[end]) - datetime.fromisoformat(job[start])).total_seconds():.1f} s"
