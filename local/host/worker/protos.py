"""The message types that azure-functions-runtime asks its caller for, without protobuf.

The library takes the module of generated protobuf classes as an argument, so that it depends on no version of
protobuf; plain classes with the same names and fields serve it as well. Source of the names: the FunctionRpc
protocol (azure-functions-language-worker-protobuf) as far as the library uses it.
"""

from types import SimpleNamespace
from typing import Any


class Message(SimpleNamespace):
    """A message: a field that was never set reads as None."""

    def __getattr__(self, name: str) -> Any:
        """The unset field; names of Python's own protocols stay absent."""
        if name.startswith("__"):
            raise AttributeError(name)
        return None


class TypedData(SimpleNamespace):
    """A one-of. Unknown names must raise here: the library probes for an attribute `TypedData`."""

    def WhichOneof(self, _: str) -> str | None:  # noqa: N802 - protobuf's name
        """The name of the field that is set."""
        return next((name for name, value in self.__dict__.items() if value is not None), None)


class ParameterBinding(Message):
    """A named value among the inputs or outputs of an invocation."""

    def WhichOneof(self, _: str) -> str:  # noqa: N802 - protobuf's name
        """Always plain data; shared memory is not offered."""
        return "data"


class StatusResult(Message):
    """The numbers by which the protocol names the outcome of a call."""

    Failure = 0
    Success = 1
    Cancelled = 2


class BindingInfo(Message):
    """A binding's direction and data type."""

    undefined = 0
    string = 1
    binary = 2
    stream = 3
    out = 1
    inout = 2


setattr(BindingInfo, "in", 0)  # a keyword, so it cannot be written as an assignment


class _SameSite:
    Lax = "Lax"
    Strict = "Strict"
    ExplicitNone = "None"


setattr(_SameSite, "None", "")


class RpcHttpCookie(Message):
    """A cookie of an HTTP response."""

    SameSite = _SameSite


_PLAIN = [
    "FunctionLoadResponse",
    "FunctionMetadataResponse",
    "InvocationResponse",
    "NullableBool",
    "NullableDouble",
    "NullableString",
    "NullableTimestamp",
    "RpcException",
    "RpcFunctionMetadata",
    "RpcHttp",
    "RpcRetryOptions",
    "Timestamp",
    "WorkerInitResponse",
    "WorkerMetadata",
]

PROTOS = SimpleNamespace(
    TypedData=TypedData,
    ParameterBinding=ParameterBinding,
    StatusResult=StatusResult,
    BindingInfo=BindingInfo,
    RpcHttpCookie=RpcHttpCookie,
    **{name: type(name, (Message,), {}) for name in _PLAIN},
)
