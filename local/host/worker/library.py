"""The production runtime: azure-functions-runtime, driven by the five requests of its public contract."""

import json
from datetime import timedelta
from email.utils import formatdate
from http.cookies import Morsel
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import azure_functions_runtime as library

from local.host.worker.contract import (
    Data,
    Function,
    Invocation,
    LoadError,
    Result,
    RetryPolicy,
    current_invocation,
)
from local.host.worker.protos import PROTOS, ParameterBinding, TypedData


class LibraryRuntime:
    """Indexes, validates, converts and invokes as the Python worker of Azure does, with the same code."""

    def __init__(self, app: Path) -> None:
        self._app = app

    async def start(self) -> list[Function]:
        """Import and index the app, once for each process. Raises LoadError."""
        library.start_threadpool_executor()
        init = SimpleNamespace(capabilities={}, function_app_directory=str(self._app))
        answer = await library.worker_init_request(_request(worker_init_request=init))
        _check(answer)
        answer = await library.functions_metadata_request(_request(functions_metadata_request=None))
        _check(answer)
        if answer.function_metadata_results is None:
            raise LoadError(f"no functions found: is there a function_app.py with an app in {self._app}?")
        functions = []
        for metadata in answer.function_metadata_results:
            load = SimpleNamespace(function_id=metadata.function_id, metadata=metadata)
            _check(await library.function_load_request(_request(function_load_request=load)))
            bindings = tuple(json.loads(raw) for raw in metadata.raw_bindings)
            retry = _retry(metadata.retry_options)
            functions.append(
                Function(name=metadata.name, id=metadata.function_id, bindings=bindings, retry=retry)
            )
        return functions

    async def invoke(self, call: Invocation) -> Result:
        """Run a function; see Runtime.invoke."""
        inputs = [ParameterBinding(name=name, data=_typed(data)) for name, data in call.inputs.items()]
        body = SimpleNamespace(
            invocation_id=call.id,
            function_id=call.function_id,
            trace_context=SimpleNamespace(trace_parent="", trace_state="", attributes={}),
            retry_context=SimpleNamespace(
                retry_count=call.retry_count, max_retry_count=call.retry_limit, exception=None
            ),
            input_data=inputs,
            trigger_metadata={name: _typed(data) for name, data in call.metadata.items()},
        )
        # The library sets its variable for functions on threads only, ours is for those on the loop.
        library.invocation_id_cv.set(call.id)
        current_invocation.set(call.id)
        answer = await library.invocation_request(_request(invocation_request=body))
        if answer.result.status != PROTOS.StatusResult.Success:
            error = answer.result.exception
            return Result(error=error.message or "the function failed", stack=error.stack_trace or "")
        outputs = {out.name: data for out in answer.output_data if (data := _data(out.data)) is not None}
        return Result(outputs=outputs, returned=_data(answer.return_value))

    async def stop(self) -> None:
        """Give the threads back; a function that still runs on one delays this."""
        library.stop_threadpool_executor()


def _request(**body: Any) -> SimpleNamespace:
    return SimpleNamespace(
        request=SimpleNamespace(**body), properties={"host": "127.0.0.1", "protos": PROTOS}
    )


def _check(answer: Any) -> None:
    if answer.result.status != PROTOS.StatusResult.Success:
        error = answer.result.exception
        raise LoadError(error.message or "the app cannot be loaded", error.stack_trace or "")


def _retry(options: Any) -> RetryPolicy | None:
    if options is None:
        return None

    def seconds(value: timedelta | None) -> float:
        return value.total_seconds() if value is not None else 0.0

    return RetryPolicy(
        strategy=str(options.retry_strategy),
        limit=int(options.max_retry_count),
        delay=seconds(options.delay_interval),
        minimum=seconds(options.minimum_interval),
        maximum=seconds(options.maximum_interval),
    )


def _typed(data: Data) -> TypedData:
    if data.kind != "http":
        return TypedData(**{data.kind: data.value})
    request = dict(data.value)
    request["body"] = TypedData(bytes=request["body"])
    return TypedData(http=SimpleNamespace(**request))


def _data(typed: Any) -> Data | None:
    kind = None if typed is None else typed.WhichOneof("data")
    if kind is None:
        return None
    if kind != "http":
        return Data(kind, getattr(typed, kind))
    http = typed.http
    headers = [[name, value] for name, value in http.headers.items()]
    headers += [["Set-Cookie", _cookie(cookie)] for cookie in http.cookies or ()]
    body = http.body.bytes if http.body is not None else b""
    return Data("http", {"status": int(http.status_code), "headers": headers, "body": body})


def _cookie(cookie: Any) -> str:
    morsel: Morsel[str] = Morsel()
    morsel.set(cookie.name, cookie.value, cookie.value)
    for field, name in (
        ("domain", "domain"),
        ("path", "path"),
        ("http_only", "httponly"),
        ("secure", "secure"),
    ):
        if (wrapped := getattr(cookie, field)) is not None and wrapped.value:
            morsel[name] = wrapped.value
    if cookie.max_age is not None:
        morsel["max-age"] = int(cookie.max_age.value)
    if cookie.expires is not None:
        morsel["expires"] = formatdate(cookie.expires.value.seconds, usegmt=True)
    if cookie.same_site:
        morsel["samesite"] = cookie.same_site
    return morsel.OutputString()
