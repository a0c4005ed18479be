"""`slipway up`: its ports, and the guide that it prints."""

import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from local.stack import Ports
from slipway.failure import Failure
from slipway.stack.data_folder import lock_folder, most_nodes
from slipway.stack.ports import busy_ports, check_ports, ports_from, usable_ports
from slipway.stack.up import emulator_arguments, host_names, run


@pytest.fixture
def busy() -> Iterator[int]:
    """A port on which someone listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def test_storage_takes_three_ports_in_a_row_or_any() -> None:
    three = (10000, 10001, 10002)

    assert ports_from(10000, 1, 2, 3) == Ports(azurite=three, host=1, emulator=2, receiver=3)
    assert ports_from(0, 0, 0, 0) == Ports()


def test_free_ports_pass() -> None:
    check_ports(Ports())


@pytest.mark.parametrize(
    ("option", "ports"),
    [
        ("--port", lambda port: Ports(host=port)),
        ("--emulator-port", lambda port: Ports(emulator=port)),
        ("--receiver-port", lambda port: Ports(receiver=port)),
        ("--storage-port", lambda port: Ports(azurite=(0, port, 0))),
    ],
)
def test_a_busy_port_is_named_with_its_option(busy: int, option: str, ports: Callable[[int], Ports]) -> None:
    with pytest.raises(
        Failure, match=rf"port {busy} .* with {option}, or let `slipway up --any-ports` choose$"
    ):
        check_ports(ports(busy))


def test_a_port_that_is_none_is_refused() -> None:
    with pytest.raises(Failure, match=r"port 70000 .* with --port, or let"):
        check_ports(Ports(host=70000))


def test_any_port_takes_the_place_of_a_busy_one_and_of_no_other(busy: int) -> None:
    assert busy_ports(Ports(host=busy)) == [busy]
    assert usable_ports(Ports(host=busy, emulator=0)) == Ports()
    assert usable_ports(Ports(azurite=(0, busy, 0))) == Ports(azurite=None)
    with socket.create_server(("127.0.0.1", 0)) as other:
        free = other.getsockname()[1]
    ports = Ports(azurite=(free, 0, 0), receiver=free)
    assert usable_ports(ports) == ports


def test_a_file_for_the_emulator_is_named_by_its_whole_path_and_has_to_be_there(tmp_path: Path) -> None:
    file = tmp_path / "secrets.json"
    with pytest.raises(Failure, match=f"--secrets-file: there is no file {file}"):
        emulator_arguments(None, file, None)
    file.write_text("{}")

    assert emulator_arguments(None, None, None) == ()
    assert emulator_arguments("host", file, file) == (
        "--containers=host",
        f"--secrets-file={file}",
        f"--unmanaged-mounts={file}",
    )


def test_options_of_the_emulator_are_refused_where_jobs_run_on_slurm() -> None:
    with pytest.raises(Failure, match="--containers is an option of the emulator, but the cluster is slurm"):
        run(None, Ports(), 1, "slurm", ("--containers=host",))


def test_data_that_is_no_folder_is_refused_by_its_option(tmp_path: Path) -> None:
    (tmp_path / "README.md").touch()

    for folder in (tmp_path / "README.md", Path("/proc/nothing")):
        with pytest.raises(Failure, match=f"--data {folder} cannot be used"):
            run(folder, Ports(), 1)


def test_a_second_stack_in_the_same_folder_is_refused_and_says_where_the_first_one_is(tmp_path: Path) -> None:
    busy = socket.socket()
    busy.bind(("127.0.0.1", 0))
    with busy, lock_folder(tmp_path):
        ports = Ports(host=busy.getsockname()[1])  # the first one has it: that is not what is wrong
        with pytest.raises(Failure, match="a stack is running already, or about to, with its data in"):
            run(tmp_path, ports, 2)
        (tmp_path / "url").write_text("http://127.0.0.1:7071", encoding="utf-8")
        with pytest.raises(Failure, match=r"a stack is running already, at http://127.0.0.1:7071, with its"):
            run(tmp_path, ports, 2)


def test_a_cluster_keeps_the_number_of_nodes_that_it_was_made_with(tmp_path: Path) -> None:
    assert most_nodes(tmp_path, 5) == 5
    assert most_nodes(tmp_path, 2) == 5


def test_a_further_name_of_this_machine_is_a_name_alone() -> None:
    assert host_names(["Name-7071.app.example.dev", "box"]) == ("name-7071.app.example.dev", "box")

    for wrong in ("https://box", "box:7071", "*.example.dev", ""):
        with pytest.raises(Failure, match=r"--allow-host: .* is not a host name"):
            host_names([wrong])
