"""The points that only traffic can show: a refusal, a token, a tiny job by its event, a signed webhook."""

import asyncio
import json
import secrets
import tempfile
import time
from pathlib import Path
from typing import Any

import aiohttp

from shared.settings import Settings
from slipway.client.calls.unreachable import why
from slipway.client.calls.wire import session
from slipway.client.deployment import Deployment, chosen_profile
from slipway.client.drops.upload import Uploaded, upload
from slipway.client.service import Service, service
from slipway.client.storage.account import storage_account
from slipway.commands.doctor.findings import Finding, fail, ok, skip
from slipway.failure import Failure

#: Seconds for a drop to become a job. Within them, the inventory finds it even without its event.
_PATIENCE = 300.0
_STEP = 1.0
_JOB = {"properties": {"nodeCount": 1, "customToolkitSettings": {"commandLine": "true"}}}
_ENDS = ("succeeded", "failed", "cancelled", "lost", "rejected")
_REFUSING = aiohttp.ClientTimeout(total=30)


async def refusal(deployment: Deployment) -> Finding:
    """Whether the API refuses a caller without a key or token."""
    url = f"{deployment.url}/api/jobs"
    try:
        async with (
            session(url, timeout=_REFUSING) as http,
            http.get(url, allow_redirects=False) as answer,
        ):
            status = answer.status
    except (aiohttp.ClientError, TimeoutError) as error:
        return fail("refusal", f"no answer from {url}: {why(error)}", "see the line of the app")
    if status == 401:
        return ok("refusal", "the API answers 401 to a caller without a key or token")
    return fail(
        "refusal", f"the API answers {status} to a caller without a key", "stop the app, and report it"
    )


async def entra(deployment: Deployment, audience: str) -> Finding:
    """Whether a token for the profile's scope is accepted, if the deployment requires tokens."""
    if not audience:
        return skip("entra", "SLIPWAY_API_AUDIENCE is not set, so callers show a function key")
    profile = chosen_profile()
    if profile is None or profile.url != deployment.url or not profile.scope:
        return skip("entra", "the profile does not name a scope: `slipway login URL --scope SCOPE`")
    async with service(deployment.url, deployment.key) as api:
        await api.jobs(limit=1)
    return ok("entra", f"a token for {profile.scope} is accepted")


async def drop(deployment: Deployment, settings: Settings) -> Finding:
    """Whether a dropped folder becomes a job by its event. The job is cancelled, and the folder removed."""
    name = f"slipway-doctor-{secrets.token_hex(4)}"
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / name
        folder.mkdir()
        (folder / "job.json").write_text(json.dumps(_JOB), "utf-8")
        began = time.monotonic()
        uploaded = await upload(settings, folder)
    try:
        async with service(deployment.url, deployment.key) as api:
            job = await _arrived(api, name)
            seconds = time.monotonic() - began
            if job and job["state"] not in _ENDS:
                await api.cancel(job["id"])
    finally:
        await _remove(settings, uploaded)
    return _verdict(job, name, seconds)


def _verdict(job: dict[str, Any] | None, name: str, seconds: float) -> Finding:
    if job is None:
        remedy = "see the lines events and telemetry, and the queues jobs and jobs-poison"
        return fail("drop", f"{name} became no job within {_PATIENCE:g} s", remedy)
    if job["door"] != "drop":
        text = f"{name} became a job by {job['door']}, not by its event"
        return fail("drop", text, "the topic's roles may be new: see the line events, and try again")
    outcome = f"it is {job['state']}" if job["state"] in _ENDS else "it is cancelled now"
    return ok("drop", f"{name} became {job['id']} by its event after {seconds:.0f} s; {outcome}")


async def webhook(deployment: Deployment, receiver: str) -> Finding:
    """Whether a receiver that checks signatures accepts a signed test event."""
    if not receiver:
        return skip("webhook", "name a receiver that checks signatures: --receiver URL")
    async with service(deployment.url, deployment.key) as api:
        answer = await api.test_receiver(receiver, "default")
    text = f"a signed test event was answered {answer.get('status') or answer['outcome']}"
    if answer["outcome"] != "delivered":
        return fail("webhook", text, "compare its secret with webhook-secrets of the vault")
    return ok("webhook", text)


async def _arrived(api: Service, name: str) -> dict[str, Any] | None:
    """The job of a folder, as soon as it exists; None if it never does."""
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end:
        if results := (await api.jobs({"name": name}, limit=1)).jobs:
            return results[0]
        await asyncio.sleep(_STEP)
    return None


async def _remove(settings: Settings, uploaded: Uploaded) -> None:
    from azure.core.exceptions import ResourceNotFoundError

    async with storage_account(settings) as account:
        container = account.blobs.get_container_client(uploaded.container)
        for blob in uploaded.digests:
            try:
                await container.delete_blob(blob)
            except ResourceNotFoundError:
                continue


def storage_of(name: str) -> Settings:
    """Settings for a storage account, with the signed-in identity."""
    if not name.isalnum():
        raise Failure(f"{name[:80]!r} is not the name of a storage account")
    kinds = ("blob", "queue", "table")
    return Settings(
        {f"SLIPWAY_STORAGE__{kind}ServiceUri": f"https://{name}.{kind}.core.windows.net/" for kind in kinds}
    )
