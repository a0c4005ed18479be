"""Ctrl-C, a request to end, and a closed terminal."""

from __future__ import annotations

import asyncio
import io
import signal

import pytest

from slipway.commands.run.ending import Ending, endings


@pytest.mark.parametrize(
    ("answers", "cancels", "questions"),
    [
        ("c\n", True, 1),
        ("zz\n Cancel \n", True, 2),
        ("\n", False, 1),
        ("", False, 1),
        ("x\ny\nd\n", False, 3),
    ],
)
def test_what_is_no_answer_is_asked_again(
    answers: str,
    cancels: bool,
    questions: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(answers))

    assert Ending().cancels("[D/c] ") == cancels
    assert capsys.readouterr().err.count("[D/c] ") == questions


def test_what_follows_a_question_without_an_answer_begins_a_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Interrupted:
        def readline(self) -> str:
            raise KeyboardInterrupt

    for stdin in (io.StringIO(""), Interrupted()):
        monkeypatch.setattr("sys.stdin", stdin)
        assert not Ending().cancels("[D/c] ")
        assert capsys.readouterr().err == "\n[D/c] \n"


@pytest.mark.parametrize(("by", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, 130)])
def test_each_signal_ends_it_as_ctrl_c_does_and_has_its_own_code(by: signal.Signals, code: int) -> None:
    usual = signal.default_int_handler if by is signal.SIGINT else signal.SIG_DFL
    before = signal.signal(by, usual)  # the tests may run below nohup, or in the background of a script
    try:
        with endings() as ending, pytest.raises(KeyboardInterrupt):
            signal.raise_signal(by)

        assert (ending.code, ending.by) == (code, by)
        assert signal.getsignal(by) == usual
    finally:
        signal.signal(by, before)


def test_only_a_person_who_pressed_ctrl_c_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    assert Ending().asks
    assert not Ending(signal.SIGTERM).asks


def test_a_signal_that_is_ignored_stays_ignored() -> None:
    """As under nohup."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with endings():
            signal.raise_signal(signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)


def test_ctrl_c_that_is_ignored_stays_ignored_and_other_signals_end_it() -> None:
    """As behind a script."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with endings() as ending:
            signal.raise_signal(signal.SIGINT)
            with pytest.raises(KeyboardInterrupt):
                signal.raise_signal(signal.SIGTERM)

        assert ending.code == 143
        assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN
        assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == set()
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_signal_ends_tasks_in_order_also_where_ctrl_c_is_ignored() -> None:
    """An exception at any place could leave a program behind that is just starting."""
    ends: list[type[BaseException]] = []

    async def work() -> None:
        try:
            signal.raise_signal(signal.SIGTERM)
            await asyncio.sleep(600)
        except BaseException as error:
            ends.append(type(error))
            raise

    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with endings(), pytest.raises(KeyboardInterrupt):
            asyncio.run(work())
    finally:
        signal.signal(signal.SIGINT, before)
    assert ends == [asyncio.CancelledError]
