"""One run of a function for any trigger: logged, its outputs written, retried if its policy allows."""

import asyncio
import logging
import time
from collections.abc import Mapping
from dataclasses import replace
from uuid import uuid4

from local.host.outputs import OutputError, Outputs
from local.host.settings import SettingsError
from local.host.worker.contract import Data, Function, Invocation, Result, RetryPolicy, Runtime


class Invoker:
    """Runs functions with a runtime."""

    def __init__(self, runtime: Runtime, outputs: Outputs) -> None:
        self._runtime = runtime
        self._outputs = outputs

    async def run(
        self,
        function: Function,
        inputs: Mapping[str, Data],
        metadata: Mapping[str, Data],
        *,
        reason: str,
        retry: RetryPolicy | None = None,
    ) -> Result:
        """Run it, retried by `retry` while it fails; returns the last result. `reason` is for the log."""
        call = Invocation(
            id=str(uuid4()),
            function_id=function.id,
            inputs=inputs,
            metadata=metadata,
            retry_limit=retry.limit if retry is not None else 0,
        )
        retries = 0
        while True:
            result = await self._invoke_once(function, replace(call, retry_count=retries), reason)
            if result.ok or retry is None or 0 <= retry.limit <= retries:
                return result
            await asyncio.sleep(delay_of(retry, retries))
            retries += 1

    async def _invoke_once(self, function: Function, call: Invocation, reason: str) -> Result:
        log = logging.getLogger(f"Function.{function.name}")
        log.info("function %s started (id %s, %s)", function.name, call.id, reason)
        begin = time.perf_counter()
        result = await self._runtime.invoke(call)
        if result.ok:
            try:
                await self._outputs.write(function, result, call.metadata)
            except (OutputError, SettingsError) as error:
                result = Result(error=str(error))
        duration = (time.perf_counter() - begin) * 1000
        if result.ok:
            log.info("function %s succeeded in %.0f ms (id %s)", function.name, duration, call.id)
        else:
            shown = f"{result.error}\n{result.stack}".rstrip()
            log.error("function %s failed in %.0f ms (id %s): %s", function.name, duration, call.id, shown)
        return result


def delay_of(retry: RetryPolicy, retries: int) -> float:
    """Seconds before the next retry; `retries` counts earlier ones."""
    if retry.strategy == "fixed_delay":
        return retry.delay
    doubled: float = max(retry.minimum, 0.1) * 2.0 ** min(retries, 30)
    return min(doubled, retry.maximum or doubled)
