"""The runtime of Python 3.11 and 3.12: azure-functions' own converters around a call of the function.

Looser than production: it refuses less at load time and knows no deferred bindings. Prefer
azure-functions-runtime if it can run.
"""

import asyncio
import contextvars
import importlib
import inspect
import json
import os
import traceback
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from http.cookies import SimpleCookie
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import azure.functions as func
from azure.functions.meta import Datum

from local.host.worker.contract import (
    Data,
    Function,
    Invocation,
    LoadError,
    Result,
    current_invocation,
)
from local.host.worker.signature import Signature, generic_encode, read_retry, read_signature


@dataclass(frozen=True)
class _Loaded:
    function: Function
    call: Any
    signature: Signature


class SdkRuntime:
    """Imports the app, converts with the same converters as production, calls the functions itself."""

    def __init__(self, app: Path) -> None:
        self._app = app
        self._loaded: dict[str, _Loaded] = {}
        count = os.environ.get("PYTHON_THREADPOOL_THREAD_COUNT")
        self._threads = ThreadPoolExecutor(int(count) if count else None)

    async def start(self) -> list[Function]:
        """Import and index the app, once for each process. Raises LoadError."""
        script = os.environ.get("PYTHON_SCRIPT_FILE_NAME", "function_app.py")
        if not (self._app / script).is_file():
            raise LoadError(f"no functions found: is there a function_app.py with an app in {self._app}?")
        try:
            builders = _app_of(importlib.import_module(Path(script).stem), script).get_functions()
            for builder in builders:
                self._add(builder)
        except Exception as error:  # the entry point of the app's code
            raise LoadError(f"{type(error).__name__}: {error}", traceback.format_exc()) from error
        return [loaded.function for loaded in self._loaded.values()]

    def _add(self, builder: Any) -> None:
        name = builder.get_function_name()
        call = builder.get_user_function()
        function = Function(
            name=name,
            id=name,
            bindings=tuple(json.loads(raw) for raw in builder.get_raw_bindings()),
            retry=read_retry(builder.get_settings_dict("retry_policy")),
        )
        self._loaded[name] = _Loaded(function, call, read_signature(name, call, builder.get_bindings()))

    async def invoke(self, call: Invocation) -> Result:
        """Run a function; see Runtime.invoke."""
        loaded = self._loaded[call.function_id]
        current_invocation.set(call.id)
        try:
            return await self._run(loaded, call)
        except Exception as error:  # noqa: BLE001 - the entry point of the app's code: its errors are results
            return Result(error=f"{type(error).__name__}: {error}", stack=traceback.format_exc())

    async def _run(self, loaded: _Loaded, call: Invocation) -> Result:
        signature = loaded.signature
        arguments = _decode(signature, call)
        if signature.wants_context:
            arguments["context"] = _context(loaded.function.name, self._app, call)
        outs = {name: _OutParameter() for name in signature.outputs}
        arguments.update(outs)
        if inspect.iscoroutinefunction(loaded.call):
            value = await loaded.call(**arguments)
        else:
            # Context variables travel along, so that log lines of the thread name their invocation.
            context = contextvars.copy_context()
            value = await asyncio.get_running_loop().run_in_executor(
                self._threads, lambda: context.run(loaded.call, **arguments)
            )
        if value is not None and signature.returned is None:
            raise RuntimeError(f"function {loaded.function.name} returns a value but has no $return binding")
        outputs = {
            n: d for n, out in outs.items() if (d := _encode(signature.outputs[n], out.get())) is not None
        }
        returned = None if signature.returned is None else _encode(signature.returned, value, explicit=True)
        return Result(outputs=outputs, returned=returned)

    async def stop(self) -> None:
        """End the threads that run functions."""
        self._threads.shutdown(wait=False, cancel_futures=True)


class _OutParameter(func.Out[Any]):
    def __init__(self) -> None:
        self._value: Any = None

    def set(self, val: Any) -> None:
        self._value = val

    def get(self) -> Any:
        return self._value


def _app_of(module: Any, script: str) -> Any:
    """The module's one app object; an alias of it counts as a second one, as in production."""
    apps = [value for value in vars(module).values() if isinstance(value, func.FunctionRegister)]
    if len(apps) > 1:
        raise ValueError(
            f"More than one {type(apps[0]).__name__} or other top level app is defined in {script}."
        )
    if not apps:
        raise ValueError(f"Could not find top level function app instances in {script}.")
    return apps[0]


def _decode(signature: Signature, call: Invocation) -> dict[str, Any]:
    metadata = {name: Datum(data.value, data.kind) for name, data in call.metadata.items()}
    arguments: dict[str, Any] = {}
    for name, data in call.inputs.items():
        kind = signature.inputs[name]
        if kind == "generic":
            arguments[name] = data.value
            continue
        converter = func.get_binding_registry().get(kind)  # type: ignore[no-untyped-call]
        arguments[name] = converter.decode(_datum(data), trigger_metadata=metadata)
    return arguments


def _datum(data: Data) -> Datum:
    if data.kind != "http":
        return Datum(data.value, data.kind)
    request = data.value

    def texts(values: Any) -> dict[str, Datum]:
        return {name: Datum(value, "string") for name, value in values.items()}

    parts = {
        "method": Datum(request["method"], "string"),
        "url": Datum(request["url"], "string"),
        "headers": texts(request["headers"]),
        "query": texts(request["query"]),
        "params": texts(request["params"]),
        "body": Datum(request["body"], "bytes"),
    }
    return Datum(parts, "http")


def _encode(kind: str, value: Any, *, explicit: bool = False) -> Data | None:
    if value is None and not explicit:
        return None
    if kind == "generic":
        return generic_encode(value)
    try:
        datum = func.get_binding_registry().get(kind).encode(value, expected_type=None)  # type: ignore[no-untyped-call]
    except NotImplementedError:
        problem = f'unable to encode outgoing TypedData: unsupported type "{kind}" for Python type '
        raise TypeError(f'{problem}"{type(value).__name__}"') from None
    if datum is None or datum.type is None:
        return None
    if datum.type != "http":
        return Data(datum.type, datum.value)
    parts = datum.value
    headers = [[name, header.value] for name, header in parts["headers"].items()]
    headers += [["Set-Cookie", morsel.OutputString()] for morsel in _morsels(parts["cookies"])]
    body = {"status": int(parts["status_code"].value), "headers": headers, "body": parts["body"].value}
    return Data("http", body)


def _morsels(cookies: list[SimpleCookie] | None) -> list[Any]:
    return [morsel for cookie in cookies or () for morsel in cookie.values()]


def _context(name: str, app: Path, call: Invocation) -> func.Context:
    """The value of a parameter named `context`: the fields of azure.functions.Context.

    The host traces with Application Insights only; without it, the request's own traceparent goes no further.
    """
    trace = SimpleNamespace(Traceparent="", Tracestate="", Attributes={})
    retry = SimpleNamespace(retry_count=call.retry_count, max_retry_count=call.retry_limit, exception=None)
    fields = SimpleNamespace(
        invocation_id=call.id,
        function_name=name,
        function_directory=str(app),
        trace_context=trace,
        retry_context=retry,
    )
    return cast(func.Context, fields)
