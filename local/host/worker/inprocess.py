"""A runtime in the host's own process, for a debugger: a crash ends the host, functionTimeout is ignored."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from local.host.worker.contract import Function, Invocation, Result, Runtime, RuntimeName
from local.host.worker.load import load_runtime
from local.host.worker.worker import check_origin


class InProcess:
    """Any runtime, with the worker's environment put into ours; one for each process."""

    def __init__(self, app: Path, name: RuntimeName, environment: Mapping[str, str]) -> None:
        self._app = app
        self._environment = environment
        self._runtime: Runtime = load_runtime(name, app)

    async def start(self) -> list[Function]:
        """Import and index the app. Its root comes first on the path: the host's own is on it too."""
        os.environ.update(self._environment)
        sys.path.insert(0, str(self._app))
        functions = await self._runtime.start()
        check_origin(self._app)
        return functions

    async def invoke(self, call: Invocation) -> Result:
        """Run a function; see Runtime.invoke."""
        return await self._runtime.invoke(call)

    async def stop(self) -> None:
        """End the threads that run functions."""
        await self._runtime.stop()
