"""`slipway up`: its ports, and the guide that it prints."""

import socket
from collections.abc import Callable, Iterator

import pytest

from cli.failure import Failure
from cli.up import check_ports, ports_from
from local.stack import Ports


@pytest.fixture
def busy() -> Iterator[int]:
    """A port on which somebody listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def test_storage_takes_three_ports_in_a_row_or_any() -> None:
    three = (10000, 10001, 10002)

    assert ports_from(10000, 1, 2, 3) == Ports(azurite=three, host=1, emulator=2, subscriber=3)
    assert ports_from(0, 0, 0, 0) == Ports()


def test_free_ports_pass() -> None:
    check_ports(Ports())


@pytest.mark.parametrize(
    ("option", "ports"),
    [
        ("--port", lambda port: Ports(host=port)),
        ("--emulator-port", lambda port: Ports(emulator=port)),
        ("--subscriber-port", lambda port: Ports(subscriber=port)),
        ("--storage-port", lambda port: Ports(azurite=(0, port, 0))),
    ],
)
def test_a_busy_port_is_named_with_its_option(busy: int, option: str, ports: Callable[[int], Ports]) -> None:
    with pytest.raises(Failure, match=rf"port {busy} .* with {option}$"):
        check_ports(ports(busy))


def test_a_port_that_is_none_is_refused() -> None:
    with pytest.raises(Failure, match=r"port 70000 .* with --port$"):
        check_ports(Ports(host=70000))
