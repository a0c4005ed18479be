"""What no template of ours may do: open a door, use a key, make a value anew in each deployment."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from local.bicep.template import Finding, Resource, Template, Value

#: Built-in roles that templates may grant, by ids that are the same everywhere. None may manage anything.
ROLES: Mapping[str, str] = {
    "b7e6dc6d-f1e8-4753-8033-0f276bb0955b": "Storage Blob Data Owner",
    "ba92f5b4-2d11-453d-a403-e96b0029c9fe": "Storage Blob Data Contributor",
    "2a2b9908-6ea1-4ae2-8e65-a410df84e7d1": "Storage Blob Data Reader",
    "974c5e8b-45b9-4653-ba55-5f855dd0fb88": "Storage Queue Data Contributor",
    "c6a89b2d-59bc-44d0-9896-0f6e12d7b80a": "Storage Queue Data Message Sender",
    "0a9a7e1f-b9d0-4cc4-a60d-0319b160aaa3": "Storage Table Data Contributor",
    "3913510d-42f4-4e42-8a64-420c390055eb": "Monitoring Metrics Publisher",
    "4633458b-17de-408a-b874-0445c86b69e6": "Key Vault Secrets User",
    "b86a8fe4-44ce-4948-aee5-eccb2c155cd7": "Key Vault Secrets Officer",
    "48e5e92e-a480-4e71-aa9c-2778f4c13781": "Azure Batch Job Submitter",
}
#: The one role that a template makes, and all that it allows.
SCALER, SCALES = "Slipway Pool Scaler", "Microsoft.Batch/batchAccounts/pools/write"
#: Who has which roles on what: the last word of the type, with the name where it is a text.
GRANTS: Mapping[tuple[str, str], frozenset[str]] = {
    ("appPrincipalId", "storageAccounts"): frozenset(
        ("Storage Blob Data Owner", "Storage Queue Data Contributor", "Storage Table Data Contributor")
    ),
    ("appPrincipalId", "components"): frozenset(("Monitoring Metrics Publisher",)),
    ("appPrincipalId", "vaults"): frozenset(("Key Vault Secrets User",)),
    ("appPrincipalId", "batchAccounts"): frozenset(("Azure Batch Job Submitter", SCALER)),
    ("nodes.properties.principalId", "containers clusters"): frozenset(("Storage Blob Data Contributor",)),
    ("topic.identity.principalId", "queues jobs"): frozenset(("Storage Queue Data Message Sender",)),
    ("topic.identity.principalId", "containers dead-letters"): frozenset(("Storage Blob Data Contributor",)),
    ("deployerId", "containers scripts"): frozenset(("Storage Blob Data Contributor",)),
    ("deployerId", "containers runs"): frozenset(("Storage Blob Data Reader",)),
    ("deployerId", "vaults"): frozenset(("Key Vault Secrets Officer",)),
}
_ROLE = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
#: Functions that return a key, or another value each time.
_FORBIDDEN = re.compile(
    r"\b(list\w*Keys?|listAccountSas|listServiceSas|utcNow|newGuid|getSecret)\s*\(", re.IGNORECASE
)
_BUILT_IN = re.compile(r"subscriptionResourceId\('Microsoft\.Authorization/roleDefinitions', (\w+)\)")
_SUBSCRIPTION = "'/subscriptions/${subscription().subscriptionId}'"
_KEY = re.compile(r"AccountKey=|SharedAccessKey|InstrumentationKey=|sig=")


class Rule(NamedTuple):
    """Of resources of one type: the member at a path is one of these texts."""

    type: str
    path: str
    allowed: tuple[str, ...]
    why: str


_STORAGE, _SITE = "Microsoft.Storage/storageAccounts", "Microsoft.Web/sites"
_VAULT, _EVENTS = "Microsoft.KeyVault/vaults", "Microsoft.EventGrid/systemTopics/eventSubscriptions"
_BATCH = "Microsoft.Batch/batchAccounts"
_ADDRESS = "properties.networkConfiguration.publicIPAddressConfiguration.provision"
_CUSTOM = "Microsoft.Authorization/roleDefinitions"
_LOGS, _GRANT = "Microsoft.OperationalInsights/workspaces", "Microsoft.Authorization/roleAssignments"
_PACKAGE = "properties.functionAppConfig.deployment.storage.authentication.type"
RULES = (
    Rule(_STORAGE, "properties.allowBlobPublicAccess", ("false",), "blobs are never public"),
    Rule(_STORAGE, "properties.allowSharedKeyAccess", ("false",), "identities, no keys"),
    Rule(_STORAGE, "properties.minimumTlsVersion", ("TLS1_2", "TLS1_3"), "TLS 1.2 at least"),
    Rule(_STORAGE, "properties.supportsHttpsTrafficOnly", ("true",), "HTTPS only"),
    Rule(_STORAGE, "properties.networkAcls.defaultAction", ("Deny", "Deny : Allow"), "a firewall can close"),
    Rule(_STORAGE, "properties.networkAcls.bypass", ("AzureServices",), "Event Grid comes past the firewall"),
    Rule(f"{_STORAGE}/blobServices/containers", "properties.publicAccess", ("None",), "never public"),
    Rule(_SITE, "properties.httpsOnly", ("true",), "HTTPS only"),
    Rule(_SITE, "properties.siteConfig.minTlsVersion", ("1.2", "1.3"), "TLS 1.2 at least"),
    Rule(_SITE, "properties.siteConfig.scmMinTlsVersion", ("1.2", "1.3"), "TLS 1.2 at least"),
    Rule(_SITE, "properties.siteConfig.ftpsState", ("Disabled",), "no FTP"),
    Rule(_SITE, "identity.type", ("UserAssigned",), "the app's identity is the one with roles"),
    Rule(_SITE, "properties.keyVaultReferenceIdentity", ("identityId",), "the app has no other identity"),
    Rule(_SITE, _PACKAGE, ("UserAssignedIdentity",), "the package is read with the app's identity"),
    Rule(f"{_SITE}/basicPublishingCredentialsPolicies", "properties.allow", ("false",), "no passwords"),
    Rule(_VAULT, "properties.enableRbacAuthorization", ("true",), "roles, no access policies"),
    Rule(_VAULT, "properties.enableSoftDelete", ("true",), "a deleted secret can be had back"),
    Rule("Microsoft.Insights/components", "properties.DisableLocalAuth", ("true",), "identities, no keys"),
    Rule(_LOGS, "properties.features.disableLocalAuth", ("true",), "identities, no keys"),
    Rule("Microsoft.EventGrid/systemTopics", "identity.type", ("SystemAssigned",), "events come by identity"),
    Rule(_EVENTS, "properties.deliveryWithResourceIdentity.identity.type", ("SystemAssigned",), "no key"),
    Rule(_EVENTS, "properties.deadLetterWithResourceIdentity.identity.type", ("SystemAssigned",), "no loss"),
    Rule(_EVENTS, "properties.filter.includedEventTypes", ("Microsoft.Storage.BlobCreated",), "drops alone"),
    Rule(_EVENTS, "properties.eventDeliverySchema", ("CloudEventSchemaV1_0",), "one form of events"),
    Rule(_BATCH, "properties.allowedAuthenticationModes", ("AAD",), "identities, no keys"),
    Rule(_BATCH, "properties.publicNetworkAccess", ("Disabled", "Disabled : Enabled"), "can be closed"),
    Rule(f"{_BATCH}/pools", "identity.type", ("UserAssigned",), "nodes write records with an identity"),
    Rule(f"{_BATCH}/pools", _ADDRESS, ("NoPublicIPAddresses",), "in a network, nodes cannot be reached"),
)  # fmt: skip


def weaknesses(templates: Mapping[str, Template]) -> list[Finding]:
    """The weaknesses of the templates, each with file and line."""
    return [weakness for one in templates.values() for weakness in _weaknesses(one)]


def _weaknesses(template: Template) -> Iterator[Finding]:
    def finding(value: Value, text: str) -> Finding:
        return Finding(template.file, value.line, value.column, "POLICY", text)

    for resource in template.resources:
        if resource.is_existing:
            continue
        yield from _by_rules(resource, finding)
        yield from _granted(resource, template, finding)
        yield from _made_role(resource, finding)
        if resource.type.partition("@")[0] == f"{_VAULT}/secrets":
            text = f"{resource.symbol}: a template would overwrite the secret in each deployment"
            yield finding(resource.body, text)
    bodies = [(resource.symbol, resource.body) for resource in template.resources]
    for symbol, body in (*bodies, *template.variables.items()):
        for name, value in _values(body, symbol):
            if match := _FORBIDDEN.search(value.text):
                yield finding(value, f"{name} calls {match[1]}: keys, or another value in each deployment")
            if _KEY.search(value.text):
                yield finding(value, f"{name} holds a key")
            for role in set(_ROLE.findall(value.text)) - set(ROLES):
                yield finding(value, f"{name}: {role} is no role that a template may grant")


def _by_rules(resource: Resource, finding: Callable[[Value, str], Finding]) -> Iterator[Finding]:
    kind = resource.type.partition("@")[0]
    for rule in RULES:
        if rule.type != kind:
            continue
        value: Value | None = resource.body
        for step in rule.path.split("."):
            value = _step(value, step) if value is not None else None
        if value is None or _text(value) not in rule.allowed:
            allowed = " or ".join(rule.allowed)
            yield finding(value or resource.body, f"{resource.symbol}: {rule.path} is {allowed} ({rule.why})")


def _text(value: Value) -> str:
    """What a value can be: of a list each item, of a choice both."""
    return (" : " if value.kind == "choice" else ", ").join(map(_text, value.items)) or value.text


def _step(value: Value, name: str) -> Value | None:
    """A member; of a choice, that of the first object which has it."""
    options = value.items if value.kind == "choice" else (value,)
    return next((one.members[name] for one in options if name in one.members), None)


def _granted(
    resource: Resource, template: Template, finding: Callable[[Value, str], Finding]
) -> Iterator[Finding]:
    """A role is granted on one resource, to whom GRANTS names, and no other one."""
    if resource.type.partition("@")[0] != _GRANT:
        return
    properties = resource.body.members.get("properties", resource.body)
    scope, holder = resource.body.members.get("scope"), properties.members.get("principalId")
    target = {one.symbol: one for one in template.resources}.get(scope.text if scope else "")
    if scope is None or target is None or holder is None:
        yield finding(scope or resource.body, f"{resource.symbol}: no resource of this file is its scope")
        return
    name = target.body.members.get("name")
    place = target.type.partition("@")[0].rpartition("/")[2]
    place += f" {name.text}" if name and name.kind == "text" else ""
    allowed = GRANTS.get((holder.text, place), frozenset())
    for role in _roles(resource, properties, template):
        if role not in allowed:
            yield finding(scope, f"{resource.symbol}: {holder.text} may not have {role} on {place}")


def _roles(resource: Resource, properties: Value, template: Template) -> Iterator[str]:
    """The names of the roles of a grant; what is no known role is returned as it is written."""
    text = properties.members.get("roleDefinitionId", resource.body).text
    match = _BUILT_IN.fullmatch(text)
    if match is None:
        yield SCALER if text == "scalerRoleId" else f"the role {text!r}"
        return
    symbols = [match[1]]
    if resource.loop is not None and resource.loop.variable == match[1]:
        symbols = [one.text for one in resource.loop.items.items]
    for symbol in symbols:
        variable = template.variables.get(symbol)
        yield ROLES.get(variable.text if variable else "", f"the role {symbol!r}")


def _made_role(resource: Resource, finding: Callable[[Value, str], Finding]) -> Iterator[Finding]:
    """The role that a template makes allows one action, on the subscription at most."""
    if resource.type.partition("@")[0] != _CUSTOM:
        return
    properties = resource.body.members.get("properties", resource.body)
    permissions = properties.members.get("permissions", properties)
    (first, *others) = permissions.items or (permissions,)
    actions = first.members.get("actions")
    if others or set(first.members) != {"actions"} or actions is None or _text(actions) != SCALES:
        yield finding(permissions, f"{resource.symbol}: a role of ours allows {SCALES} and nothing else")
    scopes = properties.members.get("assignableScopes", properties)
    if [one.text for one in scopes.items] != [_SUBSCRIPTION]:
        yield finding(scopes, f"{resource.symbol}: it can be granted in {_SUBSCRIPTION} alone")


def _values(value: Value, name: str) -> Iterator[tuple[str, Value]]:
    """Each value within another one that is no object or list, with its path."""
    if not value.members and not value.items:
        yield name, value
    for key, inner in value.members.items():
        yield from _values(inner, f"{name}.{key}")
    for inner in value.items:
        yield from _values(inner, f"{name}[]")
