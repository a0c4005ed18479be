"""`python -m local.batchai`: run the emulator until SIGTERM or Ctrl-C."""

import argparse
import asyncio
import contextlib
import json
import logging
import socket
import sys
from datetime import timedelta
from pathlib import Path

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from local.batchai.api.app import application
from local.batchai.api.login import TENANT
from local.batchai.https.certificate import certificate, server_context
from local.batchai.https.proxy import StorageProxy
from local.batchai.state.notices import NoticeSettings
from local.batchai.state.scheduler import Pace
from local.batchai.state.settings import Settings
from local.border import Border, add_option
from local.nodes import gpus
from local.nodes.settings import Address, SettingsError, account, table
from local.record_file import StoreBusyError, StoreFullError
from local.stop import stop_event

_HOST = "127.0.0.1"


def main() -> int:
    """Read the options and serve until stopped; the exit code."""
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="batchai: %(message)s")
    # The storage SDK logs each request that fails, addresses included.
    logging.getLogger("azure").setLevel(logging.ERROR)
    # A request that is not HTTP gets status 400, and does not need a traceback.
    logging.getLogger("aiohttp.server").addFilter(_is_defect)
    options = _parser().parse_args()
    try:
        return asyncio.run(
            _serve(_settings(options), options.port, options.https_port, options.until_stdin_closes)
        )
    except (SettingsError, StoreBusyError, StoreFullError) as error:
        return _fail(str(error))


def _is_defect(record: logging.LogRecord) -> bool:
    return not (record.exc_info and isinstance(record.exc_info[1], HttpProcessingError))


async def _serve(settings: Settings, port: int, https_port: int | None, until_stdin_closes: bool) -> int:
    stop = stop_event(until_stdin_closes=until_stdin_closes)
    try:
        listening = socket.create_server((_HOST, port))
    except OSError as error:
        return _fail(
            f"cannot listen on {_HOST}:{port}: {error.strerror}; choose another --port, or 0 for any"
        )
    own = Address(_HOST, listening.getsockname()[1])
    address = f"http://{_HOST}:{own.port}"
    runner = web.AppRunner(application(settings, address), access_log=None, shutdown_timeout=1)
    await runner.setup()
    async with contextlib.AsyncExitStack() as running:
        running.push_async_callback(runner.cleanup)
        await web.SockSite(runner, listening).start()
        proxy = StorageProxy(settings.account.name, {**settings.account.local, "file": own})
        running.push_async_callback(proxy.close)
        await _serve_tls(runner, settings.data, https_port, proxy)
        sys.stdout.write(f"ready {address}\n")
        sys.stdout.flush()
        await stop.wait()
    return 0


async def _serve_tls(
    runner: web.AppRunner, data: Path, requested_port: int | None, proxy: StorageProxy
) -> None:
    """The same over https, for the Azure CLI, and the proxy to storage; ports stay the same over restarts.

    `https.json` holds what a client has to know.
    """
    file = data / "https.json"
    stored = json.loads(file.read_text()) if file.exists() else {}
    context = server_context(certificate(data, proxy.names))
    ports = [stored.get("port", 0), 0] if requested_port is None else [requested_port]
    for port in ports:
        site = web.TCPSite(runner, _HOST, port, ssl_context=context)
        with contextlib.suppress(OSError):
            await site.start()
            break
    else:
        raise SettingsError(
            f"cannot listen on {_HOST}:{ports[-1]}; choose another --https-port, or 0 for any"
        )
    port = runner.addresses[-1][1]
    address = {"url": f"https://{_HOST}:{port}", "port": port, "tenant": TENANT}
    address["proxy"] = await proxy.start(context, stored.get("proxy", 0))
    file.write_text(json.dumps(address))


def _settings(options: argparse.Namespace) -> Settings:
    return Settings(
        data=options.data.resolve(),
        account=account(options.storage_connection_string),
        node_path=tuple(options.node_path or ()),
        subscription=options.subscription,
        location=options.location,
        containers=options.containers,
        secrets_file=_table(options.secrets_file),
        unmanaged_mounts=_table(options.unmanaged_mounts),
        border=Border(frozenset(options.allow_host)),
        gpus=gpus.count(),
        grace=options.grace_seconds,
        notice=_notice(options),
        pace=Pace(
            provisioning=timedelta(seconds=options.provisioning_seconds),
            idle=timedelta(seconds=options.idle_seconds),
            leaving=timedelta(seconds=options.leaving_seconds),
        ),
    )


def _notice(options: argparse.Namespace) -> NoticeSettings | None:
    if not options.notice_queue:
        return None
    return NoticeSettings(
        queue=options.notice_queue,
        variable=options.notice_variable,
        connection_string=options.storage_connection_string,
    )


def _table(file: Path | None) -> Path | None:
    """The path of a file that the emulator reads later; an unreadable file is reported now."""
    if file is None:
        return None
    table(file)
    return file.resolve()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m local.batchai", description="The Batch AI emulator.")
    parser.add_argument("--port", type=int, default=0, help="port on 127.0.0.1; 0 for any free one (default)")
    add_option(parser)
    parser.add_argument(
        "--https-port", type=int, help="port for https; 0 for any (default: the one it had before, or any)"
    )
    parser.add_argument("--data", type=Path, required=True, help="directory for state, nodes and file shares")
    parser.add_argument("--storage-connection-string", required=True, help="the account that jobs mount from")
    parser.add_argument("--subscription", help="the only subscription to serve (default: any)")
    parser.add_argument("--location", default="eastus", help="name of the region in addresses")
    parser.add_argument(
        "--notice-queue", help="a storage queue that gets a message when jobs end (default: none)"
    )
    parser.add_argument(
        "--notice-variable", default="SLIPWAY_JOB_ID", help="the environment variable that names a job there"
    )
    _add_nodes(parser)
    parser.add_argument(
        "--secrets-file", type=Path, help="JSON object of addresses of Key Vault secrets and their values"
    )
    parser.add_argument(
        "--until-stdin-closes", action="store_true", help="also stop when standard input reaches its end"
    )
    return parser


def _add_nodes(parser: argparse.ArgumentParser) -> None:
    """The options of the nodes and of what jobs find there."""
    parser.add_argument("--provisioning-seconds", type=float, default=2, help="how long a node takes to come")
    parser.add_argument(
        "--idle-seconds", type=float, default=10, help="after which autoscale takes an idle node"
    )
    parser.add_argument("--leaving-seconds", type=float, default=0.5, help="how long a node takes to leave")
    parser.add_argument("--grace-seconds", type=float, default=30, help="from SIGTERM to the kill of a job")
    parser.add_argument(
        "--node-path",
        type=Path,
        action="append",
        help="directory for PATH on nodes (default: a Python of its own for each cluster)",
    )
    parser.add_argument(
        "--containers",
        choices=["auto", "host", "require"],
        default="auto",
        help="jobs with an image: in Docker or Podman if one answers; on the host; refused without a runtime",
    )
    parser.add_argument(
        "--unmanaged-mounts",
        type=Path,
        help="JSON object of mount commands and directories (default: unmanaged file systems are refused)",
    )


def _fail(message: str) -> int:
    sys.stderr.write(f"batchai: {message}\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
