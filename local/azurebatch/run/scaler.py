"""Sets the sizes of pools by their formulas."""

import contextlib
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from local.azurebatch.autoscale.formula import read
from local.azurebatch.autoscale.values import FormulaError, Samples, World
from local.azurebatch.settings import MOST_NODES, Pace
from local.azurebatch.state.database import Store
from local.azurebatch.state.models import Pool
from local.azurebatch.state.moment import duration

#: How far samples reach back, and the time between two.
_HISTORY, _APART = timedelta(hours=1), timedelta(seconds=30)
_OPTIONS = ("requeue", "terminate", "taskcompletion", "retaineddata")


@dataclass(frozen=True)
class Run:
    """The result of a formula, or its error."""

    results: str
    error: dict[str, Any] | None = None
    dedicated: int = 0
    spot: int = 0
    leaving: str = "requeue"


class Scaled(NamedTuple):
    """A pool with its new size, and when to check again."""

    pool: Pool
    wake: datetime | None


class Scaler:
    """Samples pools, and evaluates their formulas when they are due."""

    def __init__(self, store: Store, clock: Callable[[], datetime], pace: Pace) -> None:
        self._store = store
        self._clock = clock
        self._pace = pace
        self._samples: dict[str, deque[tuple[datetime, Mapping[str, float]]]] = {}

    def check(self, pool: Pool) -> Scaled:
        """Evaluate the pool's formula, if that is due."""
        scale, now = pool.autoscale, self._clock()
        if scale is None or pool.deleting:
            self._samples.pop(pool.key, None)
            return Scaled(pool, None)
        apart = min(_APART, self._pace.autoscale or _APART)
        history = self._samples.setdefault(pool.key, deque())
        if not history or history[-1][0] + apart <= now:
            self._sample(pool, now)
        wake = history[-1][0] + apart
        interval = self._pace.autoscale or duration(scale.interval, "autoScaleEvaluationInterval") or _HISTORY
        if scale.last is not None and scale.last + interval > now:
            return Scaled(pool, min(wake, scale.last + interval))
        run = self.evaluate(pool, scale.formula)
        changed = pool.evolve(
            autoscale=scale.model_copy(update={"last": now, "results": run.results, "error": run.error})
        )
        differs = (run.dedicated, run.spot) != (pool.dedicated, pool.spot)
        # What could not be allocated is tried again.
        if run.error is None and (differs or pool.resize_errors) and pool.allocation == "steady":
            changed = changed.evolve(
                dedicated=run.dedicated,
                spot=run.spot,
                leaving=run.leaving,
                allocation="resizing",
                allocation_since=now,
            )
        return Scaled(changed, min(wake, now + interval))

    def evaluate(self, pool: Pool, formula: str) -> Run:
        """Evaluate a formula now."""
        now = self._clock()
        history = self._samples.setdefault(pool.key, deque())
        self._sample(pool, now)
        try:
            names = read(formula).evaluate(_world(history, now))
            dedicated = _count(
                names.get("$TargetDedicatedNodes", names.get("$TargetDedicated", pool.dedicated))
            )
            spot = _count(names.get("$TargetLowPriorityNodes", pool.spot))
            leaving = _option(names.get("$NodeDeallocationOption", "requeue"))
        except FormulaError as error:
            return Run("", _error(str(error)))
        own = {name: value for name, value in names.items() if not name.startswith("$")}
        targets = {
            "$TargetDedicatedNodes": dedicated,
            "$TargetLowPriorityNodes": spot,
            "$NodeDeallocationOption": leaving,
        }
        results = ";".join(f"{name}={_shown(value)}" for name, value in {**targets, **own}.items())
        return Run(results, None, dedicated, spot, leaving)

    def _sample(self, pool: Pool, now: datetime) -> None:
        history = self._samples.setdefault(pool.key, deque())
        history.append((now, self._measured(pool)))
        while history[0][0] < now - _HISTORY:
            history.popleft()

    def _measured(self, pool: Pool) -> Mapping[str, float]:
        jobs = [job for job in self._store.jobs_of(pool) if job.state == "active"]
        active = sum(
            self._store.tasks[job.key][key].instances for job in jobs for key in self._store.waiting[job.key]
        )
        running = sum(task.instances for task in self._store.running_tasks(pool))
        present = [node for node in pool.nodes if node.state != "leavingpool"]
        dedicated = sum(node.dedicated for node in present)
        usable = sum(node.state in ("idle", "running") for node in present)
        return {
            "ActiveTasks": active,
            "RunningTasks": running,
            "PendingTasks": active + running,
            "CurrentDedicatedNodes": dedicated,
            "CurrentDedicated": dedicated,
            "CurrentLowPriorityNodes": len(present) - dedicated,
            "PreemptedNodeCount": sum(node.state == "preempted" for node in present),
            "UsableNodeCount": usable,
            "TaskSlotsPerNode": pool.slots,
            "TargetDedicatedNodes": pool.dedicated,
            "TargetDedicated": pool.dedicated,
            "TargetLowPriorityNodes": pool.spot,
        }


def _world(history: "deque[tuple[datetime, Mapping[str, float]]]", now: datetime) -> World:
    oldest = (now - history[0][0]).total_seconds()

    def share(seconds: float) -> float:
        return 100.0 if seconds <= 0 else min(100.0, 100.0 * oldest / seconds)

    ages = [((now - when).total_seconds(), values) for when, values in history]
    variables = {
        name: Samples([(age, values[name]) for age, values in ages], share) for name in history[-1][1]
    }
    return World(variables, now.timestamp())


def _count(value: Any) -> int:
    if isinstance(value, list):
        value = value[-1]
    with contextlib.suppress(TypeError, ValueError, OverflowError):
        return max(0, min(MOST_NODES, int(value)))
    raise FormulaError(f"The target {value!r} is not a number of nodes")


def _option(value: Any) -> str:
    if value not in _OPTIONS:
        raise FormulaError(f"$NodeDeallocationOption is one of {', '.join(_OPTIONS)}")
    return str(value)


def _shown(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return f"[{','.join(map(_shown, value))}]" if isinstance(value, list) else str(value)


def _error(message: str) -> dict[str, Any]:
    return {
        "code": "AutoScalingFormulaEvaluationError",
        "message": "The specified autoscale formula has evaluation error",
        "values": [{"name": "Message", "value": message}],
    }
