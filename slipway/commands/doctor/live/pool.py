"""The pool of GPU nodes from a template: without keys, with an identity, and able to scale."""

from collections.abc import Mapping
from typing import Any

from slipway.commands.doctor.findings import Finding, fail, ok, skip
from slipway.commands.doctor.live.arm import Arm
from slipway.commands.doctor.live.azd import AzdDeployment

_ACCOUNTS, _VERSION = "Microsoft.Batch/batchAccounts", "2025-06-01"
_REMEDY = "`azd provision --no-state`; what Azure refuses to change: delete the pool before"


async def pool(arm: Arm, azd: AzdDeployment) -> Finding:
    """Whether the account refuses keys, and its pool has an identity, a valid formula, and nodes."""
    if not azd.account:
        return skip("pool", "the template made none: SLIPWAY_ENGINE is not batch")
    path = azd.path(_ACCOUNTS, azd.account)
    account = (await arm.get(path, _VERSION))["properties"]
    body = await arm.get(f"{path}/pools/gpu", _VERSION)
    if faults := [*_of_account(account, azd), *_of_pool(body)]:
        return fail("pool", "; ".join(faults), _REMEDY)
    properties = body["properties"]
    resize = properties.get("resizeOperationStatus") or {}
    if errors := [str(one["code"]) for one in resize.get("errors") or ()]:
        return fail("pool", f"nodes do not come: {', '.join(errors)}", "`slipway doctor` shows the quotas")
    nodes = int(properties["currentDedicatedNodes"]) + int(properties["currentLowPriorityNodes"])
    return ok("pool", f"{azd.account} takes no keys; {properties['vmSize']}, {nodes} nodes at the moment")


def _of_account(properties: Mapping[str, Any], azd: AzdDeployment) -> list[str]:
    modes = properties.get("allowedAuthenticationModes")
    faults = [] if modes == ["AAD"] else [f"{azd.account} takes {', '.join(modes or ['keys'])}"]
    if azd.is_private and properties.get("publicNetworkAccess") != "Disabled":
        faults.append(f"{azd.account} is open to every network")
    return faults


def _of_pool(body: Mapping[str, Any]) -> list[str]:
    properties = body["properties"]
    faults = [] if (body.get("identity") or {}).get("type") == "UserAssigned" else ["it lacks an identity"]
    scale = (properties.get("scaleSettings") or {}).get("autoScale") or {}
    if "$PendingTasks" not in str(scale.get("formula")):
        faults.append("it does not scale by the tasks that wait")
    if error := (properties.get("autoScaleRun") or {}).get("error"):
        faults.append(f"its formula cannot be evaluated: {error.get('code')}")
    return faults
