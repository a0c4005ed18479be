"""No name of a class of Python reaches people: why something failed is said in words."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
ROOMS = ("confined", "functions", "shared", "slipway", "local")
#: What writes to a log, which is for the operator and the developer.
_LOGS = {"log", "_log", "logger"}
#: Where the name of an error's class stands on purpose, and who reads it.
READ_BY_DEVELOPERS = {
    "shared/adapters/telemetry.py": "the trace of a function",
    "shared/adapters/entra.py": "only the key of a table of words",
    "local/host/outputs.py": "the log of the local host",
    "local/host/worker/sdk.py": "the author of the function app, with the traceback",
}


def class_names(text: str) -> Iterator[str]:
    """The lines that turn an error into its class's name or its `repr`, other than for a log."""
    if not any(word in text for word in ("__name__", "__class__", "repr(", "!r}")):
        return
    tree = ast.parse(text)
    logged = {
        id(part)
        for call in ast.walk(tree)
        if isinstance(call, ast.Call) and _writes_log(call.func)
        for part in ast.walk(call)
    }
    for scope in ast.walk(tree):
        if isinstance(scope, ast.ExceptHandler) and scope.name:
            errors = {scope.name}
        elif isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef):
            errors = {one.arg for one in scope.args.args if one.annotation and _is_error(one.annotation)}
        else:
            continue
        for part in ast.walk(scope):
            if isinstance(part, ast.expr) and id(part) not in logged and _names_class(part, errors):
                yield f"{part.lineno}: {ast.unparse(part)}"


def _writes_log(call: ast.expr) -> bool:
    return isinstance(call, ast.Attribute) and isinstance(call.value, ast.Name) and call.value.id in _LOGS


def _is_error(annotation: ast.expr) -> bool:
    return any(word.endswith(("Error", "Exception")) for word in ast.unparse(annotation).split(" | "))


def _names_class(part: ast.expr, errors: set[str]) -> bool:
    match part:
        case ast.Attribute(value=ast.Call(func=ast.Name("type"), args=[ast.Name(name)]), attr="__name__"):
            return name in errors
        case ast.Attribute(value=ast.Name(name), attr="__class__"):
            return name in errors
        case ast.Call(func=ast.Name("repr"), args=[ast.Name(name)]):
            return name in errors
        case ast.FormattedValue(value=ast.Name(name), conversion=114):
            return name in errors
        case _:
            return False


def test_no_class_of_an_error_is_named_to_people() -> None:
    lines = [
        f"{path.relative_to(ROOT)}:{line}"
        for room in ROOMS
        for path in sorted((ROOT / room).rglob("*.py"))
        if str(path.relative_to(ROOT)) not in READ_BY_DEVELOPERS
        for line in class_names(path.read_text())
    ]

    assert not lines, f"say it in words (shared/core/no_answer.py, shared/core/errors.py: quoted): {lines}"


@pytest.mark.parametrize("path", READ_BY_DEVELOPERS)
def test_each_exception_is_still_needed(path: str) -> None:
    assert list(class_names((ROOT / path).read_text())), f"{path} names no class any more: remove it here"


@pytest.mark.parametrize(
    "line",
    [
        'raise Failure(f"no answer: {type(error).__name__}")',
        "why = error.__class__.__name__",
        'say(f"{error!r}")',
        "say(repr(error))",
    ],
)
def test_a_name_is_found(line: str) -> None:
    assert list(class_names(f"try:\n    call()\nexcept OSError as error:\n    {line}\n"))
    assert list(class_names(f"def say_why(error: OSError):\n    {line}\n"))


def test_logs_may_name_it() -> None:
    line = 'log.warning("no answer: %s", type(error).__name__)'

    assert not list(class_names(f"try:\n    call()\nexcept OSError as error:\n    {line}\n"))
