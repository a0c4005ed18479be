"""Reads a Bicep file, by the grammar of tree-sitter-bicep."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from tree_sitter import Language, Node, Parser

from local.bicep.template import Finding, Kind, Loop, Module, Resource, Template, Value


@cache
def _parser() -> Parser:
    import tree_sitter_bicep

    return Parser(Language(tree_sitter_bicep.language()))


def read(path: Path, shown: str = "") -> Template:
    """The declarations of a file; syntax errors are among its findings."""
    template = Template(shown or str(path))
    root = _parser().parse(path.read_bytes()).root_node
    for node in _walk(root):
        if node.type == "ERROR" or node.is_missing:
            text = f"this is not Bicep: {_text(node)[:50]!r}"
            template.findings.append(Finding(template.file, *_place(node), "SYNTAX", text))
        elif node.type == "object":
            template.findings.extend(_duplicates(template, node))
    for node in _parts(root):
        _declare(template, node)
    return template


def _declare(template: Template, node: Node) -> None:
    children = _parts(node)
    if not children or not node.type.endswith("_declaration"):
        return
    symbol = _text(children[0])
    if node.type == "parameter_declaration":
        template.parameters[symbol] = _value(children[2]) if len(children) > 2 else None
    elif node.type == "variable_declaration":
        template.variables[symbol] = _value(children[-1])
    elif node.type == "output_declaration":
        template.outputs[symbol] = _value(children[-1])
    elif node.type == "module_declaration":
        body, condition = _value(children[-1]), _condition(children[-1])
        template.modules.append(Module(symbol, _literal(children[1]) or "", body, condition))
    elif node.type == "resource_declaration":
        _declare_resource(template, node, "")


def _declare_resource(template: Template, node: Node, parent: str) -> None:
    children = _parts(node)
    symbol, name = _text(children[0]), _literal(children[1]) or ""
    if parent:
        # A nested resource names the last part of its type, and has its parent's version by default.
        kind, _, version = parent.partition("@")
        own, _, newer = name.partition("@")
        name = f"{kind}/{own}@{newer or version}"
    body = _body(children[-1])
    is_existing = any(_text(child) == "existing" for child in node.children)
    loop, condition = _loop(children[-1]), _condition(children[-1])
    template.resources.append(Resource(symbol, name, _value(body), is_existing, loop, condition))
    for child in _parts(body):
        for inner in _parts(child):
            if inner.type == "resource_declaration":
                _declare_resource(template, inner, name)


def _body(node: Node) -> Node:
    """The object of a resource, inside its condition and its loop."""
    while node.type in ("if_statement", "for_statement"):
        node = _parts(node)[-1]
    return node


def _loop(node: Node) -> Loop | None:
    """The loop, or None. Of two variables, the first is the item."""
    while node.type in ("if_statement", "for_statement"):
        first = _parts(node)[0]
        if node.type == "for_statement":
            variable = first if first.type == "identifier" else _parts(first)[0]
            return Loop(_text(variable), _value(_parts(node)[1]))
        node = _parts(node)[-1]
    return None


def _condition(node: Node) -> str:
    """The conditions of a resource or module, including those inside its loop."""
    conditions = []
    while node.type in ("if_statement", "for_statement"):
        if node.type == "if_statement":
            conditions.append(_bare(_parts(node)[0]))
        node = _parts(node)[-1]
    return " && ".join(conditions)


def _bare(node: Node) -> str:
    """An expression without its outer parentheses, on one line."""
    while node.type == "parenthesized_expression":
        node = _parts(node)[0]
    return " ".join(_text(node).split())


def _value(node: Node) -> Value:
    line, column = _place(node)
    if node.type in ("if_statement", "for_statement"):
        inner = _value(_parts(node)[-1])
        return inner if node.type == "if_statement" else Value("array", line, column, items=(inner,))
    if node.type == "parenthesized_expression":
        return _value(_parts(node)[0])
    if node.type == "string" and (literal := _literal(node)) is not None:
        return Value("text", line, column, literal)
    if node.type == "object":
        return Value("object", line, column, members=dict(_members(node)))
    if node.type == "array":
        return Value("array", line, column, items=tuple(map(_value, _parts(node))))
    if node.type == "ternary_expression":
        condition, *options = _parts(node)
        return Value("choice", line, column, _bare(condition), tuple(map(_value, options)))
    if node.type == "call_expression" and (called := _called(node)) is not None:
        return called
    kinds: Mapping[str, Kind] = {"boolean": "bool", "number": "int", "null": "null"}
    return Value(kinds.get(node.type, "code"), line, column, _text(node))


def _called(node: Node) -> Value | None:
    """The value of a call of `any` or `union`; None for another function."""
    name, arguments = _parts(node)
    values = [_value(one) for one in _parts(arguments)]
    if _text(name) == "any" and len(values) == 1:
        return values[0]
    if _text(name) == "union":
        return Value("union", *_place(node), _text(node), tuple(values))
    return None


def _members(node: Node) -> Iterator[tuple[str, Value]]:
    """An object's members by name; an interpolated name is its source text."""
    for child in _parts(node):
        parts = _parts(child)
        if child.type == "object_property" and len(parts) == 2:
            yield _literal(parts[0]) or _text(parts[0]), _value(parts[1])


def _duplicates(template: Template, node: Node) -> Iterator[Finding]:
    """Duplicate members of an object, which the compiler refuses; here one would hide the other."""
    names: set[str] = set()
    for child in _parts(node):
        name = _text(_parts(child)[0]).strip("'") if child.type == "object_property" else ""
        if name and name in names:
            yield Finding(template.file, *_place(child), "BCP025", f'"{name}" stands several times.')
        names.add(name)


def _walk(node: Node) -> Iterator[Node]:
    """A node and all nodes inside it, in the order of the text."""
    waiting = [node]
    while waiting:
        yield (one := waiting.pop())
        waiting.extend(reversed(one.children))


def _literal(node: Node) -> str | None:
    """A text without interpolations; None for anything else."""
    if node.type != "string" or any(child.type != "string_content" for child in _parts(node)):
        return None
    return "".join(_text(child) for child in _parts(node))


def _parts(node: Node) -> list[Node]:
    """A node's children without comments, which may be anywhere."""
    return [child for child in node.named_children if child.type != "comment"]


def _text(node: Node) -> str:
    return (node.text or b"").decode()


def _place(node: Node) -> tuple[int, int]:
    """Line and column of a node's first character, counted from 1."""
    return node.start_point[0] + 1, node.start_point[1] + 1
