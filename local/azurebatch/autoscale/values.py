"""The values of autoscale formulas: intervals, functions, samples. Pure."""

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Self

from local.azurebatch.state.moment import read_stamp


class Interval(float):
    """A length of time in seconds, which GetSample distinguishes from a number of samples."""

    def __mul__(self, other: float) -> Self:
        return type(self)(float(self) * other)

    __rmul__ = __mul__

    def __truediv__(self, other: float) -> Self:
        return type(self)(float(self) / other)

    def __add__(self, other: float) -> Self:
        return type(self)(float(self) + other)

    __radd__ = __add__

    def __sub__(self, other: float) -> Self:
        return type(self)(float(self) - other)


INTERVALS = {
    "TimeInterval_Zero": Interval(0.0),
    "TimeInterval_100ns": Interval(1e-7),
    "TimeInterval_Microsecond": Interval(1e-6),
    "TimeInterval_Millisecond": Interval(1e-3),
    "TimeInterval_Second": Interval(1.0),
    "TimeInterval_Minute": Interval(60.0),
    "TimeInterval_Hour": Interval(3600.0),
    "TimeInterval_Day": Interval(86400.0),
    "TimeInterval_Week": Interval(604800.0),
    "TimeInterval_Year": Interval(31536000.0),
}
#: What the service gives, and no formula sets.
READ_ONLY = frozenset(
    {"$CPUPercent", "$ActiveTasks", "$RunningTasks", "$PendingTasks", "$SucceededTasks", "$FailedTasks"}
    | {"$TaskSlotsPerNode", "$CurrentDedicatedNodes", "$CurrentLowPriorityNodes", "$PreemptedNodeCount"}
    | {"$UsableNodeCount", "$CurrentDedicated"}
)
OPTIONS = ("requeue", "terminate", "taskcompletion", "retaineddata")
Value = Any


class FormulaError(Exception):
    """A formula that does not parse or cannot be evaluated, with the place and the reason."""


def _flat(values: Sequence[Value]) -> list[float]:
    return [one for value in values for one in (value if isinstance(value, list) else [value])]


def _of_all(work: Callable[[list[float]], float]) -> Callable[..., float]:
    def applied(*values: Value) -> float:
        flat = _flat(values)
        if not flat:
            raise FormulaError("a function lacks values to work on")
        return float(work(flat))

    return applied


def _median(values: list[float]) -> float:
    ordered, middle = sorted(values), len(values) // 2
    return ordered[middle] if len(values) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def moment(text: Value) -> float:
    """A time in seconds, from a text as W3C or RFC 1123 write times. Raises ValueError."""
    try:
        return read_stamp(text).timestamp()
    except ValueError:
        return parsedate_to_datetime(text).timestamp()


def _percentile(values: Value, part: float) -> float:
    ordered = sorted(_flat([values]))
    return ordered[min(len(ordered) - 1, math.ceil(part / 100 * len(ordered)) - 1 if part > 0 else 0)]


FUNCTIONS: dict[str, Callable[..., Value]] = {
    "avg": _of_all(lambda values: sum(values) / len(values)),
    "min": _of_all(min),
    "max": _of_all(max),
    "sum": _of_all(sum),
    "len": lambda value: float(len(value) if isinstance(value, list) else 1),
    "med": _of_all(_median),
    "std": _of_all(lambda values: statistics.stdev(values) if len(values) > 1 else 0.0),
    "percentile": _percentile,
    "ceil": lambda value: float(math.ceil(value)),
    "floor": lambda value: float(math.floor(value)),
    "round": lambda value: float(math.floor(value + 0.5)),
    "abs": lambda value: float(abs(value)),
    "lg": math.log2,
    "ln": math.log,
    "log": math.log10,
    "exp": math.exp,
    "sqrt": math.sqrt,
    "norm": lambda value: math.sqrt(sum(one * one for one in _flat([value]))),
    "val": lambda values, index: values[int(index)],
}


def _part(read: Callable[[datetime], int]) -> Callable[[float], float]:
    return lambda seconds: float(read(datetime.fromtimestamp(seconds, UTC)))


#: The members of a time, in UTC; a week begins with Sunday, 0.
MEMBERS: dict[str, Callable[[float], float]] = {
    "year": _part(lambda time: time.year),
    "month": _part(lambda time: time.month),
    "day": _part(lambda time: time.day),
    "hour": _part(lambda time: time.hour),
    "minute": _part(lambda time: time.minute),
    "second": _part(lambda time: time.second),
    "weekday": _part(lambda time: time.isoweekday() % 7),
    "yearday": _part(lambda time: time.timetuple().tm_yday),
}


@dataclass(frozen=True)
class Samples:
    """The recent values of a variable, oldest first, with their ages in seconds.

    `share`: for a number of seconds, the percentage of them that has samples.
    """

    values: Sequence[tuple[float, float]]
    share: Callable[[float], float]


@dataclass(frozen=True)
class World:
    """Everything that a formula can use: variables by name without `$`, and the time in seconds."""

    variables: Mapping[str, Samples]
    now: float
