"""`python -m local.host --app DIR`: run a function app until SIGTERM or Ctrl-C."""

import argparse
import asyncio
import logging
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from local.border import Border, add_option
from local.host.host import HostOptions, serve
from local.host.hostjson import HostJson, HostJsonError, read_host_json
from local.host.keys import read_keys
from local.host.settings import SettingsError, read_settings
from local.host.times import read_times
from local.host.worker.contract import LoadError, Runtime, RuntimeName
from local.host.worker.inprocess import InProcess
from local.host.worker.pool import WorkerOptions, WorkerPool
from local.stop import stop_event

_log = logging.getLogger("Host")
#: Seconds between two starts of a host that has ended by itself.
_AGAIN = 2.0
#: Of a worker: the first as `func start` sets it, the other as Azure's host.
_VARIABLES = {"AZURE_FUNCTIONS_ENVIRONMENT": "Development", "PYTHON_THREADPOOL_THREAD_COUNT": "1000"}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the host; 0 after a signal, 2 when the app or its settings cannot be used."""
    options = _parser().parse_args(arguments)
    try:
        return asyncio.run(_run(options))
    except LoadError as error:
        sys.stderr.write(f"{error.stack}error: {error}\n")
    except (SettingsError, HostJsonError) as error:
        sys.stderr.write(f"error: {error}\n")
    return 2


async def _run(options: argparse.Namespace) -> int:
    app: Path = options.app.resolve()
    host = read_host_json(app)
    set_log_levels(host)
    file = options.settings or app / "local.settings.json"
    settings = read_settings(file if options.settings or file.is_file() else None, os.environ)
    stop = stop_event(until_stdin_closes=options.until_stdin_closes)
    serving = HostOptions(
        app=app,
        settings=settings,
        host=host,
        keys=read_keys(settings, enabled=options.enable_auth),
        port=options.port,
        grace=options.grace,
        border=Border(frozenset(options.allow_host)),
        times=read_times(settings),
    )
    url = ""
    while not stop.is_set():
        runtime = _runtime(options, app, host, settings)
        try:
            async with serve(serving, runtime) as url:
                sys.stdout.write(f"ready {url}\n")
                sys.stdout.flush()
                await _end_of(runtime, stop, serving.ended)
                _log.info("stopping")
        except (LoadError, SettingsError) as error:
            if not url:
                raise
            _log.error("the next host cannot start, and is tried again in %g s: %s", _AGAIN, error)
            with suppress(TimeoutError):
                async with asyncio.timeout(_AGAIN):
                    await stop.wait()
        # In Azure the platform starts the next one, until it serves.
        serving = replace(serving, port=int(url.rpartition(":")[2]), ended=asyncio.Event())
    return 0


async def _end_of(runtime: Runtime, stop: asyncio.Event, ended: asyncio.Event) -> None:
    """Wait for the request to stop, or until the host has to end: its workers die, or storage is away."""
    events = [stop, ended, *([runtime.broken] if isinstance(runtime, WorkerPool) else [])]
    tasks = [asyncio.create_task(event.wait()) for event in events]
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in tasks:
        task.cancel()


def set_log_levels(host: HostJson) -> None:
    """Readable lines on standard error, with the levels of host.json by category (Host, Function.NAME, …)."""
    form = "%(asctime)s.%(msecs)03d %(message)s"
    logging.basicConfig(level=logging.INFO, format=form, datefmt="%H:%M:%S", stream=sys.stderr, force=True)
    logging.getLogger("azure").setLevel(logging.WARNING)
    names = {
        "trace": 5,
        "debug": 10,
        "information": 20,
        "warning": 30,
        "error": 40,
        "critical": 50,
        "none": 60,
    }
    for category, level in host.logging.log_level.items():
        number = names.get(level.lower())
        if number is None:
            raise HostJsonError(
                f"host.json: logging.logLevel.{category}: {level!r} is none of {', '.join(names)}"
            )
        logging.getLogger(None if category.lower() == "default" else category).setLevel(number)


def _runtime(options: argparse.Namespace, app: Path, host: HostJson, settings: dict[str, str]) -> Runtime:
    name: RuntimeName = options.runtime
    if options.in_process:
        return InProcess(app, name, settings)
    timeout = host.function_timeout
    worker = WorkerOptions(
        app=app,
        runtime=name,
        environment={**_VARIABLES, "FUNCTIONS_APPLICATION_DIRECTORY": str(app), **settings},
        orphan=read_times(settings).orphan,
        timeout=timeout.total_seconds() if timeout is not None else None,
    )
    return WorkerPool(worker, max(1, int(_number(settings, "FUNCTIONS_WORKER_PROCESS_COUNT", 1))))


def _number(settings: dict[str, str], name: str, default: float) -> float:
    try:
        return float(settings.get(name) or default)
    except ValueError:
        raise SettingsError(f"the setting {name} must be a number, not {settings[name]!r}") from None


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m local.host", description="A local host for Azure Functions apps."
    )
    parser.add_argument("--app", type=Path, required=True, help="folder with host.json and function_app.py")
    parser.add_argument(
        "--settings", type=Path, help="settings file (default: local.settings.json of the app)"
    )
    parser.add_argument("--port", type=int, default=0, help="port on 127.0.0.1 (default: a free one)")
    add_option(parser)
    parser.add_argument("--enable-auth", action="store_true", help="check function keys, as Azure does")
    parser.add_argument("--in-process", action="store_true", help="no worker process: for a debugger")
    parser.add_argument("--grace", type=float, default=30.0, help="seconds for running functions at the end")
    parser.add_argument(
        "--until-stdin-closes", action="store_true", help="also stop when standard input reaches its end"
    )
    default = "library" if sys.version_info >= (3, 13) else "sdk"
    parser.add_argument(
        "--runtime", choices=("library", "sdk"), default=default, help=f"(default: {default})"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
