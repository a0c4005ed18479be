"""The command lines of container runtimes, and the environment that a job finds in an image."""

from pathlib import Path

import pytest

from local.nodes.docker import ContainerRuntime, registry

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


@pytest.mark.parametrize(
    ("image", "server_url", "host"),
    [
        ("localhost/image", "", "localhost"),
        ("ubuntu:16.04", "", "docker.io"),
        ("batchaitraining/chainermn:openMPI", "", "docker.io"),
        ("acct.azurecr.io/team/image:1", "", "acct.azurecr.io"),
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
