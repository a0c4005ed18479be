"""The host: one app, one runtime, all its triggers, one HTTP server."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from aiohttp import web
from azure.core.exceptions import AzureError

from local.border import Border
from local.host.admin import Admin
from local.host.hostjson import HostJson
from local.host.index import errors_of
from local.host.invoker import Invoker
from local.host.keys import Keys
from local.host.limits import LONGEST_HEADER, LONGEST_LINE, within_limits
from local.host.outputs import Outputs
from local.host.settings import SettingsError, is_disabled, resolve
from local.host.storage import Accounts, host_id
from local.host.times import Times
from local.host.triggers.base import Environment
from local.host.triggers.blob import BlobTriggers
from local.host.triggers.framed import says_nothing
from local.host.triggers.http import HttpTriggers
from local.host.triggers.outage import StorageAwayError
from local.host.triggers.queue import body_of, by_hand, metadata_of, queue_listener
from local.host.triggers.timer import Timer, timer
from local.host.wakeups import Wakeups
from local.host.worker.contract import Data, Function, Runtime

_log = logging.getLogger("Host")

_LARGEST_BODY = 100 * 1024 * 1024
#: Seconds until a listener that failed starts again.
_AGAIN = 2.0


@dataclass(frozen=True, kw_only=True)
class HostOptions:
    """The app to run, and its ports.

    `grace`: seconds for functions in progress at the end. `ended` is set when the host has to end by itself.
    """

    app: Path
    settings: Mapping[str, str]
    host: HostJson
    keys: Keys
    port: int = 0
    times: Times = field(default_factory=Times)
    grace: float = 30.0
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    border: Border = field(default_factory=Border)


@asynccontextmanager
async def serve(options: HostOptions, runtime: Runtime) -> AsyncIterator[str]:
    """Run the app with a started or startable runtime for the length of the block; yields the base URL.

    At the end: no new work, `grace` for what is in progress, leases handed back.
    Raises LoadError when the app cannot be loaded, SettingsError when its storage or port cannot be used.
    """
    async with AsyncExitStack() as stack:
        functions = await runtime.start()
        stack.push_async_callback(runtime.stop)
        accounts = Accounts(options.settings)
        stack.push_async_callback(accounts.close)
        errors = await errors_of(functions, options.settings, accounts)
        host = _Host(options, runtime, accounts, functions, errors)
        stack.push_async_callback(host.close)
        try:
            await host.open()
        except AzureError as error:
            why = "is Azurite running, and does AzureWebJobsStorage name its ports?"
            raise SettingsError(f"the storage account of the host cannot be used: {why}") from error
        yield await host.listen()


class _Host:
    def __init__(
        self,
        options: HostOptions,
        runtime: Runtime,
        accounts: Accounts,
        functions: list[Function],
        errors: Mapping[str, str],
    ) -> None:
        wakeups = Wakeups()
        outputs = Outputs(accounts, options.settings, options.host, wakeups)
        self._options = options
        self._environment = Environment(
            id=host_id(options.app, options.settings),
            settings=options.settings,
            host=options.host,
            accounts=accounts,
            wakeups=wakeups,
            invoker=Invoker(runtime, outputs),
            times=options.times,
            ended=options.ended,
        )
        self._functions = {f.name: f for f in functions}
        self._errors = errors
        self._disabled = frozenset(f.name for f in functions if is_disabled(f.name, options.settings))
        http = self._functions_of("httpTrigger")
        self._http = HttpTriggers(http, self._environment, options.keys, self._disabled)
        self._blobs = BlobTriggers(self._functions_of("blobTrigger"), self._environment)
        self._timers: dict[str, Timer] = {}
        self._drains: list[Any] = []
        self._tasks: list[asyncio.Task[None]] = []
        self._runner: web.AppRunner | None = None
        self._admin = Admin(
            host=self._environment.id,
            functions=self._functions,
            disabled=self._disabled,
            errors=errors,
            keys=options.keys,
            http=self._http,
            blobs=self._blobs,
            run_now=self._run_now,
        )

    async def open(self) -> None:
        """Start the listeners."""
        listeners = [(f, await queue_listener(f, self._environment)) for f in self._enabled("queueTrigger")]
        for function in self._functions_of("timerTrigger"):
            self._timers[function.name] = await timer(function, self._environment)
        if self._enabled("blobTrigger"):
            listener, scans = await self._blobs.open(self._disabled)
            self._drains.append(listener.drain)
            self._start("blob queue", listener.run)
            for scan in scans:
                self._start("blob scan", partial(scan.run, self._options.times.blob_scan))
        for function, listener in listeners:
            self._drains.append(listener.drain)
            self._start(function.name, listener.run)
        for name, each in self._timers.items():
            self._drains.append(each.drain)
            if name not in self._disabled:
                self._start(name, each.run)
        self._drains.append(self._admin.drain)

    async def listen(self) -> str:
        """Open the HTTP server; its address."""
        guards = [within_limits, self._options.border.guard]
        app = web.Application(middlewares=guards, client_max_size=_LARGEST_BODY)
        self._admin.add_to(app)
        app.router.add_route("*", r"/{path:[\s\S]*}", self._http.handle, expect_handler=says_nothing)
        self._runner = runner = web.AppRunner(
            app,
            access_log=None,
            shutdown_timeout=self._options.grace,
            handler_cancellation=False,
            auto_decompress=False,
            max_line_size=LONGEST_LINE,
            max_field_size=LONGEST_HEADER,
            max_headers=LONGEST_HEADER,
        )
        await runner.setup()
        try:
            await web.TCPSite(runner, "127.0.0.1", self._options.port).start()
        except OSError as error:
            port = f"port {self._options.port} ({error.strerror})"
            raise SettingsError(f"cannot listen on {port}; stop what runs there or choose --port") from error
        url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        self._list(url)
        return url

    async def close(self) -> None:
        """Start nothing more, let running invocations finish, and hand back the rest."""
        for task in self._tasks:
            task.cancel()
        ends = [drain(self._options.grace) for drain in self._drains]
        if self._runner is not None:
            ends.append(self._runner.cleanup())
        await asyncio.gather(*ends)
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=5)

    def _start(self, name: str, run: Callable[[], Coroutine[Any, Any, None]]) -> None:
        self._tasks.append(asyncio.create_task(kept_up(name, run, self._options.ended), name=name))

    async def _run_now(self, function: Function, text: str) -> None:
        """A run by hand: the input is a message, a blob's path, or nothing for a timer."""
        kind = function.trigger["type"]
        if kind == "timerTrigger":
            await self._timers[function.name].fire()
        elif kind == "blobTrigger":
            try:
                await self._blobs.run_now(function.name, text)
            except AzureError as error:
                _log.warning(
                    "function %s: blob %s cannot be read: %s", function.name, text, type(error).__name__
                )
        else:
            body = body_of(text, function.trigger, "none") or Data("string", text)
            inputs, metadata = {function.trigger["name"]: body}, metadata_of(by_hand(text), body)
            await self._environment.invoker.run(function, inputs, metadata, reason="by hand")

    def _functions_of(self, kind: str) -> list[Function]:
        """Those that can run."""
        return [
            f for f in self._functions.values() if f.trigger["type"] == kind and f.name not in self._errors
        ]

    def _enabled(self, kind: str) -> list[Function]:
        return [f for f in self._functions_of(kind) if f.name not in self._disabled]

    def _list(self, url: str) -> None:
        _log.info("%d functions in %s:", len(self._functions), self._options.app)
        for name, function in self._functions.items():
            if name in self._errors:
                continue
            trigger = function.trigger
            kind = trigger["type"]
            where = trigger.get("queueName") or trigger.get("path") or trigger.get("schedule") or ""
            where = resolve(str(where), self._options.settings, name)
            if kind == "httpTrigger":
                methods = ",".join(map(str, trigger.get("methods") or ["*"]))
                where = f"[{methods}] {url}{self._http.template(function)}"
            _log.info("  %s: %s %s%s", name, kind, where, " (disabled)" if name in self._disabled else "")


async def kept_up(name: str, run: Callable[[], Coroutine[Any, Any, None]], ended: asyncio.Event) -> None:
    """Run a listener until it ends by itself, or has to end the host; restart it after other errors."""
    while True:
        try:
            return await run()
        except StorageAwayError as error:
            _log.error("the host ends: %s", error)
            return ended.set()
        except Exception:  # noqa: BLE001 a defect of one listener, once: the others go on, and so does it
            _log.exception("the listener of %s failed, and starts again in %g s", name, _AGAIN)
        await asyncio.sleep(_AGAIN)
