"""The quotas of cores with GPUs in a region: new subscriptions have none."""

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from slipway.commands.doctor.findings import Finding, Options, fail, ok, skip, warn
from slipway.commands.doctor.live.arm import Arm, ArmError, resource_manager
from slipway.commands.doctor.live.azd import environment
from slipway.failure import Failure

#: Families of the N series with GPUs; NP has FPGAs.
_GPUS = re.compile(r"standard\s?N[CDGV]", re.IGNORECASE)
_WORD = re.compile(r"[\w-]{1,64}", re.ASCII)
_COMPUTE, _ACCOUNTS = "2024-07-01", "2025-06-01"
_SPOT = "lowPriorityCores"
#: Errors for a provider that the subscription has never used.
_UNKNOWN = ("MissingSubscriptionRegistration", "NotFound")


class Quota(NamedTuple):
    """Cores of one family: used, and allowed. `used` is None if Azure does not report it."""

    family: str
    used: int | None
    limit: int


async def check(options: Options) -> list[Finding]:
    """GPU quotas of the given subscription and region, else of azd's environment; nothing without either."""
    try:
        values = {} if options.subscription and options.region else environment(Path.cwd(), os.environ)
    except Failure as failure:
        return [fail("quota", str(failure))]
    subscription = options.subscription or values.get("AZURE_SUBSCRIPTION_ID", "")
    named = options.region or values.get("BATCH_LOCATION") or values.get("AZURE_LOCATION", "")
    region = named.replace(" ", "").lower()
    if not subscription and not region:
        return []
    if not _WORD.fullmatch(subscription) or not _WORD.fullmatch(region):
        return [fail("quota", "a subscription and a region are needed", "--subscription ID --region NAME")]
    try:
        async with resource_manager(options.arm) as arm:
            return [
                *await _machines(arm, subscription, region),
                *await _accounts(arm, subscription, region),
            ]
    except Failure as failure:
        return [skip("quota", str(failure))]


async def _machines(arm: Arm, subscription: str, region: str) -> list[Finding]:
    path = f"/subscriptions/{subscription}/providers/Microsoft.Compute/locations/{region}/usages"
    usages = await arm.every(path, _COMPUTE)
    quotas = [Quota(str(one["name"]["value"]), int(one["currentValue"]), int(one["limit"])) for one in usages]
    results = _findings(
        region, [one for one in quotas if _GPUS.match(one.family)], _ask(subscription, region)
    )
    spot = next((one for one in quotas if one.family == _SPOT), None)
    if spot and not spot.limit:
        results.append(
            warn("quota", f"{region}: 0 cores for spot nodes of any family", "ask for them likewise")
        )
    return results


async def _accounts(arm: Arm, subscription: str, region: str) -> list[Finding]:
    """The quotas of each Batch account, which are separate from those of machines."""
    path = f"/subscriptions/{subscription}/providers/Microsoft.Batch/batchAccounts"
    try:
        accounts = await arm.every(path, _ACCOUNTS)
    except ArmError as error:
        if error.code in _UNKNOWN or error.status == 404:
            return []
        raise
    return [
        finding
        for one in accounts
        if one.get("location", "").replace(" ", "").lower() == region
        for finding in _of_account(str(one["name"]), one.get("properties") or {})
    ]


def _of_account(name: str, properties: Mapping[str, Any]) -> list[Finding]:
    # in the other mode its nodes count as machines of the subscription
    if properties.get("poolAllocationMode") == "UserSubscription":
        return []
    families = [
        Quota(str(one["name"]), None, int(one["coreQuota"]))
        for one in properties.get("dedicatedCoreQuotaPerVMFamily") or []
        if _GPUS.match(str(one["name"]))
    ]
    if not properties.get("dedicatedCoreQuotaPerVMFamilyEnforced", True):
        families = [Quota("any family", None, int(properties.get("dedicatedCoreQuota") or 0))]
    spot = Quota("spot nodes of any family", None, int(properties.get("lowPriorityCoreQuota") or 0))
    where = f"account {name}"
    return [*_findings(where, families, _ASK_ACCOUNT), *_findings(where, [spot], _ASK_ACCOUNT)]


_ASK_ACCOUNT = "ask in the portal: the account, Quotas, Request quota increase"


def _ask(subscription: str, region: str) -> str:
    return (
        "ask in the portal (Quotas, Compute), or: az extension add --name quota; az quota update "
        f"--resource-name FAMILY --resource-type dedicated --limit-object value=24 "
        f"--scope /subscriptions/{subscription}/providers/Microsoft.Compute/locations/{region}"
    )


def _findings(where: str, quotas: Sequence[Quota], remedy: str) -> list[Finding]:
    """Families with and without cores; a warning if none has any."""
    results = [ok("quota", f"{where}: {_words(one)}") for one in quotas if one.limit > 0]
    without = sorted(one.family for one in quotas if one.limit <= 0)
    if not quotas:
        results.append(warn("quota", f"{where}: it names no family with GPUs", "choose another region"))
    elif without:
        text = f"{where}: 0 cores in {', '.join(without)}"
        results.append(ok("quota", text) if results else warn("quota", text, remedy))
    return results


def _words(quota: Quota) -> str:
    used = "" if quota.used is None else f", {quota.used} used"
    return f"{quota.limit} cores in {quota.family}{used}"
