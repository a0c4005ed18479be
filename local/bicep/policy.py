"""Finds what our templates must not do: open a door, use a key, change a value in each deployment."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from ipaddress import IPv4Network
from itertools import combinations

from local.bicep.app_settings import led_astray
from local.bicep.closed import opened
from local.bicep.modules import CONDITIONS, DEFAULTS, OUTPUTS, PARAMS, VARIABLES
from local.bicep.resolve import member_at, options, resolved, shown, substituted
from local.bicep.rules import GRANTS, ROLES, RULES
from local.bicep.service_rules import SERVICE_RULES
from local.bicep.template import Finding, Module, Resource, Template, Value

_ROLE = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
#: Functions that return a key, or a different value each time.
_FORBIDDEN = re.compile(
    r"\b(list|list\w*Keys?|listAccountSas|listServiceSas|utcNow|newGuid|deployment|getSecret)\s*\(",
    re.IGNORECASE,
)
_BUILT_IN = re.compile(r"subscriptionResourceId\('Microsoft\.Authorization/roleDefinitions', (\w+)\)")
_VAULT_SECRETS = "Microsoft.KeyVault/vaults/secrets"
_NETWORK = "Microsoft.Network/virtualNetworks"
_GRANT = "Microsoft.Authorization/roleAssignments"
_KEY = re.compile(r"AccountKey=|SharedAccessKey|InstrumentationKey=|sig=|whsec_")


#: Names of members and parameters that hold a secret; `key` alone is a member of event filters.
_SECRET = re.compile(r"password$|secrets?$|(account|sas|seal|shared|_)keys?$|token_$", re.IGNORECASE)
_APP = ("Microsoft.Web/sites", "Microsoft.Web/sites/basicPublishingCredentialsPolicies")
_LITERALS = re.compile(r"\b(\w+): '([^'@$]*)'")
_NOWHERE = Value("text", 1, 1)


def weaknesses(templates: Mapping[str, Template]) -> list[Finding]:
    """The weaknesses of the templates, each with file and line."""
    return [weakness for one in templates.values() for weakness in _weaknesses(one)]


def _weaknesses(template: Template) -> Iterator[Finding]:
    def finding(value: Value, text: str) -> Finding:
        return Finding(template.file, value.line, value.column, "POLICY", text)

    for declared in template.resources:
        if declared.is_existing:
            continue
        resource = replace(declared, body=resolved(declared.body, template))
        kind = resource.type.partition("@")[0]
        astray = led_astray(resource)
        yield from (finding(*one) for one in (*opened(kind, resource.symbol, resource.body), *astray))
        yield from _by_rules(resource, finding)
        yield from _granted(declared, template, finding)
        yield from _overlaps(resource, finding)
        if kind == _VAULT_SECRETS:
            text = f"{resource.symbol}: a template would overwrite the secret in each deployment"
            yield finding(resource.body, text)
    yield from _passed(template, finding)
    yield from _declared(template, finding)
    yield from _without_passwords(template, finding)
    bodies = [(resource.symbol, resource.body) for resource in template.resources]
    bodies += [(name, value) for name, value in template.parameters.items() if value]
    bodies += [(f"output {name}", value) for name, value in template.outputs.items()]
    for symbol, body in (*bodies, *template.variables.items()):
        for name, value in _values(body, symbol):
            if value.kind == "text" and value.text and _SECRET.search(name.rpartition(".")[2]):
                yield finding(value, f"{name} is a secret in a template; the vault has them")
            for member, text in _LITERALS.findall(value.text if value.kind == "code" else ""):
                if text and _SECRET.search(member):
                    yield finding(value, f"{member} is a secret in a template; the vault has them")
            if name.startswith("output ") and "ConnectionString" in value.text:
                yield finding(value, f"{name} would show a key in the deployment's history")
            if match := _FORBIDDEN.search(value.text):
                yield finding(value, f"{name} calls {match[1]}: keys, or another value in each deployment")
            if _KEY.search(value.text):
                yield finding(value, f"{name} holds a key")
            for role in set(_ROLE.findall(value.text)) - set(ROLES):
                yield finding(value, f"{name}: {role} is not a role that a template may grant")


def _passed(template: Template, finding: Callable[[Value, str], Finding]) -> Iterator[Finding]:
    """Modules' wrong arguments and scopes, and wrong conditions."""
    is_whole = any(resource.symbol == "group" for resource in template.resources)
    for module in template.modules:
        for (path, name), text in PARAMS.items():
            value = member_at(module.body, name)
            if module.path == path and shown(value and resolved(value, template)) != text:
                yield finding(value or module.body, f"{module.symbol}: {name} is {text}")
        scope = module.body.members.get("scope")
        if (scope.text if scope else "") != ("group" if is_whole else ""):
            yield finding(scope or module.body, f"{module.symbol}: its scope is the group of the deployment")
    parts: list[Module | Resource] = [*template.modules, *template.resources]
    for one in parts:
        expected = CONDITIONS.get(f"{template.file.rpartition('/')[2]} {one.symbol}", "")
        if substituted(one.condition, template) != expected:
            yield finding(one.body, f"{one.symbol}: made {f'if {expected}' if expected else 'always'}")


def _declared(template: Template, finding: Callable[[Value, str], Finding]) -> Iterator[Finding]:
    """Wrong outputs, variables and defaults, and parameters that are secrets."""
    outputs = Value("object", 1, 1, members=template.outputs)
    variables = Value("object", 1, 1, members=template.variables)
    for what, values, table in (("output", outputs, OUTPUTS), ("variable", variables, VARIABLES)):
        for (file, name), text in table.items():
            value = member_at(values, name)
            if template.file.rpartition("/")[2] == file and shown(value) != text:
                yield finding(value or _NOWHERE, f"the {what} {name} is {text}")
    for name, default in template.parameters.items():
        if _SECRET.search(name):
            yield finding(_NOWHERE, f"the parameter {name} is a secret; the vault has them")
        text = DEFAULTS.get((template.file.rpartition("/")[2], name), "")
        if shown(default) != text:
            yield finding(default or _NOWHERE, f"the default of {name} is {text or 'absent'}")


def _without_passwords(template: Template, finding: Callable[[Value, str], Finding]) -> Iterator[Finding]:
    """Apps without the policies that refuse their two passwords, which Azure accepts otherwise."""
    kinds = {
        kind: [one.body for one in template.resources if one.type.startswith(f"{kind}@")] for kind in _APP
    }
    apps, policies = kinds.values()
    names = {one.members["name"].text for one in policies if "name" in one.members}
    for app in apps:
        for name in sorted({"ftp", "scm"} - names):
            yield finding(app, f"an app needs the basicPublishingCredentialsPolicies {name}, which refuse")


def _by_rules(resource: Resource, finding: Callable[[Value, str], Finding]) -> Iterator[Finding]:
    kind = resource.type.partition("@")[0]
    for rule in (*RULES, *SERVICE_RULES):
        value = member_at(resource.body, rule.path)
        if rule.type == kind and shown(value) not in rule.allowed:
            allowed = " or ".join(one or "absent" for one in rule.allowed)
            yield finding(value or resource.body, f"{resource.symbol}: {rule.path} is {allowed} ({rule.why})")


def _granted(
    resource: Resource, template: Template, finding: Callable[[Value, str], Finding]
) -> Iterator[Finding]:
    """Grants that are not in GRANTS, or whose scope is not one resource of the file."""
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
    """The names of a grant's roles; an unknown role is returned as written."""
    text = properties.members.get("roleDefinitionId", resource.body).text
    match = _BUILT_IN.fullmatch(text)
    if match is None:
        yield f"the role {text!r}"
        return
    symbols = [match[1]]
    if resource.loop is not None and resource.loop.variable == match[1]:
        symbols = [one.text for one in resource.loop.items.items]
    for symbol in symbols:
        variable = template.variables.get(symbol)
        yield ROLES.get(variable.text if variable else "", f"the role {symbol!r}")


def _overlaps(resource: Resource, finding: Callable[[Value, str], Finding]) -> Iterator[Finding]:
    """Subnets outside of their network, or with addresses of another one, which Azure refuses."""
    if resource.type.partition("@")[0] != _NETWORK:
        return
    spaces, prefixes = (
        [one for one in options(value) if one.kind == "text"]
        for path in ("properties.addressSpace.addressPrefixes", "properties.subnets.properties.addressPrefix")
        if (value := member_at(resource.body, path)) is not None
    )
    network = IPv4Network(spaces[0].text)
    for one in prefixes:
        if not network.supernet_of(IPv4Network(one.text)):
            yield finding(one, f"{resource.symbol}: {one.text} is outside of {network}")
    for one, other in combinations(prefixes, 2):
        if IPv4Network(one.text).overlaps(IPv4Network(other.text)):
            yield finding(other, f"{resource.symbol}: {other.text} overlaps {one.text}")


def _values(value: Value, name: str) -> Iterator[tuple[str, Value]]:
    """The innermost values of a value, each with its path."""
    if not value.members and not value.items:
        yield name, value
    for key, inner in value.members.items():
        yield from _values(inner, f"{name}.{key}")
    for inner in value.items:
        yield from _values(inner, f"{name}[]")
