"""An engine in the host's own process, for a debugger: a crash ends the host, functionTimeout is ignored."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from local.host.contract import Engine, EngineName, Function, Invocation, Result, load_engine
from local.host.worker import check_origin


class InProcess:
    """Any engine, with the worker's environment put into ours; one for each process."""

    def __init__(self, app: Path, name: EngineName, environment: Mapping[str, str]) -> None:
        self._app = app
        self._environment = environment
        self._engine: Engine = load_engine(name, app)

    async def start(self) -> list[Function]:
        """Import and index the app. Its root comes first on the path: the host's own is on it too."""
        os.environ.update(self._environment)
        sys.path.insert(0, str(self._app))
        functions = await self._engine.start()
        check_origin(self._app)
        return functions

    async def invoke(self, call: Invocation) -> Result:
        """Run a function; see Engine.invoke."""
        return await self._engine.invoke(call)

    async def stop(self) -> None:
        """Free the threads."""
        await self._engine.stop()
