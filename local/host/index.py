"""What Azure's host finds wrong with a function while it indexes the app: that one is off, the others run.

Its state is `Running` all the same. Source: FunctionIndexer and ScriptHost, which keep such errors by name.
"""

import logging
from collections.abc import Mapping, Sequence

from local.host.outputs import SUPPORTED
from local.host.settings import SettingsError, resolve
from local.host.storage import Accounts
from local.host.triggers.blob import is_event_grid, pattern_of
from local.host.triggers.http import endpoint_of
from local.host.triggers.timer import schedule_of
from local.host.worker.contract import Function

_log = logging.getLogger("Host")

_TRIGGERS = ("queueTrigger", "blobTrigger", "timerTrigger", "httpTrigger")
_FLEX = "flexconsumption"


async def errors_of(
    functions: Sequence[Function], settings: Mapping[str, str], accounts: Accounts
) -> dict[str, str]:
    """Each function that cannot run → the reason, which is also logged."""
    errors = {}
    for function in functions:
        try:
            await _check(function, settings, accounts)
        except SettingsError as error:
            errors[function.name] = str(error)
            _log.error("the function %s is in error, and does not run: %s", function.name, error)
    return errors


async def _check(function: Function, settings: Mapping[str, str], accounts: Accounts) -> None:
    """Read the trigger as the host does. Raises SettingsError."""
    trigger, where = function.trigger, f"function {function.name}"
    kind, connection = trigger["type"], str(trigger.get("connection", ""))
    if kind not in _TRIGGERS:
        raise SettingsError(f"{where}: the local host does not know the trigger {kind}; disable or remove it")
    if kind == "queueTrigger":
        resolve(trigger["queueName"], settings, where)
        await accounts.queues(connection, where)
    elif kind == "blobTrigger":
        pattern_of(function, settings)
        await accounts.blobs(connection, where)
        if settings.get("WEBSITE_SKU", "").lower() == _FLEX and not is_event_grid(function):
            raise SettingsError(f"{where}: Flex Consumption only supports EventGrid as the source of blobs")
    elif kind == "timerTrigger":
        schedule_of(function, settings)
    else:
        endpoint_of(function)
    for binding in function.outputs:
        if binding["type"] not in SUPPORTED:
            _log.warning("%s: output binding %s is not supported here", where, binding["type"])
    if function.retry is not None and kind != "timerTrigger":
        _log.warning("%s: a retry policy has no effect on a %s and is ignored", where, kind)
