"""Resolves a value of a template: replaces variables, as a weakness may be in one of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from local.bicep.template import Template, Value

_NAME = re.compile(r"\w+")
_PATH = re.compile(r"\w+(?:\.\w+)+|\w+(?:\['\w+'\])+")
#: A name that is not a member of another one.
_USE = re.compile(r"(?<![\w.:'@/-])([A-Za-z_]\w*)(?![\w(:'/-])")
#: Variables of variables; a circle, which the compiler refuses, ends here.
_DEEPEST = 12


def resolved(value: Value, template: Template, depth: int = 0) -> Value:
    """The value with variables replaced, and unions of objects merged into one."""
    if depth > _DEEPEST:
        return value
    if value.kind == "code":
        return _code(value, template, depth)
    items = tuple(resolved(one, template, depth) for one in value.items)
    members = {name: resolved(one, template, depth) for name, one in value.members.items()}
    text = substituted(value.text, template) if value.kind == "choice" else value.text
    if value.kind == "union" and all(one.kind == "object" for one in items):
        return _merged(items, value)
    return replace(value, text=text, items=items, members=members)


def _code(value: Value, template: Template, depth: int) -> Value:
    if _NAME.fullmatch(value.text) and value.text in template.variables:
        return resolved(template.variables[value.text], template, depth + 1)
    if _PATH.fullmatch(value.text):
        name, *path = re.findall(r"\w+", value.text)
        target = template.variables.get(name)
        while target is not None and path and target.kind == "object":
            target = target.members.get(path.pop(0))
        if target is not None and not path:
            return resolved(target, template, depth + 1)
    return replace(value, text=substituted(value.text, template))


def substituted(text: str, template: Template) -> str:
    """An expression with variables replaced by their own expressions."""

    def put(match: re.Match[str]) -> str:
        variable = template.variables.get(match[1])
        return variable.text if variable is not None and variable.kind == "code" else match[0]

    for _ in range(_DEEPEST):
        text, earlier = _USE.sub(put, text), text
        if text == earlier:
            break
    return text


def _merged(items: tuple[Value, ...], union: Value) -> Value:
    """As `union` does: the last one wins, and objects inside are merged, too."""
    members: dict[str, Value] = {}
    for item in items:
        for name, value in item.members.items():
            old = members.get(name)
            is_both = old is not None and old.kind == value.kind == "object"
            members[name] = _merged((old, value), value) if old is not None and is_both else value
    return Value("object", union.line, union.column, members=members)


def shown(value: Value | None) -> str:
    """A value as rules write it; "" without one."""
    if value is None:
        return ""
    if value.kind == "choice":
        return f"{value.text} ? {' : '.join(shown(one) or 'absent' for one in value.items)}"
    if value.kind == "object":
        return "{" + ", ".join(value.members) + "}"
    empty = "''" if value.kind == "text" else value.kind
    return ", ".join(map(shown, value.items)) or value.text or empty


def member_at(value: Value | None, path: str) -> Value | None:
    """The member at a path; for a choice, that of each option; for a list, that of each item."""
    for step in path.split("."):
        value = _step(value, step)
    return value


def _step(value: Value | None, name: str) -> Value | None:
    if value is None:
        return None
    if value.kind in ("choice", "array"):
        inner = [_step(one, name) for one in value.items]
        if not any(inner):
            return None
        absent = Value("null", value.line, value.column, "absent")
        return replace(value, items=tuple(one or absent for one in inner))
    if value.kind == "union":
        return next((target for one in reversed(value.items) if (target := _step(one, name))), None)
    return value.members.get(name)


def options(value: Value) -> Iterator[Value]:
    """A value, or everything inside it if it is a choice, a list or a union."""
    if value.kind in ("choice", "array", "union"):
        for one in value.items:
            yield from options(one)
    else:
        yield value
