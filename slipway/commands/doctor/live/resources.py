"""The points that Resource Manager can show: resources, keys, references and roles."""

from collections.abc import Mapping
from typing import Any

from shared.setting_table.functions_off import BY_EVENT, DROP, functions_off
from slipway.commands.doctor.findings import Finding, fail, ok, skip
from slipway.commands.doctor.live.arm import Arm, ArmError
from slipway.commands.doctor.live.azd import AzdDeployment

_STORAGE, _SITES = "Microsoft.Storage/storageAccounts", "Microsoft.Web/sites"
_TOPICS, _INSIGHTS = "Microsoft.EventGrid/systemTopics", "Microsoft.Insights/components"
_DEPLOYMENTS_VERSION, _STORAGE_VERSION = "2025-04-01", "2025-01-01"
_SITE_VERSION, _EVENTS_VERSION, _QUERY_VERSION = "2024-11-01", "2025-02-15", "2018-04-20"
#: Each kind of alert, with the version of its API; and how many the template creates.
_ALERTS, ALERTS = {"metricAlerts": "2018-03-01", "scheduledQueryRules": "2023-12-01"}, 7
#: Functions that the host must know, and run: one that it cannot index is missing, while the others answer.
NEEDED = (*BY_EVENT, "health")
#: A function that the template disables: its events come by the queue.
DISABLED = DROP
#: The plan of the template, and the most characters of an error of the host.
_PLAN, _LONGEST = "FlexConsumption", 300
#: Member of the account → its required value.
_CLOSED = {
    "allowSharedKeyAccess": False,
    "allowBlobPublicAccess": False,
    "supportsHttpsTrafficOnly": True,
    "minimumTlsVersion": "TLS1_2",
}
_PASSES = 'requests | where timestamp > ago(15m) and operation_Name == "sweeper" | summarize count()'


async def deployment(arm: Arm, azd: AzdDeployment) -> Finding:
    """Whether every part of the template has been deployed."""
    group = f"/subscriptions/{azd.subscription}/resourceGroups/{azd.group}"
    results = await arm.every(f"{group}/providers/Microsoft.Resources/deployments", _DEPLOYMENTS_VERSION)
    if not results:
        return fail("deployment", f"{azd.group} does not contain a deployment", "`azd provision`")
    states = {str(one["name"]): str(one["properties"]["provisioningState"]) for one in results}
    bad = [f"{name} {state}" for name, state in sorted(states.items()) if state != "Succeeded"]
    if bad:
        return fail("deployment", ", ".join(bad), "`azd provision` says why, and may be run again")
    return ok("deployment", f"{len(states)} parts of {azd.group} have succeeded")


async def keys(arm: Arm, azd: AzdDeployment) -> Finding:
    """Whether storage refuses keys, public reading and plain HTTP, and the app does not hold a key for it."""
    account = await arm.get(azd.path(_STORAGE, azd.storage), _STORAGE_VERSION)
    properties = account["properties"]
    open_doors = [
        f"{name} is {properties.get(name)}"
        for name, value in _CLOSED.items()
        if properties.get(name) != value
    ]
    settings = await _settings(arm, azd)
    open_doors += [f"the setting {name} holds a key" for name, text in settings.items() if _has_key(text)]
    if open_doors:
        return fail("keys", "; ".join(open_doors), "`azd provision` restores the template's values")
    return ok("keys", f"{azd.storage} refuses keys, public reading and plain HTTP")


async def identity(arm: Arm, azd: AzdDeployment) -> Finding:
    """Whether the app reaches queues, table and package with its identity."""
    settings = await _settings(arm, azd)
    site = await arm.get(azd.path(_SITES, azd.app), _SITE_VERSION)
    ways = {
        "its host": settings.get("AzureWebJobsStorage__credential"),
        "its storage": settings.get("SLIPWAY_STORAGE__credential"),
        "its package": _member(site, "properties", "functionAppConfig", "deployment", "storage",
                               "authentication", "type"),
    }  # fmt: skip
    other = [name for name, way in ways.items() if way not in ("managedidentity", "UserAssignedIdentity")]
    if other:
        return fail("identity", f"{azd.app}: {', '.join(other)} without identity", "`azd provision`")
    return ok("identity", f"{azd.app} reaches queues, table and package with its identity")


async def secrets(arm: Arm, azd: AzdDeployment) -> Finding:
    """Whether every reference to the vault is resolved, so that its secrets exist and can be read."""
    path = f"{azd.path(_SITES, azd.app)}/config/configreferences/appsettings"
    references = await arm.every(path, _SITE_VERSION)
    if not references:
        return fail("secrets", f"{azd.app} does not refer to {azd.vault}", "`azd provision`")
    bad = [
        f"{one['name']} is {_member(one, 'properties', 'status')}"
        for one in references
        if _member(one, "properties", "status") != "Resolved"
    ]
    if bad:
        remedy = "`infra/hooks/secrets.sh` creates missing ones; a new role takes some minutes"
        return fail("secrets", "; ".join(sorted(bad)), remedy)
    names = sorted(str(_member(one, "properties", "secretName")) for one in references)
    return ok("secrets", f"{', '.join(names)} of {azd.vault} are read with the app's identity")


async def package(arm: Arm, azd: AzdDeployment) -> Finding:
    """Whether the package was built, and the host lists its functions."""
    results = await arm.every(f"{azd.path(_SITES, azd.app)}/functions", _SITE_VERSION)
    names = {_last(one["name"]) for one in results}
    if absent := [name for name in NEEDED if name not in names]:
        remedy = "`azd deploy`, and the log of the app: a setting of that function may be wrong"
        return fail("package", f"the host knows no function {', '.join(absent)}", remedy)
    disabled = {_last(one["name"]) for one in results if _member(one, "properties", "isDisabled") is True}
    if stopped := sorted(disabled - {DISABLED}):
        remedy = f"remove the setting AzureWebJobs.{stopped[0]}.Disabled, or its form with underscores"
        return fail("package", f"the host runs no {', '.join(stopped)}: disabled", remedy)
    if off := functions_off({**await _settings(arm, azd), "WEBSITE_SKU": _PLAN}):
        return fail("package", next(iter(off.values())), "`azd provision` restores the template's values")
    good = f"the host knows its {len(names)} functions"
    try:
        return await _errors(arm, azd) or ok("package", good)
    except ArmError as error:  # not each role may ask the host itself
        return ok("package", f"{good}; whether each of them runs is not known: {error}")


async def _errors(arm: Arm, azd: AzdDeployment) -> Finding | None:
    """What the host itself says, through Resource Manager: its state, and what is wrong with a function."""
    host = f"{azd.path(_SITES, azd.app)}/hostruntime/admin"
    status = await arm.get(f"{host}/host/status", _SITE_VERSION)
    remedy = "a setting of it may be wrong: the log of the app says which"
    if (state := str(status.get("state"))) != "Running":
        why = "; ".join(map(_first_line, status.get("errors") or ())) or "its log says why"
        return fail("package", f"the host is {state[:40]}: {why}", remedy)
    for name in NEEDED:
        answer = await arm.get(f"{host}/functions/{name}/status", _SITE_VERSION)
        if errors := answer.get("errors"):
            return fail("package", f"{name} is in error, and does not run: {_first_line(errors[0])}", remedy)
    return None


def _first_line(error: object) -> str:
    return str(error).strip().partition("\n")[0][:_LONGEST]


def _last(name: object) -> str:
    """The name of a function, behind that of its app."""
    return str(name).rpartition("/")[2]


async def subscription(arm: Arm, azd: AzdDeployment) -> Finding:
    """Whether the topic delivers drops, and keeps undelivered events, both with its identity."""
    path = f"{azd.path(_TOPICS, azd.topic)}/eventSubscriptions/drops"
    properties = (await arm.get(path, _EVENTS_VERSION))["properties"]
    if properties.get("provisioningState") != "Succeeded":
        text = f"the subscription of events is {properties.get('provisioningState')}"
        return fail("events", text, "`azd provision` makes it again")
    for name in ("deliveryWithResourceIdentity", "deadLetterWithResourceIdentity"):
        if _member(properties, name, "identity", "type") != "SystemAssigned":
            return fail("events", f"its {name} is missing", "`azd provision` makes it again")
    return ok("events", f"{azd.topic} delivers drops and keeps dead letters, with its identity")


async def alerts(arm: Arm, azd: AzdDeployment) -> Finding:
    """Whether the alerts exist and are enabled, and whether they have a recipient."""
    monitor = f"/subscriptions/{azd.subscription}/resourceGroups/{azd.group}/providers/Microsoft.Insights"
    rules = [
        rule["properties"]
        for kind, version in _ALERTS.items()
        for rule in await arm.every(f"{monitor}/{kind}", version)
    ]
    watching = sum(1 for rule in rules if rule.get("enabled"))
    if watching < ALERTS:
        return fail("alerts", f"{watching} of {ALERTS} alerts watch", "`azd provision` makes them again")
    heard = all(rule.get("actions") not in (None, [], {}, {"actionGroups": []}) for rule in rules)
    where = "and send messages" if heard else "and are shown in the portal alone: ALERT_EMAIL is not set"
    return ok("alerts", f"{watching} alerts watch, {where}")


async def network(arm: Arm, azd: AzdDeployment) -> Finding:
    """With a virtual network: whether storage is closed to other networks, and the app is in its own."""
    if not azd.is_private:
        return skip("network", "VNET_ENABLED is not true")
    account = await arm.get(azd.path(_STORAGE, azd.storage), _STORAGE_VERSION)
    site = await arm.get(azd.path(_SITES, azd.app), _SITE_VERSION)
    action = _member(account, "properties", "networkAcls", "defaultAction")
    if action != "Deny":
        return fail("network", f"{azd.storage} is open to every network", "`azd provision`")
    if not _member(site, "properties", "virtualNetworkSubnetId"):
        return fail("network", f"{azd.app} is in no network", "`azd provision`")
    return ok("network", f"{azd.storage} is closed to other networks, and {azd.app} is in its own")


async def telemetry(arm: Arm, azd: AzdDeployment) -> Finding:
    """Whether Application Insights has received runs of `sweeper`, one for each minute."""
    path = f"{azd.path(_INSIGHTS, azd.insights)}/query"
    answer = await arm.post(path, _QUERY_VERSION, {"query": _PASSES})
    number = int(answer["tables"][0]["rows"][0][0])
    if not number:
        remedy = "what arrives is shown after some minutes; the app's role is Monitoring Metrics Publisher"
        return fail(
            "telemetry", f"{azd.insights} does not show a run of sweeper in the last 15 minutes", remedy
        )
    return ok("telemetry", f"{azd.insights} has {number} runs of sweeper of the last 15 minutes")


async def _settings(arm: Arm, azd: AzdDeployment) -> Mapping[str, str]:
    """The app's settings, which are read and never shown."""
    path = f"{azd.path(_SITES, azd.app)}/config/appsettings/list"
    properties = (await arm.post(path, _SITE_VERSION, {}))["properties"]
    return {str(name): str(text) for name, text in properties.items()}


def _has_key(text: str) -> bool:
    return "AccountKey=" in text or "SharedAccessKey=" in text


def _member(document: Any, *steps: str) -> Any:
    for step in steps:
        document = document.get(step) if isinstance(document, dict) else None
    return document
