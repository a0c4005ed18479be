"""The key of one session, for a login node that wants a certificate: made for it, and removed with it.

Only its public half is sent. Its folder is this user's alone; the certificate beside it is for one job and
some minutes.
"""

from __future__ import annotations

import asyncio
import math
import shutil
import subprocess
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from slipway.failure import Failure

#: Seconds after which a certificate is replaced before another connection: it is for five minutes.
_FRESH = 120.0


@dataclass
class SessionKey:
    """A key in a file, and its certificate once there is one."""

    file: Path
    public: str
    clock: Callable[[], float] = time.time  # another one stands still while the machine sleeps
    #: when its certificate came
    _signed: float = field(default=-math.inf, init=False)
    _asking: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)

    def certify(self, certificate: str) -> None:
        """Put a certificate where ssh looks for it."""
        new = self.file.with_name("new")
        new.write_text(f"{certificate}\n")
        new.replace(self.file.with_name(f"{self.file.name}-cert.pub"))
        self._signed = self.clock()

    async def renew(self, ask: Callable[[], Awaitable[object]]) -> None:
        """Before a connection: `ask` for another certificate if this one could be over. Raises Failure."""
        async with self._asking:
            if not 0 <= self.clock() - self._signed <= _FRESH:
                await ask()


@contextmanager
def session_key() -> Iterator[SessionKey | None]:
    """A new key until the block ends; None on a machine without OpenSSH, which no such login node lets in."""
    if shutil.which("ssh-keygen") is None:
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="slipway-") as folder:
        file = Path(folder) / "key"
        yield SessionKey(file, new_key(file))


def new_key(file: Path) -> str:
    """Make a key without a passphrase. Returns its public half. Raises Failure."""
    words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", str(file)]
    if subprocess.run(words, stdin=subprocess.DEVNULL, check=False).returncode:
        raise Failure(f"ssh-keygen wrote no key at {file}")
    return file.with_name(f"{file.name}.pub").read_text().strip()
