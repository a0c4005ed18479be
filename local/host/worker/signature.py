"""Which parameter belongs to which binding, checked as far as azure-functions' converters can."""

import inspect
import json
import typing
from dataclasses import dataclass
from typing import Any

import azure.functions as func

from local.host.timespan import parse_timespan
from local.host.worker.contract import Data, LoadError, RetryPolicy

_OUTPUT = 1


@dataclass(frozen=True)
class Signature:
    """The converter's name for each input and output; `generic` is plain text or bytes."""

    inputs: dict[str, str]
    outputs: dict[str, str]
    returned: str | None
    wants_context: bool


def read_signature(name: str, call: Any, bindings: list[Any]) -> Signature:
    """Match parameters with bindings; raises LoadError for a function that production refuses to load."""
    parameters = dict(inspect.signature(call).parameters)
    hints = typing.get_type_hints(call)
    bound = {b.name: b for b in bindings if b.name != "$return"}
    wants_context = "context" in parameters and "context" not in bound
    if wants_context:
        parameters.pop("context")
    if unbound := sorted(set(parameters) - set(bound)):
        raise _refusal(
            name, f"the following parameters are declared in Python but have no binding: {unbound}"
        )
    if extra := sorted(set(bound) - set(parameters)):
        raise _refusal(name, f"the following bindings have no parameter of that name in Python: {extra}")
    inputs: dict[str, str] = {}
    outputs: dict[str, str] = {}
    for parameter, binding in bound.items():
        hint = hints.get(parameter)
        is_out = _is_out(hint)
        if hint is not None and is_out != (int(binding.direction) == _OUTPUT):
            raise _refusal(name, f"the direction of {parameter} does not match its annotation")
        kind = _kind(binding.type, typing.get_args(hint)[0] if is_out else hint)
        if hint is not None and not is_out:
            _check_input(name, parameter, kind, hint)
        (outputs if int(binding.direction) == _OUTPUT else inputs)[parameter] = kind
    returned = next((b.type for b in bindings if b.name == "$return"), None)
    return Signature(inputs, outputs, returned, wants_context)


def read_retry(settings: Any) -> RetryPolicy | None:
    """The retry policy that a function declares, if any."""
    if not settings:
        return None

    def seconds(key: str) -> float:
        return parse_timespan(str(settings[key])).total_seconds() if settings.get(key) else 0.0

    return RetryPolicy(
        strategy=str(settings["strategy"]),
        limit=int(settings["max_retry_count"]),
        delay=seconds("delay_interval"),
        minimum=seconds("minimum_interval"),
        maximum=seconds("maximum_interval"),
    )


def generic_encode(value: Any) -> Data:
    """A value for a binding that has no converter, in the kinds that production gives it."""
    if isinstance(value, str):
        return Data("string", value)
    if isinstance(value, bytes | bytearray):
        return Data("bytes", bytes(value))
    if isinstance(value, dict | list):
        return Data("json", json.dumps(value))
    if isinstance(value, int):
        return Data("int", int(value))
    if isinstance(value, float):
        return Data("double", value)
    raise TypeError(f'unable to encode outgoing TypedData: unsupported Python type "{type(value).__name__}"')


def _kind(binding_type: str, hint: Any) -> str:
    converter = func.get_binding_registry().get(binding_type)  # type: ignore[no-untyped-call]
    return "generic" if converter is None or hint in (str, bytes) else binding_type


def _check_input(name: str, parameter: str, kind: str, hint: Any) -> None:
    if not isinstance(hint, type) and typing.get_origin(hint) is None:
        raise _refusal(name, f"binding {parameter} has invalid non-type annotation {hint!r}")
    if kind == "generic":
        return
    converter = func.get_binding_registry().get(kind)  # type: ignore[no-untyped-call]
    if not (isinstance(hint, type) and converter.check_input_type_annotation(hint)):
        shown = getattr(hint, "__name__", repr(hint))
        raise _refusal(
            name, f'type of {parameter} binding "{kind}" does not match its Python annotation "{shown}"'
        )


def _is_out(hint: Any) -> bool:
    origin = typing.get_origin(hint)
    return isinstance(origin, type) and issubclass(origin, func.Out)


def _refusal(name: str, problem: str) -> LoadError:
    return LoadError(f"cannot load the {name} function: {problem}")
