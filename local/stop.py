"""When a server of the local stack has to end: at a signal, and when the process that started it is gone."""

import asyncio
import contextlib
import os
import signal
import threading


def stop_event(*, until_stdin_closes: bool) -> asyncio.Event:
    """Set by SIGTERM, SIGINT and, if asked, by the end of standard input, which a dying parent closes.

    Make it first: a signal that comes before it ends the process at once.
    """
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, ended.set)
    if until_stdin_closes:
        # A thread, since not every kind of standard input can be polled; daemonic, since it may never end.
        threading.Thread(target=_read_to_end, args=(loop, ended), daemon=True).start()
    return ended


def _read_to_end(loop: asyncio.AbstractEventLoop, ended: asyncio.Event) -> None:
    with contextlib.suppress(OSError):
        while os.read(0, 4096):
            pass
    with contextlib.suppress(RuntimeError):  # the loop is closed: we end anyway
        loop.call_soon_threadsafe(ended.set)
