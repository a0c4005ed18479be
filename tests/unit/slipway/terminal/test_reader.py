"""A reader that has gone is noticed before there is anything to write."""

import io
import os
import socket
from pathlib import Path

import pytest

from slipway.client.jobs.lines import Printer
from slipway.terminal.reader import check_reader


def test_a_log_ends_when_nothing_reads_it_any_more() -> None:
    ours, theirs = os.pipe()
    with os.fdopen(theirs, "wb") as stream:
        printer = Printer(stream)
        printer.flush()
        os.close(ours)
        with pytest.raises(BrokenPipeError):
            printer.flush()


def test_what_is_read_or_has_no_reader_goes_on() -> None:
    ours, theirs = os.openpty()
    left, right = socket.socketpair()
    with left, right, os.fdopen(ours, "rb"), os.fdopen(theirs, "wb") as terminal:
        check_reader(terminal)
        check_reader(left.makefile("wb"))
    with Path(os.devnull).open("wb") as nowhere:
        check_reader(nowhere)
    check_reader(io.BytesIO())
