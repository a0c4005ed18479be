"""`slipway doctor --live`: the points of docs/how-to/first-live-run.md that a command can prove."""

import os
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from shared.settings import Settings
from slipway.client.deployment import LOOPBACK, Deployment, find_deployment
from slipway.commands.doctor.findings import Finding, Options, fail, skip
from slipway.commands.doctor.live import pool, resources, traffic
from slipway.commands.doctor.live.arm import Arm, ArmError, resource_manager
from slipway.commands.doctor.live.azd import AzdDeployment, deployment_of, environment
from slipway.failure import Failure
from slipway.settings import load

Point = Callable[[], Awaitable[Finding]]
#: Points that a command cannot prove, and how a person can.
BY_HAND: Mapping[str, str] = {
    "preview": "`azd provision --preview` is to show no change, and `azd provision --no-state` to succeed",
    "size": "another BATCH_VM_SIZE while the pool has no node, and while it has one",
    "log alerts": "put a text that is not a job on the queue `jobs`: a message of the alert arrives",
    "dead letters": "remove the queue, drop a folder, and look into the container dead-letters",
    "chunks": "send a body with Transfer-Encoding: chunked to /api/validate: it is answered 411",
    "redeploy": "`azd deploy` while 100 jobs are being accepted, then `slipway audit`",
    "gpu": "a job with `nvidia-smi`, as docs/how-to/deploy-gpus.md shows",
    "aks": "deploy infra/aks.bicep again while nodes of the pool `gpus` run: none of them goes away",
    "teardown": "`azd down --purge`, then `az resource list --tag azd-env-name=NAME`",
}
#: The points that a command proves, in the order of the list.
POINTS = (
    *("deployment", "secrets", "package", "keys", "identity"),
    *("refusal", "entra", "events", "drop", "telemetry", "alerts", "webhook", "network", "pool"),
)
_FORBIDDEN = 403


async def check(options: Options) -> list[Finding]:
    """A finding for each point. A point that is not checked is not a failure, and has the reason."""
    try:
        values = environment(Path.cwd(), os.environ)
        if not values:
            raise Failure("there is no environment of azd here; go to the clone, and `azd env new NAME`")
        azd = deployment_of(values)
        deployment = await _deployment(options, values)
        settings = _storage(options, azd)
    except Failure as failure:
        return [fail("live", str(failure))]
    results = await _resources(options, azd)
    traffics: Mapping[str, Point] = {
        "refusal": lambda: traffic.refusal(deployment),
        "entra": lambda: traffic.entra(deployment, values.get("SLIPWAY_API_AUDIENCE", "")),
        "drop": lambda: traffic.drop(deployment, settings),
        "webhook": lambda: traffic.webhook(deployment, options.receiver),
    }
    for name, point in traffics.items():
        results[name] = await _finding(name, point)
    return [*(results[name] for name in POINTS), *(skip(name, why) for name, why in BY_HAND.items())]


async def _deployment(options: Options, values: Mapping[str, str]) -> Deployment:
    """The deployment with its key. Raises Failure if the key belongs to another deployment than azd's."""
    deployment = await find_deployment(options.url, options.key)
    url = values.get("SLIPWAY_URL", "").rstrip("/")
    if not options.url and url and deployment.url != url:
        raise Failure(f"azd deployed {url}, and the profile is for {deployment.url}; `slipway login {url}`")
    address = urlsplit(deployment.url)
    if address.scheme == "http" and address.hostname not in LOOPBACK:
        raise Failure(f"{deployment.url} would show the key to others on the way; give an https address")
    return deployment


def _storage(options: Options, azd: AzdDeployment) -> Settings:
    """The destination of drops: a file of settings if one is named, else the deployed account."""
    if options.settings_file:
        return load(options.settings_file, os.environ).settings
    return traffic.storage_of(azd.storage)


async def _resources(options: Options, azd: AzdDeployment) -> dict[str, Finding]:
    points: Mapping[str, Callable[[Arm, AzdDeployment], Awaitable[Finding]]] = {
        "deployment": resources.deployment,
        "secrets": resources.secrets,
        "package": resources.package,
        "keys": resources.keys,
        "identity": resources.identity,
        "events": resources.subscription,
        "telemetry": resources.telemetry,
        "alerts": resources.alerts,
        "network": resources.network,
        "pool": pool.pool,
    }
    try:
        async with resource_manager(options.arm) as arm:
            return {name: await _finding(name, partial(point, arm, azd)) for name, point in points.items()}
    except Failure as failure:
        return {name: skip(name, str(failure)) for name in points}


async def _finding(name: str, point: Point) -> Finding:
    """The findings of a point. If this caller may not see it, it is unchecked; other errors are failures."""
    try:
        return await point()
    except ArmError as error:
        if error.status == _FORBIDDEN:
            return skip(name, str(error))
        return fail(name, str(error), "`azd provision`, if it does not exist")
    except Failure as failure:
        return fail(name, str(failure))
    except (KeyError, IndexError, TypeError, ValueError):
        return fail(name, "Azure's answer differs from its documentation", "report it with the version")
