"""Reads a Bicep file, by the grammar of tree-sitter-bicep."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from tree_sitter import Language, Node, Parser

from local.bicep.template import Finding, Kind, Loop, Module, Resource, Template, Use, Value


@cache
def _parser() -> Parser:
    import tree_sitter_bicep

    return Parser(Language(tree_sitter_bicep.language()))


def read(path: Path, shown: str = "") -> Template:
    """The declarations of a file; syntax errors are among its findings."""
    template = Template(shown or str(path), beside=frozenset(one.name for one in path.parent.iterdir()))
    root = _parser().parse(path.read_bytes()).root_node
    for node in _walk(root):
        if node.type == "ERROR" or node.is_missing:
            text = f"this is no Bicep: {_text(node)[:50]!r}"
            template.findings.append(Finding(template.file, *_place(node), "SYNTAX", text))
    decorators: Node | None = None
    for node in _parts(root):
        _declare(template, node)
        if decorators is not None and node.type == "parameter_declaration":
            template.limits[_text(_parts(node)[0])] = dict(_limits(decorators))
        decorators = node if node.type == "decorators" else None
    template.uses = [use for node in _parts(root) for use in _uses(node)]
    for node in _walk(root):
        _note(template, node)
    return template


def _note(template: Template, node: Node) -> None:
    """Record what a node reads: members, functions, types, files."""
    line, column = _place(node)
    if node.type in ("member_expression", "resource_expression"):
        template.reads.append(Use(_text(node).replace("!", ""), line, column))
    elif node.type == "call_expression":
        name = _text(_parts(node)[0])
        template.calls.append(Use(name, line, column))
        if not _parts(_parts(node)[1]):
            template.bare_calls.append(template.calls[-1])
        if name.startswith("load"):
            template.files.append(Use(_text(_parts(node)[1]).strip("()'"), line, column))
    elif node.type == "object":
        template.findings.extend(_duplicates(template, node))
    elif node.type == "type":
        template.types.append(Use(_text(node), line, column))


def _declare(template: Template, node: Node) -> None:
    children = _parts(node)
    if node.type == "target_scope_assignment":
        template.target_scope = _value(children[-1])
    if not children or not node.type.endswith("_declaration"):
        return
    symbol = _text(children[0])
    is_output = node.type == "output_declaration"
    template.declared.append(Use(f"output {symbol}" if is_output else symbol, *_place(node)))
    if not is_output:
        template.symbols.add(symbol)
    template.symbols.update(_inner_variables(node))
    if node.type == "parameter_declaration":
        template.parameters[symbol] = _value(children[2]) if len(children) > 2 else None
        template.parameter_types[symbol] = _text(children[1])
    elif node.type == "variable_declaration":
        template.variables[symbol] = _value(children[-1])
    elif node.type == "output_declaration":
        template.outputs[symbol] = _value(children[-1])
        template.output_types[symbol] = _text(children[1])
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
    template.resources.append(
        Resource(symbol, name, _value(body), is_existing, bool(parent), loop, condition)
    )
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


def _limits(decorators: Node) -> Iterator[tuple[str, Value]]:
    """The decorators of a parameter that have one argument, by name."""
    for decorator in _parts(decorators):
        call = _parts(decorator)[0]
        if call.type == "call_expression" and len(arguments := _parts(_parts(call)[1])) == 1:
            yield _text(_parts(call)[0]), _value(arguments[0])


def _duplicates(template: Template, node: Node) -> Iterator[Finding]:
    """Duplicate members of an object, which the compiler refuses; here one would hide the other."""
    names: set[str] = set()
    for child in _parts(node):
        name = _text(_parts(child)[0]).strip("'") if child.type == "object_property" else ""
        if name and name in names:
            yield Finding(template.file, *_place(child), "BCP025", f'"{name}" stands several times.')
        names.add(name)


def _uses(node: Node) -> Iterator[Use]:
    """The names that an expression reads: `a` in `a::b`, `a.b` and `f(a)`."""
    children = _parts(node)
    if node.type == "identifier":
        yield Use(_text(node), *_place(node))
    elif node.type in ("resource_expression", "member_expression"):
        yield from _uses(children[0])
    elif node.type not in ("type", "decorators"):
        is_named = node.type.endswith("_declaration") or node.type in ("for_statement", "call_expression")
        is_named = is_named or (node.type == "object_property" and children[0].type == "identifier")
        for child in children[1:] if is_named else children:
            yield from _uses(child)


def _inner_variables(node: Node) -> Iterator[str]:
    """The variables of loops and lambdas: one name, or several in parentheses."""
    for inner in _walk(node):
        if inner.type in ("for_statement", "lambda_expression"):
            first = _parts(inner)[0]
            names = [first] if first.type == "identifier" else _parts(first)
            yield from map(_text, names)


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
