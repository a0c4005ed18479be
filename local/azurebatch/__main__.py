"""`python -m local.azurebatch`: run the emulator until SIGTERM or Ctrl-C."""

import argparse
import asyncio
import contextlib
import logging
import socket
import sys
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from aiohttp import web

from local.azurebatch.api.app import application
from local.azurebatch.settings import ACCOUNT, KEY, Pace, Settings
from local.border import Border, add_option
from local.nodes.settings import Account
from local.record_file import StoreBusyError, StoreFullError
from local.stop import stop_event

_HOST = "127.0.0.1"


def main() -> int:
    """Read the options and serve until stopped; the exit code."""
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="azurebatch: %(message)s")
    options = _parser().parse_args()
    try:
        return asyncio.run(_serve(_settings(options), options.port, options.until_stdin_closes))
    except (StoreBusyError, StoreFullError) as error:
        return _fail(str(error))


async def _serve(settings: Settings, port: int, until_stdin_closes: bool) -> int:
    stop = stop_event(until_stdin_closes=until_stdin_closes)
    try:
        listening = socket.create_server((_HOST, port))
    except OSError as error:
        return _fail(
            f"cannot listen on {_HOST}:{port}: {error.strerror}; choose another --port, or 0 for any"
        )
    url = f"http://{_HOST}:{listening.getsockname()[1]}"
    try:
        app = application(replace(settings, url=url))
    except OSError as error:
        return _fail(f"cannot use {error.filename or settings.data}: {error.strerror}; choose another --data")
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=1)
    await runner.setup()
    async with contextlib.AsyncExitStack() as running:
        running.push_async_callback(runner.cleanup)
        await web.SockSite(runner, listening).start()
        sys.stdout.write(f"ready {url}\n")
        sys.stdout.flush()
        await stop.wait()
    return 0


def _settings(options: argparse.Namespace) -> Settings:
    often = options.autoscale_seconds
    return Settings(
        data=options.data.resolve(),
        account=Account(name=ACCOUNT, key=KEY, blob_endpoint=""),
        node_path=tuple(path.resolve() for path in options.node_path),
        containers=options.containers,
        border=Border(frozenset(options.allow_host)),
        pace=Pace(
            provisioning=timedelta(seconds=options.provisioning_seconds),
            leaving=timedelta(seconds=options.leaving_seconds),
            preempted=timedelta(seconds=options.preempted_seconds),
            autoscale=None if often is None else timedelta(seconds=often),
        ),
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m local.azurebatch", description="The emulator of Azure Batch."
    )
    parser.add_argument("--port", type=int, default=0, help="port on 127.0.0.1; 0 for any free one (default)")
    add_option(parser)
    parser.add_argument("--data", type=Path, required=True, help="directory for state and nodes")
    parser.add_argument("--provisioning-seconds", type=float, default=2, help="how long a node takes to come")
    parser.add_argument("--leaving-seconds", type=float, default=0.5, help="how long a node takes to leave")
    parser.add_argument(
        "--preempted-seconds", type=float, default=2, help="after which a preempted node comes back"
    )
    parser.add_argument(
        "--autoscale-seconds",
        type=float,
        help="how often formulas are evaluated (default: as the pools say, from five minutes on)",
    )
    parser.add_argument(
        "--node-path", type=Path, action="append", default=[], help="directory for PATH on nodes"
    )
    parser.add_argument(
        "--containers",
        choices=["auto", "host", "require"],
        default="require",
        help="tasks with an image: in Docker or Podman if one answers; on the host; failed without a runtime",
    )
    parser.add_argument(
        "--until-stdin-closes", action="store_true", help="also stop when standard input reaches its end"
    )
    return parser


def _fail(message: str) -> int:
    sys.stderr.write(f"azurebatch: {message}\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
