"""A job sweep: one template, the values of its parameters, and the job of each combination. Pure.

A value replaces `{name}` in the commands, and is in the environment as SLIPWAY_SWEEP_NAME. It has only
letters, digits and signs that a shell reads as they are, so it means the same in quotes, and adds no command.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from itertools import product
from math import prod
from typing import Any, TypeAlias

from shared.jobspec.format.secrets import redact
from shared.jobspec.problems.codes import problem
from shared.jobspec.problems.problem import Problem
from shared.jobspec.problems.suggest import Suggestions
from shared.jobspec.text.tree import JsonObject, Node, quote, step

#: Jobs of one sweep, and parameters.
MAX_JOBS, MAX_PARAMETERS = 1_000, 8
#: The prefix of the variables' names.
VARIABLE = "SLIPWAY_SWEEP_"

Value: TypeAlias = bool | int | float | str
#: The values of each parameter, or a range of whole numbers, as people write them.
Parameters: TypeAlias = Mapping[str, Any]

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,31}", re.ASCII)
_TEXT = re.compile(r"[A-Za-z0-9_@%+=:,./-]{1,100}", re.ASCII)
_USED = re.compile(r"(?<![${\\])\{([A-Za-z][A-Za-z0-9_]{0,31})\}", re.ASCII)
_LARGEST = 10**15
_RANGE = (
    'write {"range": [start, stop]} or {"range": [start, stop, step]} with whole numbers; stop is excluded'
)


def sweep_problems(root: Node, *, drop: bool = False) -> Iterator[Problem]:
    """All problems of `sweep` and `parallel` of an envelope. `drop`: a slipway.json."""
    sweep, parallel = root.member("sweep"), root.member("parallel")
    if parallel.is_written and not sweep.is_written:
        yield problem("SW069", parallel.pointer, "parallel has no meaning without a sweep", "remove parallel")
    if not sweep.is_written or not isinstance(sweep.value, dict):
        return  # another type is a problem of the shape
    if drop:
        remedy = "send the job with its sweep to POST /api/sweeps, or to the queue"
        yield problem("SW069", sweep.pointer, "a dropped folder makes one job, not a sweep", remedy)
        return
    flaws = [*_name_problems(sweep), *(flaw for name in sweep.value for flaw in _value_problems(sweep, name))]
    yield from flaws
    if not flaws and (number := size(sweep.value)) > MAX_JOBS:
        message = f"the sweep has {number} combinations; {MAX_JOBS} are allowed"
        yield problem("SW069", sweep.pointer, message, "name fewer values, or send several sweeps")
    if not flaws and isinstance(spec := root.member("spec").value, dict):
        yield from _use_problems(spec, sweep.value, sweep.pointer)


def _name_problems(sweep: Node) -> Iterator[Problem]:
    names = list(sweep.value)
    if not 1 <= len(names) <= MAX_PARAMETERS:
        message = f"the sweep has {len(names) or 'no'} parameters; 1 to {MAX_PARAMETERS} are allowed"
        yield problem("SW069", sweep.pointer, message)
        return
    known_texts: set[str] = set()
    for name in names:
        if not _NAME.fullmatch(name):
            message = f"{quote(name)} cannot be the name of a parameter"
            remedy = "use a letter, then up to 31 letters, digits and underscores"
            yield problem("SW069", step(sweep.pointer, name), message, remedy, of_name=True)
        elif name.upper() in known_texts:
            message = f"the variable {VARIABLE}{name.upper()} would have two values"
            remedy = "choose names that differ by more than case"
            yield problem("SW069", step(sweep.pointer, name), message, remedy, of_name=True)
        known_texts.add(name.upper())


def _value_problems(sweep: Node, name: str) -> Iterator[Problem]:
    node = sweep.member(name)
    if isinstance(node.value, dict):
        if _range(node.value) is None:
            yield problem("SW069", node.pointer, f"the range of {quote(name)} has the wrong form", _RANGE)
        elif not _range(node.value):
            yield problem("SW069", node.pointer, f"the range of {quote(name)} is empty", _RANGE)
        return
    if not isinstance(node.value, list) or not node.value:
        message = f"{quote(name)} lacks a list of values"
        yield problem("SW069", node.pointer, message, "write at least one value, in brackets, or a range")
        return
    yield from _secret_problems(node, name)
    known_texts: set[str] = set()
    for one in node.each():
        if not _is_value(one.value):
            message = f"a value of {quote(name)} cannot stand in a command as it is"
            remedy = "use numbers, true, false, or texts of up to 100 letters, digits and _@%+=:,./-"
            yield problem("SW069", one.pointer, message, remedy)
        elif text_of(one.value) in known_texts:
            yield problem("SW069", one.pointer, f"a value of {quote(name)} is written twice", "remove it")
        else:
            known_texts.add(text_of(one.value))


def _secret_problems(node: Node, name: str) -> Iterator[Problem]:
    """Secrets among the values, which are visible with each job."""
    texts = [one for one in node.value if isinstance(one, str)]
    if redact(texts) != texts or any(redact({name: text}) != {name: text} for text in texts[:1]):
        message = f"the values of {quote(name)} look like secrets, and everyone who sees the jobs sees them"
        yield problem("SW069", node.pointer, message, "put a secret into the secrets of the job")


def _is_value(value: Any) -> bool:
    if isinstance(value, str):
        return bool(_TEXT.fullmatch(value))
    if isinstance(value, bool):
        return True
    return isinstance(value, int | float) and abs(value) <= _LARGEST


def _range(value: Mapping[str, Any]) -> range | None:
    numbers = value.get("range")
    if value.keys() != {"range"} or not isinstance(numbers, list) or len(numbers) not in (2, 3):
        return None
    if not all(type(one) is int and abs(one) <= _LARGEST for one in numbers):
        return None
    return range(*numbers) if len(numbers) < 3 or numbers[2] else None


def _values(written: Any) -> Sequence[Value]:
    """The values of a parameter that has no problem."""
    return (_range(written) or range(0)) if isinstance(written, dict) else written


def size(parameters: Parameters) -> int:
    """How many combinations there are."""
    return prod(len(_values(one)) for one in parameters.values())


def combinations(parameters: Parameters) -> list[dict[str, Value]]:
    """The values of each job, in order: the last parameter changes fastest."""
    return [dict(zip(parameters, each, strict=True)) for each in product(*map(_values, parameters.values()))]


def longest(parameters: Parameters) -> dict[str, Value]:
    """The values with the longest texts: if these fit every limit, all others do."""
    return {
        name: max(_values(one), key=lambda value: len(text_of(value))) for name, one in parameters.items()
    }


def text_of(value: Value) -> str:
    """A value in a command: texts as they are, others as in JSON."""
    return value if isinstance(value, str) else json.dumps(value)


def filled(document: JsonObject, values: Mapping[str, Value]) -> JsonObject:
    """The job of one combination: its commands and its variables have the values."""
    result = deepcopy(document)
    texts = {name: text_of(value) for name, value in values.items()}
    for owner, key in _commands(result):
        owner[key] = _USED.sub(lambda match: texts.get(match[1], match[0]), owner[key])
    properties = result.get("properties")
    if isinstance(properties, dict):
        variables = properties.get("environmentVariables")
        ours = [{"name": VARIABLE + name.upper(), "value": text} for name, text in texts.items()]
        if variables is None or isinstance(variables, list):
            properties["environmentVariables"] = [*(variables or []), *ours]
    return result


def _commands(document: JsonObject) -> list[tuple[dict[str, Any], str]]:
    """The members of the job that are command lines or parts of one."""
    properties = document.get("properties")
    blocks = properties.values() if isinstance(properties, dict) else ()
    return [
        (block, key)
        for block in blocks
        if isinstance(block, dict)
        for key, value in block.items()
        if isinstance(value, str) and key.lower().endswith(("commandline", "commandlineargs"))
    ]


def _use_problems(document: JsonObject, parameters: Parameters, pointer: str) -> list[Problem]:
    """Hints and warnings: names in braces that are not parameters, and parameters that no command uses."""
    used = [name for owner, key in _commands(document) for name in _USED.findall(owner[key])]
    result = []
    for name in dict.fromkeys(used):
        if name not in parameters:
            hint = Suggestions().did_you_mean(name, dict.fromkeys(parameters))
            message = f"a command has {{{name}}}, not a parameter of the sweep; it stays as it is{hint}"
            result.append(problem("SW077", pointer, message))
    for name in parameters:
        if name not in used:
            message = f"no command has {{{name}}}, so only ${VARIABLE}{name.upper()} tells the jobs apart"
            remedy = f"write {{{name}}} into the command, unless the program reads the variable"
            result.append(problem("SW077", f"{pointer}/{name}", message, remedy, "hint"))
    return result
