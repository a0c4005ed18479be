"""Infers the types of simple expressions, and checks them; the rest is left to the compiler."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from local.bicep.template import Finding, Template, Value

_WORDS: Mapping[str, str] = {"text": "string", "union": "object"}
_RETURNS: Mapping[str, str] = {
    "string": "concat extensionResourceId format guid join loadTextContent padLeft replace resourceId string"
    " subscriptionResourceId substring tenantResourceId toLower toUpper trim uniqueString uri uriComponent",
    "bool": "bool contains empty endsWith startsWith",
    "int": "indexOf int lastIndexOf length",
    "array": "array createArray filter flatten map objectKeys range split",
    "object": "mapValues toObject",
}
_RETURN_OF = {name: kind for kind, words in _RETURNS.items() for name in words.split()}
_CALL = re.compile(r"(\w+)\([^()]*\)")
_OUTPUT = re.compile(r"(\w+)!?\.outputs\.(\w+)")
_OF_RESOURCE = re.compile(r"(\w+)\.(?:id|name|type)")
_DEEPEST = 12
#: The members of what functions that describe a deployment return.
_MEMBERS: Mapping[str, str] = {
    "tenant": "country countryCode displayName tenantId",
    "subscription": "displayName id subscriptionId tenantId",
    "resourceGroup": "id location managedBy name properties tags type",
    "deployer": "objectId tenantId userPrincipalName",
    "environment": "activeDirectoryDataLake authentication batch gallery graph graphAudience media name"
    " portal resourceManager sqlManagement suffixes vmImageAliasDoc",
    "environment.suffixes": "acrLoginServer azureDatalakeAnalyticsCatalogAndJob azureDatalakeStoreFileSystem"
    " azureFrontDoorEndpointSuffix keyvaultDns sqlServerHostname storage",
}
_DESCRIBED = re.compile(r"(tenant|subscription|resourceGroup|deployer|environment)\(\)((?:\.\w+)+)")
_SCOPES = ("resourceGroup", "subscription", "managementGroup", "tenant")
_GROUP = "Microsoft.Resources/resourceGroups"
_OF_EXISTING = frozenset({"name", "parent", "scope"})


def kind_of(value: Value, template: Template, templates: Mapping[str, Template], depth: int = 0) -> str:
    """string, int, bool, object, array, or resource; "" if it is unknown."""
    if depth > _DEEPEST or value.kind == "null":
        return ""
    if value.kind == "choice":
        kinds = {kind_of(one, template, templates, depth + 1) for one in value.items if one.kind != "null"}
        return kinds.pop() if len(kinds) == 1 else ""
    if value.kind != "code":
        return _WORDS.get(value.kind, value.kind)
    text = value.text
    if text.startswith("'"):
        return "string"
    if (variable := template.variables.get(text)) is not None:
        return kind_of(variable, template, templates, depth + 1)
    if text in template.parameters:
        return _declared(template.parameter_types[text])
    if any(one.symbol == text for one in template.resources):
        return "resource"
    if (call := _CALL.fullmatch(text)) is not None:
        return _RETURN_OF.get(call[1], "")
    if (output := _OUTPUT.fullmatch(text)) is not None:
        path = next((one.path for one in template.modules if one.symbol == output[1]), "")
        return _declared(templates[path].output_types.get(output[2], "")) if path in templates else ""
    of_resource = _OF_RESOURCE.fullmatch(text)
    symbols = {one.symbol for one in template.resources}
    return "string" if of_resource is not None and of_resource[1] in symbols else ""


def _declared(type_: str) -> str:
    """A declared type without its item type and its `?`; "" for a user-defined type."""
    bare = type_.removesuffix("?")
    if bare.endswith("[]"):
        return "array"
    return bare if bare in ("string", "int", "bool", "object", "array") else ""


def kinds(template: Template, templates: Mapping[str, Template]) -> Iterator[Finding]:
    """Values of the wrong type, defaults out of bounds, unknown scopes and members."""

    def finding(value: Value, code: str, text: str) -> Finding:
        return Finding(template.file, value.line, value.column, code, text)

    for name, value in template.outputs.items():
        declared, actual = _declared(template.output_types.get(name, "")), kind_of(value, template, templates)
        if declared and actual and declared != actual:
            yield finding(value, "BCP033", f'The output "{name}" is {declared}, not {actual}.')
    for module in template.modules:
        referenced, params = templates.get(module.path), module.body.members.get("params")
        for name, value in (params.members if params and referenced else {}).items():
            declared = _declared(referenced.parameter_types.get(name, "")) if referenced else ""
            actual = kind_of(value, template, templates)
            if declared and actual and declared != actual:
                yield finding(value, "BCP036", f'"{module.symbol}.{name}" is {declared}, not {actual}.')
        for name in sorted(set(module.body.members) - {"name", "scope", "params", "dependsOn"}):
            text = f'A module has no member "{name}".'
            yield finding(module.body.members[name], "BCP037", text)
    yield from _bounds(template)
    yield from _scope(template)
    yield from _described(template)
    for resource in template.resources:
        items = resource.loop.items if resource.loop is not None else None
        if items is not None and kind_of(items, template, templates) not in ("", "array"):
            yield finding(items, "BCP138", f'"{resource.symbol}" is made for each of what is no list.')
        for name in sorted(set(resource.body.members) - _OF_EXISTING) if resource.is_existing else ():
            text = f'"{resource.symbol}" exists: it has no "{name}" here.'
            yield finding(resource.body.members[name], "BCP173", text)


def _bounds(template: Template) -> Iterator[Finding]:
    """Defaults that decorators do not allow."""
    for name, limits in template.limits.items():
        default = template.parameters.get(name)
        if default is None or default.kind not in ("text", "int"):
            continue
        allowed = limits.get("allowed")
        number = int(default.text) if default.kind == "int" else len(default.text)
        least, most = (
            [int(one.text) for key, one in limits.items() if key in keys and one.kind == "int"]
            for keys in (("minValue", "minLength"), ("maxValue", "maxLength"))
        )
        is_out = allowed is not None and default.text not in {one.text for one in allowed.items}
        if is_out or any(number < one for one in least) or any(number > one for one in most):
            text = f'The default of "{name}" is none that its decorators allow.'
            yield Finding(template.file, default.line, default.column, "BCP033", text)


def _scope(template: Template) -> Iterator[Finding]:
    scope = template.target_scope
    if scope is not None and scope.text not in _SCOPES:
        text = f'A template has the scope {", ".join(_SCOPES)}, not "{scope.text}".'
        yield Finding(template.file, scope.line, scope.column, "BCP033", text)
    for resource in template.resources:
        is_group = resource.type.partition("@")[0] == _GROUP
        if is_group and not resource.is_existing and (scope is None or scope.text != "subscription"):
            text = f'"{resource.symbol}" is made in a subscription: targetScope says so.'
            yield Finding(template.file, resource.body.line, resource.body.column, "BCP135", text)


def _described(template: Template) -> Iterator[Finding]:
    """Reads of members that a function's result does not have."""
    for use in template.reads:
        if (match := _DESCRIBED.fullmatch(use.symbol)) is None:
            continue
        place = match[1]
        for name in match[2].split(".")[1:]:
            if place in _MEMBERS and name not in _MEMBERS[place].split():
                text = f'"{place}" has no member "{name}".'
                yield Finding(template.file, use.line, use.column, "BCP053", text)
            place = f"{place}.{name}"
