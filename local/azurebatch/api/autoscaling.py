"""Operations on the autoscale formulas of pools."""

from datetime import timedelta

from aiohttp import web

from local.azurebatch.api import bodies, pool_bodies
from local.azurebatch.api.views import run_view
from local.azurebatch.api.wire import Call, check_conditions, document, done
from local.azurebatch.autoscale.formula import read
from local.azurebatch.autoscale.values import FormulaError
from local.azurebatch.state.errors import BatchError, conflict, lacking
from local.azurebatch.state.models import Autoscale, Pool

#: The least time between two changes of a pool's formula.
_APART = timedelta(seconds=30)
_MOST_BYTES, _MOST_STATEMENTS = 8 << 10, 100


def checked(formula: str) -> str:
    """A formula that parses. Raises BatchError."""
    if not formula:
        raise lacking("autoScaleFormula")
    try:
        statements = read(formula).statements
        if len(formula.encode()) > _MOST_BYTES or len(statements) > _MOST_STATEMENTS:
            raise FormulaError(f"A formula has at most {_MOST_BYTES} bytes and {_MOST_STATEMENTS} statements")
    except FormulaError as error:
        message = "The specified autoscale formula is not syntactically valid."
        raise BatchError(400, "AutoScalingFormulaSyntaxError", message, {"Message": str(error)}) from None
    return formula


async def enable(call: Call) -> web.StreamResponse:
    """Let a formula set the pool's size, or replace the previous formula."""
    pool = _pool(call)
    body = bodies.read(pool_bodies.EnableAutoscale, call.body)
    before = pool.autoscale
    if before is None and pool.allocation != "steady":
        raise conflict("PoolBeingResized", "The specified pool is being resized.")
    if not body.auto_scale_formula and not (before and body.auto_scale_evaluation_interval):
        raise lacking("autoScaleFormula")
    now = call.emulator.clock()
    if before is not None and now - pool.version < _APART and not call.emulator.settings.pace.autoscale:
        message = "Automatic scaling of the pool was enabled less than 30 seconds ago."
        raise BatchError(503, "TooManyEnableAutoScaleRequests", message)
    formula = (
        checked(body.auto_scale_formula) if body.auto_scale_formula else before.formula if before else ""
    )
    interval = body.auto_scale_evaluation_interval or (before.interval if before else "PT15M")
    bodies.check_interval(interval)
    return _saved(call, pool.evolve(autoscale=Autoscale(formula=formula, interval=interval), version=now))


async def disable(call: Call) -> web.StreamResponse:
    """Turn autoscaling off; the pool keeps its size."""
    pool = _pool(call)
    return _saved(call, pool.evolve(autoscale=None, version=call.emulator.clock()))


async def evaluate(call: Call) -> web.StreamResponse:
    """Evaluate a formula now. Errors in it come with status 200."""
    pool = _pool(call)
    formula = bodies.read(pool_bodies.Evaluate, call.body).auto_scale_formula
    if pool.autoscale is None:
        message = "The specified pool is not configured for automatic scaling."
        raise conflict("AutoScalingNotEnabled", message)
    run = call.emulator.conductor.scaler.evaluate(pool, formula)
    shown = run_view(call.emulator.clock(), run.results, run.error)
    kind = "Microsoft.Azure.Batch.Protocol.Entities.AutoScaleRun"
    return document(call, kind, shown)


def _pool(call: Call) -> Pool:
    pool = call.store.pool(call.names["pool"])
    check_conditions(call.request, pool)
    if pool.deleting:
        raise conflict("PoolBeingDeleted", "The specified pool is being deleted.")
    return pool


def _saved(call: Call, pool: Pool) -> web.Response:
    call.store.save(pool)
    call.emulator.conductor.nudge()
    return done(call, 200, pool)
