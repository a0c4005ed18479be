"""The wrong changes: what a careless edit might do to one expression or statement. Pure.

Only the bodies of functions change, and neither what is logged or asserted nor what errors say.
"""

from __future__ import annotations

import ast
import copy
import hashlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

_COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_COUNTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
_SHOWN = 100
#: Calls whose only effect is what a person reads.
_TELLS = ("log.", "ports.meter.")

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Mutant:
    """One wrong change. `name` holds while the function around it stays as it is, wherever that moves to."""

    name: str
    #: the outermost function around it, as `co_qualname` has it, and its first line
    function: str
    line: int
    #: the lines of the statement that changes
    lines: range
    #: which version of the function it changes
    version: str
    #: makes the whole module with the change
    change: Callable[[], ast.Module]


def mutants_of(source: str) -> Iterator[Mutant]:
    """Every mutant of a module, in order of lines."""
    tree = ast.parse(source)
    names: Counter[str] = Counter()
    for name, function in _functions(tree, ""):
        version = hashlib.sha256(ast.unparse(function).encode()).hexdigest()
        for path in _paths(function):
            node = _at(function, path)
            for shown, replacement in _replacements(node):
                text = f"{name}: {_text(node)} => {shown}"
                names[text] += 1
                number = f" (#{names[text]})" if names[text] > 1 else ""
                change = partial(_changed, tree, function, path, replacement)
                lines = _lines_around(function, path)
                yield Mutant(text + number, name, _first_line(function), lines, version, change)


def _functions(tree: ast.Module | ast.ClassDef, within: str) -> Iterator[tuple[str, Function]]:
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            yield from _functions(node, f"{within}{node.name}.")
        elif isinstance(node, Function):
            yield within + node.name, node


def _first_line(function: Function) -> int:
    """As `co_firstlineno` counts it: decorators belong to the function."""
    return min([function.lineno, *(one.lineno for one in function.decorator_list)])


#: The way from a function to a node of it: fields and, in lists, indices.
_Path = tuple[tuple[str, int | None], ...]


def _paths(function: Function) -> Iterator[_Path]:
    """The way to each node of the body that may change."""
    for index in range(len(function.body)):
        yield from _paths_below(function.body[index], (("body", index),))


def _paths_below(node: ast.AST, path: _Path) -> Iterator[_Path]:
    if _only_tells(node) or _only_checks(node):
        return
    yield path
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "args") and not isinstance(node, ast.Call):
            continue
        if isinstance(value, ast.AST):
            yield from _paths_below(value, (*path, (field, None)))
        elif isinstance(value, list):
            for index, one in enumerate(value):
                if isinstance(one, ast.AST):
                    yield from _paths_below(one, (*path, (field, index)))


def _only_tells(node: ast.AST) -> bool:
    """What is logged, counted or said in an error, and docstrings."""
    if isinstance(node, ast.JoinedStr | ast.Assert | ast.Pass | ast.Import | ast.ImportFrom | ast.Global):
        return True
    return isinstance(node, ast.Expr) and (
        isinstance(node.value, ast.Constant)
        or (isinstance(node.value, ast.Call) and ast.unparse(node.value.func).startswith(_TELLS))
    )


def _only_checks(node: ast.AST) -> bool:
    """`strict` of zip is an assertion."""
    return isinstance(node, ast.keyword) and node.arg == "strict"


def _at(function: ast.AST, path: _Path) -> ast.AST:
    result = function
    for field, index in path:
        value = getattr(result, field)
        result = value if index is None else value[index]
    return result


def _lines_around(function: Function, path: _Path) -> range:
    """The lines of the innermost statement around a node."""
    around = (_at(function, path[:length]) for length in range(len(path), 0, -1))
    statement = next(node for node in around if isinstance(node, ast.stmt))
    return range(statement.lineno, (statement.end_lineno or statement.lineno) + 1)


def _changed(tree: ast.Module, function: Function, path: _Path, new: ast.AST) -> ast.Module:
    """A copy of the module in which another node stands at the end of this path."""
    whole = copy.deepcopy(tree)
    (own,) = (one for _, one in _functions(whole, "") if one.lineno == function.lineno)
    *way, (field, index) = path
    above = _at(own, tuple(way))
    old = _at(above, ((field, index),))
    new = ast.copy_location(copy.deepcopy(new), old)
    if index is None:
        setattr(above, field, new)
    else:
        getattr(above, field)[index] = new
    return ast.fix_missing_locations(whole)


_Replacements = Iterator[tuple[str, ast.AST]]


def _replacements(node: ast.AST) -> _Replacements:
    """What may stand in the place of one node, and how that reads."""
    for kind in (_of_logic, _of_numbers, _of_flow, _of_calls):
        yield from kind(node)


def _of_logic(node: ast.AST) -> _Replacements:
    match node:
        case ast.Compare(ops=[op]) if type(op) in _COMPARED:
            yield _shown(_with_fields(node, ops=[_COMPARED[type(op)]()]))
        case ast.BoolOp(op=op, values=values):
            yield _shown(_with_fields(node, op=ast.Or() if isinstance(op, ast.And) else ast.And()))
            for removed in range(len(values)):
                remaining = values[:removed] + values[removed + 1 :]
                yield _shown(remaining[0] if len(remaining) == 1 else _with_fields(node, values=remaining))
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield _shown(operand)
        case ast.Constant(value=bool() as value):
            yield _shown(ast.Constant(not value))


def _of_numbers(node: ast.AST) -> _Replacements:
    match node:
        case ast.BinOp(op=op) if type(op) in _COUNTED:
            yield _shown(_with_fields(node, op=_COUNTED[type(op)]()))
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            yield _shown(ast.Constant(value + 1))


def _of_flow(node: ast.AST) -> _Replacements:
    match node:
        case ast.If() | ast.IfExp():
            for value in (True, False):
                yield f"if {value}", _with_fields(node, test=ast.Constant(value))
        case ast.comprehension(ifs=[_, *_]):
            yield "no condition", _with_fields(node, ifs=[])
        case ast.Return(value=value) if value is not None and not _is_none(value):
            yield _shown(_with_fields(node, value=ast.Constant(None)))
        case ast.Expr() | ast.Raise() | ast.AugAssign() | ast.Continue() | ast.Break():
            yield "nothing", ast.Pass()


def _of_calls(node: ast.AST) -> _Replacements:
    match node:
        case ast.Call(args=args, keywords=keywords):
            for removed, keyword in enumerate(keywords):
                if _only_checks(keyword):
                    continue
                remaining = keywords[:removed] + keywords[removed + 1 :]
                yield f"without {_text(keyword)}", _with_fields(node, keywords=remaining)
            if len(args) > 1 and not isinstance(args[-1], ast.Starred):
                yield f"without {_text(args[-1])}", _with_fields(node, args=args[:-1])


def _shown(node: ast.AST) -> tuple[str, ast.AST]:
    return _text(node), node


def _with_fields(node: ast.AST, **fields: object) -> ast.AST:
    changed = copy.deepcopy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return changed


def _is_none(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _text(node: ast.AST) -> str:
    """The first line of it, as short as fits."""
    line = ast.unparse(node).partition("\n")[0]
    return line if len(line) <= _SHOWN else f"{line[: _SHOWN - 1]}…"
