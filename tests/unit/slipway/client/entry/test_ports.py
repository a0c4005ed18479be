"""The ports of a `slipway forward`, as people write them, and what this machine has."""

from __future__ import annotations

import socket

import pytest

from slipway.client.entry.ports import listener, parsed_ports
from slipway.client.entry.tools import Person, forwarding
from slipway.failure import Failure
from tests.unit.slipway.client.entry.test_tools import place


@pytest.mark.parametrize(
    ("texts", "ports"),
    [(["6006"], {6006: 6006}), (["6006:80", "8888"], {6006: 80, 8888: 8888}), (["65535"], {65535: 65535})],
)
def test_a_port_of_the_job_has_one_here(texts: list[str], ports: dict[int, int]) -> None:
    assert parsed_ports(texts) == ports


@pytest.mark.parametrize(
    "text", ["0", "65536", "80:70000", "-L", "http", "1:2:3", "80:", ":80", " 80", "8\u0660"]
)
def test_what_is_not_a_port_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(Failure, match="write 6006, or 6006:8080"):
        parsed_ports([text])


def test_a_port_of_the_job_is_named_once() -> None:
    with pytest.raises(Failure, match="named twice"):
        parsed_ports(["80:81", "80:82"])


def test_a_port_that_is_taken_is_the_next_free_one_and_says_so(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", 0))
        busy.listen()
        port = busy.getsockname()[1]

        with listener(port) as own:
            address, other = own.getsockname()

    assert address == "127.0.0.1"
    assert other > port
    assert f"the port {port} is taken here: {other} instead" in capsys.readouterr().err


def test_kubectl_and_ssh_forward_to_this_machine_alone() -> None:
    ports = {6006: 6006, 8888: 9999}

    by_kubectl = forwarding(place("kubectl"), ports, Person(context="mine"))
    by_ssh = forwarding(place("ssh"), ports, Person())

    assert by_kubectl == [
        *("kubectl", "--context=mine", "--namespace=slipway", "port-forward", "--address=127.0.0.1"),
        *("pod/train-1-0-x7k2p", "6006:6006", "9999:8888"),
    ]
    assert [one for one in by_ssh if one.startswith("127.")] == [
        *("127.0.0.1:6006:127.0.0.1:6006", "127.0.0.1:9999:127.0.0.1:8888", "127.0.1.1"),
    ]
    assert "ExitOnForwardFailure=yes" in by_ssh


def test_slurm_has_no_forwarding_of_its_own() -> None:
    assert forwarding(place("srun"), {6006: 6006}, Person()) == []
