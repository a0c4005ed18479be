"""The parameters of a sweep, as `slipway run --sweep NAME=VALUE,VALUE` names them."""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from slipway.failure import USAGE, Failure


class _Parameter(NamedTuple):
    """A parameter of a sweep, and its values."""

    name: str
    values: list[Any]


def parameters(sweep: Sequence[str]) -> dict[str, list[Any]]:
    """The parameters of a sweep. Raises Failure for one that is named twice."""
    named = dict[str, list[Any]]()
    for name, values in map(_parameter, sweep):
        if name in named:
            listed = ",".join(map(str, [*named[name], *values]))
            raise Failure(
                f"--sweep names {name} twice; write all its values in one, such as {name}={listed}", USAGE
            )
        named[name] = values
    return named


def _parameter(text: str) -> _Parameter:
    """A parameter of a sweep and its values. Raises Failure."""
    name, equals, values = text.partition("=")
    if not name or not equals or not values:
        raise Failure(f"--sweep {text}: write NAME=VALUE,VALUE, such as lr=0.1,0.3", USAGE)
    return _Parameter(name, [_value(value) for value in values.split(",")])


def _value(text: str) -> Any:
    """A number, true or false as JSON has it; else the text."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if isinstance(value, bool | int | float) and str(value) == text else text
