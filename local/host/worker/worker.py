"""The worker process: runs one app with one runtime and answers the host over a socket pair.

Started by pool.py as `python -c … FD RUNTIME APP SECONDS`. A host that stops ends it; one that is
killed leaves it behind for that many seconds, in which it goes on with what it does, as Azure's does.
"""

import asyncio
import logging
import os
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

from local.host.worker.contract import LoadError, Runtime, RuntimeName, current_invocation
from local.host.worker.load import load_runtime
from local.host.worker.wire import encode, function_to_json, invocation_from_json, receive, result_to_json

#: Invocations in progress: id → function name, for the log lines of the app.
_running: dict[str, str] = {}


def main(fd: int, runtime: RuntimeName, app: Path, orphan: float) -> None:
    """Serve until the host goes away. Never returns: threads of the app must not hold the process."""
    begin_logging()
    with asyncio.Runner(loop_factory=_loop_of(runtime)) as runner:
        code = runner.run(_serve(fd, runtime, app, orphan))
    with suppress(BrokenPipeError):  # the host that reads them was killed
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)


def place_app(app: Path) -> None:
    """Make the app importable as Azure does: its root last on the path, so that installed packages win.

    The root of this host is taken off first, because its modules would hide the app's.
    """
    mine = Path(__file__).resolve().parents[3]
    sys.path[:] = [entry for entry in sys.path if entry and Path(entry).resolve() not in (mine, app)]
    sys.path.append(str(app))


def begin_logging() -> None:
    """Log lines from INFO on, with the function that wrote them; the levels of libraries are the app's."""
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(where)s%(levelname)s %(name)s: %(message)s"))
    handler.addFilter(_add_where)
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)


def check_origin(app: Path) -> None:
    """Refuse another project's module in place of the app's, which the order of the path allows."""
    script = os.environ.get("PYTHON_SCRIPT_FILE_NAME", "function_app.py")
    module = sys.modules.get(Path(script).stem)
    origin = getattr(module, "__file__", None)
    if origin is not None and Path(origin).resolve().parent != app:
        raise LoadError(f"Python found {script} at {origin}, not in {app}; remove what hides the app's.")


def _loop_of(runtime: RuntimeName) -> Callable[[], asyncio.AbstractEventLoop] | None:
    """The factory of the event loop: uvloop for the production runtime, as in Azure's worker; None: asyncio.

    Source: Azure/azure-functions-python-worker, workers/proxy_worker/start_worker.py (Python 3.13 and later).
    """
    if runtime != "library":
        return None
    try:
        import uvloop  # has no wheel for every system; Azure's worker goes on without it, too
    except ModuleNotFoundError:
        return None
    return uvloop.new_event_loop


async def _serve(fd: int, runtime_name: RuntimeName, app: Path, orphan: float) -> int:
    reader, writer = await asyncio.open_unix_connection(sock=socket.socket(fileno=fd))
    try:
        runtime = load_runtime(runtime_name, app)
        place_app(app)
        functions = await runtime.start()
        check_origin(app)
    except LoadError as error:
        # The runtime's own frames do not help; the app's show where.
        stack = error.stack if str(app) in error.stack else ""
        writer.write(encode({"refused": str(error), "stack": stack}))
        await writer.drain()
        return 1
    writer.write(encode({"functions": [function_to_json(f) for f in functions]}))
    names = {f.id: f.name for f in functions}
    tasks: set[asyncio.Task[None]] = set()
    while (document := await receive(reader)) is not None:
        task = asyncio.create_task(_answer(runtime, names, document, writer))
        tasks.add(task)
        task.add_done_callback(tasks.discard)
    await asyncio.sleep(orphan)
    return 0


async def _answer(
    runtime: Runtime, names: dict[str, str], document: Any, writer: asyncio.StreamWriter
) -> None:
    call = invocation_from_json(document)
    _running[call.id] = names[call.function_id]
    try:
        result = await runtime.invoke(call)
    finally:
        del _running[call.id]
    writer.write(encode({"id": call.id, "result": result_to_json(result)}))
    await writer.drain()


def _add_where(record: logging.LogRecord) -> bool:
    invocation = current_invocation.get()
    if invocation is None and (library := sys.modules.get("azure_functions_runtime")) is not None:
        invocation = (
            library.invocation_id_cv.get()
        )  # functions on threads: only the library's variable is set
    name = _running.get(invocation or "")
    record.where = f"[{name} {(invocation or '')[:8]}] " if name else ""
    return True


if __name__ == "__main__":
    main(int(sys.argv[1]), cast(RuntimeName, sys.argv[2]), Path(sys.argv[3]), float(sys.argv[4]))
