"""Child processes: lines, readiness, ends."""

import errno
import signal
import sys

import pytest

from local.process import ProcessError, child

#: Longer than the patience of the tests, also where the processor is another's for most of the time.
_BUSY = "import time\nend = time.monotonic() + 1.5\nwhile time.monotonic() < end: pass"


def _python(code: str) -> list[str]:
    return [sys.executable, "-u", "-c", code]


async def test_a_line_is_found_whether_it_was_written_or_is_to_come() -> None:
    records: list[str] = []
    code = "print('warming'); print('ready http://x'); import time; time.sleep(60)"

    async with child(_python(code), name="it", on_line=records.append) as process:
        assert (await process.line(r"^ready (\S+)"))[1] == "http://x"
        assert await process.line("warming")

    assert records == ["warming", "ready http://x"]
    assert process.returncode == -signal.SIGTERM


async def test_one_that_ends_too_early_is_reported_with_its_last_lines() -> None:
    async with child(_python("import sys; sys.exit('no luck')"), name="it") as process:
        with pytest.raises(ProcessError, match=r"it ended with exit code 1 .*\n  \| no luck"):
            await process.line("ready")


async def test_one_that_stalls_before_it_is_ready_is_reported() -> None:
    async with child(_python("print('up'); import time; time.sleep(60)"), name="it") as process:
        await process.line("up")
        with pytest.raises(ProcessError, match=r"it was not ready, and did nothing for 0\.5 s; .*\n  \| up"):
            await process.line("ready", seconds=0.5)


async def test_one_that_works_is_given_more_time() -> None:
    code = f"{_BUSY}\nprint('ready'); time.sleep(60)"

    async with child(_python(code), name="it") as process:
        assert await process.line("ready", seconds=1)


async def test_one_that_starts_another_is_given_the_time_that_this_one_works() -> None:
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {_BUSY!r}]); print('ready')"

    async with child(_python(code), name="it") as process:
        assert await process.line("ready", seconds=1)


async def test_one_that_works_for_good_is_not_waited_for() -> None:
    async with child(_python("print('up')\nwhile True: pass"), name="it") as process:
        await process.line("up")
        with pytest.raises(ProcessError, match=r"it was not ready within 4 s; .*\n  \| up"):
            await process.line("ready", seconds=0.4)


async def test_one_that_ignores_the_request_is_killed() -> None:
    code = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('deaf'); time.sleep(60)"

    async with child(_python(code), name="it", grace=0.1) as process:
        await process.line("deaf")

    assert process.returncode == -signal.SIGKILL


async def test_a_program_that_is_not_there_is_reported() -> None:
    with pytest.raises(ProcessError, match="it could not be started: /nowhere/program"):
        async with child(["/nowhere/program"], name="it"):
            raise AssertionError("it started")


async def test_the_exit_code_and_all_lines_are_there_after_waiting() -> None:
    async with child(_python("print('last'); raise SystemExit(3)"), name="it") as process:
        assert await process.wait() == 3
        assert process.recent == ("last",)


async def test_an_endless_line_does_not_end_the_reading() -> None:
    async with child(_python("print('x' * 3_000_000); print('after')"), name="it") as process:
        assert await process.line("^after$")


async def test_a_log_that_cannot_be_written_does_not_stop_the_child() -> None:
    """Its pipe would fill up, and it would wait for ever in the middle of a line."""

    def full(_: str) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    async with child(_python("for n in range(20_000): print(n)"), name="it", on_line=full) as process:
        assert await process.wait() == 0
        assert process.recent[-1] == "19999"
