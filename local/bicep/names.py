"""Checks that every name of a template is declared once, and has the members that are read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from local.bicep.template import Finding, Resource, Template, Use

#: The namespaces of functions.
_NAMESPACES = frozenset({"az", "sys"})
#: The language's functions and decorators that a template here may need.
_FUNCTIONS = re.compile(
    r"any|array|base64|base64ToString|bool|concat|contains|dateTimeAdd|"
    r"dateTimeToEpoch|deployer|deployment|empty|endsWith|environment|extensionResourceId|"
    r"fail|filter|first|flatten|format|getSecret|groupBy|guid|indexOf|"
    r"int|intersection|items|join|json|last|lastIndexOf|length|list|listKeys|"
    r"loadFileAsBase64|loadJsonContent|loadTextContent|loadYamlContent|managementGroup|map|"
    r"mapValues|max|min|newGuid|objectKeys|padLeft|pickZones|providers|range|reduce|"
    r"reference|replace|resourceGroup|resourceId|shallowMerge|skip|sort|split|startsWith|"
    r"string|subscription|subscriptionResourceId|substring|take|tenant|tenantResourceId|"
    r"toLogicalZone|toLower|toObject|toUpper|trim|union|uniqueString|uri|uriComponent|"
    r"utcNow|allowed|batchSize|description|discriminator|export|maxLength|maxValue|"
    r"metadata|minLength|minValue|sealed|secure"
)
_WITHOUT_ARGUMENTS = re.compile(
    r"deployer|deployment|environment|export|managementGroup|newGuid|resourceGroup|sealed|secure|subscription|"
    r"tenant|utcNow|.*\.\w+"
)
#: Types and their kinds of values; and the kinds that only Azure evaluates.
_KINDS: Mapping[str, tuple[str, ...]] = {
    "string": ("text",),
    "int": ("int",),
    "bool": ("bool",),
    "object": ("object",),
    "array": ("array",),
}
_OF_AZURE = ("code", "choice", "union")
_TYPE = re.compile(r"(string|int|bool|object|array)(\[\])?\??")


def names(template: Template, templates: Mapping[str, Template]) -> Iterator[Finding]:
    """Undeclared names, unused ones, ones that are declared twice, and reads of missing members."""
    for use in template.uses:
        if use.symbol not in template.symbols | _NAMESPACES:
            yield _finding(
                template, use, "BCP057", f'The name "{use.symbol}" does not exist in the current context.'
            )
    used = {use.symbol for use in template.uses}
    for name in sorted((set(template.parameters) | set(template.variables)) - used):
        yield Finding(template.file, 1, 1, "no-unused", f'"{name}" is declared and never used.')
    earlier: set[str] = set()
    for use in template.declared:
        if use.symbol in earlier:
            yield _finding(template, use, "BCP028", f'"{use.symbol}" is declared several times.')
        earlier.add(use.symbol)
    yield from _calls(template)
    for use in template.types:
        if not _TYPE.fullmatch(use.symbol):
            yield _finding(template, use, "BCP302", f'"{use.symbol}" is no type.')
    for use in template.files:
        if use.symbol not in template.beside:
            yield _finding(template, use, "BCP091", f"There is no file {use.symbol}.")
    yield from _members(template, templates)
    yield from _defaults(template)


def _calls(template: Template) -> Iterator[Finding]:
    """Unknown functions and decorators, and calls without a required argument."""
    for use in template.calls:
        if "." not in use.symbol and not _FUNCTIONS.fullmatch(use.symbol):
            yield _finding(template, use, "BCP082", f'There is no function or decorator "{use.symbol}".')
    for use in template.bare_calls:
        if not _WITHOUT_ARGUMENTS.fullmatch(use.symbol):
            yield _finding(template, use, "BCP071", f'"{use.symbol}" is called without an argument.')


def _defaults(template: Template) -> Iterator[Finding]:
    """Defaults that do not have their parameter's type."""
    for name, default in template.parameters.items():
        type_ = template.parameter_types[name]
        kinds = _KINDS.get(type_, ())
        if default is not None and kinds and default.kind not in (*kinds, *_OF_AZURE):
            place = Use(name, default.line, default.column)
            yield _finding(template, place, "BCP033", f'"{name}" is {type_}, and its default is not.')


def _members(template: Template, templates: Mapping[str, Template]) -> Iterator[Finding]:
    """Reads of missing outputs, of missing members of variables, and of missing nested resources."""
    modules = {one.symbol: one.path for one in template.modules}
    inner = {one.symbol for one in template.resources if one.is_inner}
    for use in template.reads:
        symbol, *path = re.split(r"::|\.", use.symbol)
        variable = template.variables.get(symbol)
        referenced = templates.get(modules.get(symbol, "")) if path[0] == "outputs" else None
        if "::" in use.symbol and path[0] not in inner:
            yield _finding(template, use, "BCP159", f'"{symbol}" has no resource "{path[0]}" within it.')
        elif referenced is not None and len(path) > 1 and path[1] not in referenced.outputs:
            yield _finding(template, use, "BCP053", f'{modules[symbol]} has no output "{path[1]}".')
        elif variable is not None and variable.kind == "object" and path[0] not in variable.members:
            yield _finding(template, use, "BCP053", f'"{symbol}" has no member "{path[0]}".')


def parents(template: Template) -> Iterator[Finding]:
    """Child resources without a parent, or with one of the wrong type."""
    kinds = {one.symbol: _kind(one) for one in template.resources}
    loops = {one.symbol for one in template.resources if one.loop is not None}
    for resource in template.resources:
        kind, parent = _kind(resource), resource.body.members.get("parent")
        if kind.count("/") < 2 or resource.is_inner:
            continue
        place = Use(resource.symbol, resource.body.line, resource.body.column)
        if parent is None:
            yield _finding(template, place, "BCP169", f'"{resource.symbol}" needs a parent, as {kind} does.')
        elif kinds.get(symbol := parent.text.partition("[")[0]) != kind.rpartition("/")[0]:
            yield _finding(template, place, "BCP036", f'"{symbol}" is no parent of {kind}.')
        elif (symbol in loops) != ("[" in parent.text):
            yield _finding(template, place, "BCP036", f'"{parent.text}" is not one resource, and no parent.')
    for use in template.reads:
        symbol, bracket, _ = use.symbol.partition("[")
        if bracket and symbol in kinds and symbol not in loops:
            yield _finding(template, use, "BCP076", f'"{symbol}" is one resource: it has no index.')


def _kind(resource: Resource) -> str:
    return resource.type.partition("@")[0]


def _finding(template: Template, use: Use, code: str, text: str) -> Finding:
    return Finding(template.file, use.line, use.column, code, text)
