"""The hook that stops every test from reaching out."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from tests.dialled.sitecustomize import refused

LOG = Path(os.environ["DIALLED_LOG"])


@pytest.mark.parametrize(
    ("event", "args", "free"),
    [
        ("socket.connect", (None, ("127.0.0.1", 80)), True),
        ("socket.connect", (None, ("::1", 80, 0, 0)), True),
        ("socket.connect", (None, "/run/some.sock"), True),
        ("socket.connect", (None, b"\0abstract"), True),
        ("socket.connect", (None, ("10.0.0.1", 80)), False),
        ("socket.connect", (None, ("169.254.169.254", 80)), False),
        ("socket.connect", (None, ("168.63.129.16", 80)), False),
        ("socket.connect", (None, ("fe80::1%eth0", 80, 0, 2)), False),
        ("socket.connect", (None, ("8.8.8.8", 53)), False),
        ("socket.sendto", (None, ("192.168.0.1", 53)), False),
        ("socket.getaddrinfo", ("localhost", 80, 0, 0, 0), True),
        ("socket.getaddrinfo", (None, 80, 0, 0, 0), True),
        ("socket.getaddrinfo", ("hooks.example.com", 443, 0, 0, 0), False),
        ("socket.getaddrinfo", (b"metadata.google.internal", 80, 0, 0, 0), False),
        ("socket.bind", (None, ("10.0.0.1", 80)), True),
    ],
)
def test_only_this_machine_may_be_dialled(event: str, args: tuple[object, ...], free: bool) -> None:
    assert (refused(event, args) is None) == free


def tried() -> str:
    """What was noted, taken back: these tries were meant."""
    text = LOG.read_text(encoding="utf-8")
    LOG.write_text("", encoding="utf-8")
    return text


def test_a_test_that_dials_is_stopped_and_noted() -> None:
    with pytest.raises(PermissionError, match="must not dial"):
        socket.create_connection(("169.254.169.254", 80), 1)
    with pytest.raises(PermissionError):
        socket.getaddrinfo("hooks.example.com", 443)
    assert [line.split()[1] for line in tried().splitlines()] == ["169.254.169.254", "hooks.example.com"]
