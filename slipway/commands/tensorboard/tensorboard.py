"""`slipway tensorboard`: copies event files while a person's own TensorBoard shows them."""

import asyncio
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from slipway.client.mirror.mirror import Mirror, chosen
from slipway.client.service import Service
from slipway.commands.asking import asking
from slipway.commands.run.ending import endings
from slipway.failure import Failure
from slipway.terminal.screen import say

#: Seconds between two looks at the program, and in which it may end after it was asked to.
_LOOK_EVERY, _GRACE = 0.2, 5.0


def show(words: Sequence[str], to: Path | None, arguments: Sequence[str], url: str, key: str) -> int:
    """Run TensorBoard over the event files of these jobs and sweeps; its exit code. Raises Failure."""
    program = shutil.which("tensorboard")
    if program is None:
        raise Failure("there is no tensorboard on this machine's PATH; install it: pipx install tensorboard")

    async def follow(api: Service) -> int:
        jobs = await chosen(api, words)
        with directory(to) as folder, running(program, folder, arguments) as process:
            mirroring = asyncio.create_task(Mirror(api, jobs, folder).follow())
            try:
                while process.poll() is None:
                    if mirroring.done():
                        mirroring.result()
                    await asyncio.sleep(_LOOK_EVERY)
            finally:
                mirroring.cancel()
                await asyncio.gather(mirroring, return_exceptions=True)
            return process.returncode if process.returncode >= 0 else 128 - process.returncode

    with endings() as ending:
        try:
            return asking(follow, url, key)
        except KeyboardInterrupt:
            return ending.code


@contextmanager
def directory(to: Path | None) -> Iterator[Path]:
    """The directory for event files; without a name, one that is removed at the end of the block."""
    if to is not None:
        to.mkdir(parents=True, exist_ok=True)
        yield to
        return
    with tempfile.TemporaryDirectory(prefix="slipway-tensorboard-", ignore_cleanup_errors=True) as made_here:
        yield Path(made_here)


@contextmanager
def running(program: str, folder: Path, arguments: Sequence[str]) -> Iterator[subprocess.Popen[bytes]]:
    """TensorBoard over this directory; neither it nor what it has started outlives the block."""
    command = [program, "--logdir", str(folder.absolute()), *arguments]
    # A session of its own: Ctrl-C reaches this process alone, which then ends all of the others.
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)
    try:
        yield process
    finally:
        _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    try:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(_GRACE)
    except (subprocess.TimeoutExpired, KeyboardInterrupt):
        say("tensorboard does not end; it is killed")
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
