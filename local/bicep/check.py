"""Checks resources against Azure's types, and names against declarations, with the compiler's codes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath

from local.bicep.kinds import kind_of, kinds
from local.bicep.names import names, parents
from local.bicep.template import Finding, Module, Resource, Template, Value
from local.bicep.types import PLAIN, Member, ObjectType, Types

#: Members of every resource that are in no type.
_OF_BICEP = frozenset({"parent", "scope", "dependsOn", "type", "apiVersion", "id"})


class Report:
    """The findings, and the resource types whose schema is missing."""

    def __init__(self) -> None:
        self.findings: list[Finding] = []
        self.untyped: set[str] = set()


def check(templates: Mapping[str, Template], types: Types) -> Report:
    """Check the files of a folder, by their names."""
    report = Report()
    for name, template in templates.items():
        report.findings += template.findings
        for resource in template.resources:
            report.findings += _Checker(template, templates, types, report).resource(resource)
        for module in template.modules:
            referenced = templates.get(str(PurePosixPath(name).parent / module.path))
            report.findings += _module(template.file, module, referenced)
        report.findings += names(template, templates)
        report.findings += parents(template)
        report.findings += kinds(template, templates)
        report.findings += _reads(template, types)
    report.findings.sort(key=lambda one: (one.file, one.line, one.column))
    return report


def _module(file: str, module: Module, referenced: Template | None) -> Iterator[Finding]:
    line, column = module.body.line, module.body.column
    if referenced is None:
        yield Finding(file, line, column, "BCP091", f"There is no file {module.path}.")
        return
    params = module.body.members.get("params")
    members = params.members if params is not None else {}
    for name, value in members.items():
        if name not in referenced.parameters:
            text = f'{module.path} has no parameter "{name}".'
            yield Finding(file, value.line, value.column, "BCP037", text)
    lacks = [name for name, default in referenced.parameters.items() if not default and name not in members]
    if lacks:
        yield Finding(file, line, column, "BCP035", f"{module.path} needs {', '.join(lacks)}.")


def _reads(template: Template, types: Types) -> Iterator[Finding]:
    """Reads of members that a resource's type does not have: the deployment would fail in Azure."""
    kinds = {one.symbol: one.type.partition("@")[0] for one in template.resources if one.loop is None}
    for use in template.reads:
        symbol, *path = use.symbol.split(".")
        schema = types.get(kinds[symbol]) if symbol in kinds else None
        object_ = schema.body if schema is not None else None
        for name in path:
            if schema is None or object_ is None or object_.discriminator or object_.others:
                break
            member = object_.members.get(name)
            if member is None:
                if object_ is not schema.body or name not in _OF_BICEP:
                    text = f'"{use.symbol}": {object_.name} has no member "{name}".'
                    yield Finding(template.file, use.line, use.column, "BCP053", text)
                break
            object_ = schema.objects.get(member.type)


class _Checker:
    """One resource against its type."""

    def __init__(
        self, template: Template, templates: Mapping[str, Template], types: Types, report: Report
    ) -> None:
        self._template, self._templates, self._file = template, templates, template.file
        self._types, self._report = types, report
        self._objects: Mapping[str, ObjectType] = {}

    def resource(self, resource: Resource) -> Iterator[Finding]:
        kind, _, version = resource.type.partition("@")
        schema = self._types.get(kind)
        if schema is None:
            if not resource.is_existing:
                self._report.untyped.add(resource.type)
            return
        newest = schema.name.partition("@")[2]
        if version != newest:
            text = f"{kind} has no types of version {version!r} here; they are of {newest}."
            yield self._finding(resource.body, "BCP081", text)
            return
        if not resource.is_existing:
            self._objects = schema.objects
            yield from self._object(resource.body, schema.body, resource.symbol, _OF_BICEP)

    def _value(self, value: Value, type_: str, where: str) -> Iterator[Finding]:
        if value.kind == "choice":
            for option in value.items:
                yield from self._value(option, type_, where)
        elif value.kind == "code" and value.text.startswith("'"):
            if set(type_.split(" | ")) <= {"int", "bool"}:
                yield self._wrong(value, where, type_)
        elif value.kind in ("code", "union", "null"):
            yield from self._expression(value, type_, where)
        elif type_.endswith("[]"):
            yield from self._array(value, type_.removesuffix("[]"), where)
        elif (object_ := self._objects.get(type_)) is not None:
            if value.kind == "object":
                yield from self._object(value, object_, where, frozenset())
            else:
                yield self._wrong(value, where, "an object")
        else:
            yield from self._plain(value, [word.strip() for word in type_.split("|")], where)

    def _expression(self, value: Value, type_: str, where: str) -> Iterator[Finding]:
        """An expression has the right type, if its type can be inferred here."""
        kind = kind_of(value, self._template, self._templates)
        words = {word.strip() for word in type_.split("|")}
        if not kind or words & {"any", "Any", "object"} or kind == "object":
            return
        if type_.endswith("[]"):
            right = {"array"}
        elif words & set(self._objects):
            right = {"object"}
        else:
            right = {word if word in PLAIN else "string" for word in words}
        if kind not in right:
            yield self._finding(value, "BCP036", f'"{where}" is {" or ".join(sorted(right))}, not {kind}.')

    def _array(self, value: Value, of_one: str, where: str) -> Iterator[Finding]:
        if value.kind != "array":
            yield self._wrong(value, where, "an array")
            return
        for item in value.items:
            yield from self._value(item, of_one.strip("()"), f"{where}[]")

    def _plain(self, value: Value, words: list[str], where: str) -> Iterator[Finding]:
        """A value of a plain type, or one of several texts; `string` among the texts allows any text."""
        if not {"any", "Any", "object"}.isdisjoint(words):
            return
        allowed = [kind for word in words for kind in PLAIN.get(word, ())]
        texts = [word for word in words if word not in PLAIN]
        if value.kind in allowed:
            return
        if value.kind == "text" and texts:
            if value.text not in texts:
                text = f'"{where}" is one of {", ".join(texts)}, not "{value.text}".'
                yield self._finding(value, "BCP036", text)
        else:
            yield self._wrong(value, where, " or ".join(allowed) or "one of " + ", ".join(texts))

    def _object(
        self, value: Value, type_: ObjectType, where: str, besides: Iterable[str]
    ) -> Iterator[Finding]:
        if value.kind != "object":
            if value.kind not in ("code", "choice", "null"):
                yield self._wrong(value, where, "an object")
            return
        members = dict(type_.members)
        if type_.discriminator:
            word = value.members.get(type_.discriminator)
            if word is None:
                text = f'"{where}" lacks "{type_.discriminator}", which says what it is.'
                yield self._finding(value, "BCP078", text)
                return
            if word.kind != "text":
                return
            variant = type_.variants.get(word.text)
            if variant is None:
                words = ", ".join(sorted(type_.variants))
                yield self._finding(word, "BCP036", f'"{where}" is one of {words}, not "{word.text}".')
                return
            members.update(variant.members)
            type_ = variant
        yield from self._members(value, type_, members, where, besides)

    def _members(
        self,
        value: Value,
        type_: ObjectType,
        members: Mapping[str, Member],
        where: str,
        besides: Iterable[str],
    ) -> Iterator[Finding]:
        for name, inner in value.members.items():
            member = members.get(name)
            if name in besides:
                continue
            if member is not None and member.is_read_only:
                yield self._finding(inner, "BCP073", f'"{where}.{name}" is read-only.')
            elif member is not None:
                yield from self._value(inner, member.type, f"{where}.{name}")
            elif type_.others:
                yield from self._value(inner, type_.others, f"{where}.{name}")
            else:
                near = [one for one in members if one.lower() == name.lower()]
                hint = near or sorted(one for one, its in members.items() if not its.is_read_only)
                text = f'"{where}" has no member "{name}"; it has {", ".join(hint[:12])}.'
                yield self._finding(inner, "BCP037", text)
        required = (name for name, its in members.items() if its.is_required and not its.is_read_only)
        lacks = [name for name in required if name not in value.members and name not in besides]
        if lacks:
            yield self._finding(value, "BCP035", f'"{where}" needs {", ".join(lacks)}.')

    def _wrong(self, value: Value, where: str, kind: str) -> Finding:
        return self._finding(
            value, "BCP036", f'"{where}" is {kind}, not {value.kind} {value.text[:40]}'.rstrip() + "."
        )

    def _finding(self, value: Value, code: str, text: str) -> Finding:
        return Finding(self._file, value.line, value.column, code, text)
