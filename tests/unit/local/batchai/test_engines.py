"""The command lines of container runtimes, and the environment that a job finds in an image."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from local.nodes.containers import exports
from local.nodes.docker import ContainerRuntime, answering, registry

DOCKER, PODMAN = ContainerRuntime("docker", "/bin/docker"), ContainerRuntime("podman", "/bin/podman")
BINDS = [Path("/data/nodes/1"), Path("/data/shares/acct/logs")]


def test_a_container_waits_with_the_directories_of_its_node_and_the_network_of_the_machine() -> None:
    argv = DOCKER.run("slipway-x-0-0", "ubuntu:16.04", BINDS)

    assert argv[:-2] == (
        *("/bin/docker", "run", "--detach", "--pull", "never", "--name", "slipway-x-0-0"),
        *("--network", "host", "--user", "0", "--security-opt", "label=disable", "--stop-timeout", "3"),
        *("--volume", "/data/nodes/1:/data/nodes/1"),
        *("--volume", "/data/shares/acct/logs:/data/shares/acct/logs"),
        *("--entrypoint", "/bin/sh", "ubuntu:16.04"),
    )
    assert argv[-2] == "-c"
    assert "sleep" in argv[-1]


@pytest.mark.parametrize(
    ("runtime", "words"),
    [
        (DOCKER, ("--gpus", "all", "--shm-size", "2g")),
        (PODMAN, ("--device", "nvidia.com/gpu=all", "--shm-size", "2g")),
    ],
)
def test_gpus_and_shared_memory_are_asked_for_as_each_runtime_has_it(
    runtime: ContainerRuntime, words: tuple[str, ...]
) -> None:
    argv = runtime.run("name", "image", [], "2g", gpus=True)

    start = argv.index(words[0])
    assert argv[start : start + 4] == words


def test_a_process_runs_in_its_directory_and_takes_its_environment_from_standard_input() -> None:
    argv = PODMAN.execute("name", Path("/work"), ("bash", "-c", "echo $A"))

    assert argv[:6] == ("/bin/podman", "exec", "--interactive", "--workdir", "/work", "name")
    assert argv[-4:] == ("sh", "bash", "-c", "echo $A")


def test_an_environment_arrives_as_it_is_whatever_is_in_it() -> None:
    env = {"A": "two\nlines", "B": "it's $HOME; `id`", "PATH": "/of/the/node", "HOME": "/node", "C": ""}
    argv = DOCKER.execute("name", Path("/"), (sys.executable, "-c", "import os; print(dict(os.environ))"))
    text = exports(env, frozenset({"HOME"}), Path("/job/config"))

    # What the runtime's program would start in the container.
    inside = argv[argv.index("name") + 1 :]
    out = subprocess.run(inside, input=text, capture_output=True, text=True, env={"PATH": "/bin"}, check=True)

    found = eval(out.stdout)
    assert {name: found[name] for name in ("A", "B", "C", "HOME", "PATH")} == {
        "A": "two\nlines",
        "B": "it's $HOME; `id`",
        "C": "",
        "HOME": "/node",
        "PATH": "/job/config:/bin",
    }


@pytest.mark.parametrize(
    ("image", "server_url", "host"),
    [
        ("ubuntu:16.04", "", "docker.io"),
        ("batchaitraining/chainermn:openMPI", "", "docker.io"),
        ("acct.azurecr.io/team/image:1", "", "acct.azurecr.io"),
        ("localhost/image", "", "localhost"),
        ("localhost:5000/image", "", "localhost:5000"),
        ("image", "https://acct.azurecr.io", "acct.azurecr.io"),
        ("image", "acct.azurecr.io", "acct.azurecr.io"),
    ],
)
def test_the_registry_is_the_one_that_is_named_or_that_of_the_image(
    image: str, server_url: str, host: str
) -> None:
    assert registry(image, server_url) == host


def test_logins_are_kept_apart_and_passwords_out_of_command_lines() -> None:
    assert DOCKER.own_login(Path("/tmp/x")) == {"DOCKER_CONFIG": "/tmp/x"}
    assert PODMAN.own_login(Path("/tmp/x")) == {"REGISTRY_AUTH_FILE": "/tmp/x/auth.json"}
    assert DOCKER.login("me", "acct.azurecr.io")[2:] == (
        "--username",
        "me",
        "--password-stdin",
        "acct.azurecr.io",
    )


async def test_an_runtime_that_does_not_answer_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = {
        "docker": "echo Cannot connect to the Docker daemon >&2; exit 1",
        "podman": "echo 4.3.1 rootless=true",
    }
    for name, text in programs.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setitem(os.environ, "PATH", str(tmp_path))

    assert await answering() == ContainerRuntime("podman", str(tmp_path / "podman"), rootless=True)
    (tmp_path / "podman").unlink()
    assert await answering() is None
