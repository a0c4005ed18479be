"""The messages between the host and a runtime: functions, invocations, results."""

from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

Kind = Literal["string", "bytes", "json", "http", "int", "double"]
RuntimeName = Literal["library", "sdk"]

#: A binding as the host reads it, e.g. {"type": "queueTrigger", "direction": "IN", "name": "msg", …}.
Binding = Mapping[str, Any]


class LoadError(RuntimeError):
    """The app cannot be loaded: the runtime's own message; `stack` shows the place in the app's code."""

    def __init__(self, message: str, stack: str = "") -> None:
        super().__init__(message)
        self.stack = stack


@dataclass(frozen=True)
class Data:
    """A value on its way to or from a function, in the kinds that the workers' protocol knows.

    `http` is a mapping: of a request method, url, headers, query, params, body; of a response
    status, headers (a list of pairs), body.
    """

    kind: Kind
    value: Any


@dataclass(frozen=True, kw_only=True)
class RetryPolicy:
    """The retry policy that a function declares; times in seconds, `limit` -1 means forever."""

    strategy: str
    limit: int
    delay: float = 0.0
    minimum: float = 0.0
    maximum: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Function:
    """One function of the app as the runtime indexed it."""

    name: str
    id: str
    bindings: tuple[Binding, ...]
    retry: RetryPolicy | None = None

    @property
    def trigger(self) -> Binding:
        """The binding that starts the function; each function has one."""
        for binding in self.bindings:
            if str(binding["type"]).lower().endswith("trigger"):
                return binding
        raise LoadError(
            f"function {self.name} has no trigger: decorate it with one (queue, blob, timer, HTTP)"
        )

    @property
    def outputs(self) -> tuple[Binding, ...]:
        """The bindings through which it writes, `$return` included."""
        return tuple(b for b in self.bindings if str(b.get("direction", "")).upper() in ("OUT", "1"))


@dataclass(frozen=True, kw_only=True)
class Invocation:
    """One run of a function."""

    id: str
    function_id: str
    inputs: Mapping[str, Data]
    metadata: Mapping[str, Data] = field(default_factory=dict)
    retry_count: int = 0
    retry_limit: int = 0


@dataclass(frozen=True, kw_only=True)
class Result:
    """How a run ended; `error` is empty on success."""

    error: str = ""
    stack: str = ""
    outputs: Mapping[str, Data] = field(default_factory=dict)
    returned: Data | None = None

    @property
    def ok(self) -> bool:
        """Whether the function returned without an exception and its values could be converted."""
        return not self.error


class Runtime(Protocol):
    """Loads one app and runs its functions, many at a time."""

    async def start(self) -> list[Function]:
        """Import and index the app, once. Raises LoadError."""

    async def invoke(self, call: Invocation) -> Result:
        """Run a function. Never raises: an error of the function is in the result."""

    async def stop(self) -> None:
        """Free the resources of the runtime."""


#: The invocation that the running code belongs to: for the app's log lines.
current_invocation: ContextVar[str | None] = ContextVar("current_invocation", default=None)
