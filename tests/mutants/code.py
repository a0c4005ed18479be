"""The functions of a module as objects, and the code that may take the place of theirs."""

from __future__ import annotations

import gc
import inspect
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType

#: What a function is, beside a plain one.
_KINDS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


def functions_of(module: Path) -> dict[tuple[str, int], FunctionType]:
    """The living functions of a module by qualified name and first line, decorated or not."""
    gc.unfreeze()  # `conftest` freezes what the collection of tests made, and frozen objects are not listed
    return {
        (result.__code__.co_qualname, result.__code__.co_firstlineno): result
        for result in gc.get_objects()
        if type(result) is FunctionType and result.__code__.co_filename == str(module)
    }


def code_of(code: CodeType, name: str, line: int) -> CodeType | None:
    """The code of a function, somewhere inside that of its module."""
    for one in nested_code(code):
        if one.co_qualname == name and one.co_firstlineno == line:
            return one
    return None


def shape(code: CodeType) -> tuple[int, int]:
    """What has to be the same for one code to take the place of another: a generator stays one."""
    return len(code.co_freevars), code.co_flags & _KINDS


def nested_code(code: CodeType) -> Iterator[CodeType]:
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield one
            yield from nested_code(one)
