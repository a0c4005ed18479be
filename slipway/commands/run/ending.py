"""The ways in which `slipway run` ends before its job: Ctrl-C, SIGTERM, a closed terminal."""

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

_REQUESTS = (signal.SIGTERM, signal.SIGHUP)


@dataclass
class Ending:
    """How the command was ended: its exit code for a shell, and whether there is a person to ask."""

    by: signal.Signals = signal.SIGINT

    @property
    def code(self) -> int:
        """The exit code of a shell command that this signal ended."""
        return 128 + self.by

    @property
    def asks(self) -> bool:
        """Whether a person at a terminal can decide about the job."""
        return self.by is signal.SIGINT and sys.stdin.isatty()

    def cancels(self, question: str) -> bool:
        """Whether the answer is to cancel; another Ctrl-C is not. An invalid answer repeats the question."""
        while True:
            sys.stderr.write(f"\n{question}")
            sys.stderr.flush()
            try:
                answer = sys.stdin.readline()
            except KeyboardInterrupt:
                answer = ""
            if not answer:  # the cursor is behind the question
                sys.stderr.write("\n")
                return False
            if (word := answer.strip().lower()) in ("", "d", "detach", "c", "cancel"):
                return word in ("c", "cancel")


@contextmanager
def endings() -> Iterator[Ending]:
    """In this block, other signals act like Ctrl-C: the job goes on, and the command reports that."""
    ending = Ending()
    if threading.current_thread() is not threading.main_thread():
        yield ending
        return

    is_ignored = (
        signal.getsignal(signal.SIGINT) == signal.SIG_IGN
    )  # as a script starts what it puts behind itself
    if is_ignored:
        # Blocked instead, with its usual handler: by that one alone asyncio ends its tasks in order, where an
        # exception could come while a program starts, and leave it behind.
        signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT,))
        signal.signal(signal.SIGINT, signal.default_int_handler)

    def as_ctrl_c(number: int, frame: FrameType | None) -> None:
        ending.by = signal.Signals(number)
        handler = signal.getsignal(signal.SIGINT)
        if callable(handler):
            handler(signal.SIGINT, frame)
        else:
            signal.raise_signal(signal.SIGINT)

    before = {
        one: signal.signal(one, as_ctrl_c) for one in _REQUESTS if signal.getsignal(one) == signal.SIG_DFL
    }
    try:
        yield ending
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
        if is_ignored:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGINT,))
