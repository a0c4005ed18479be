"""The `ssh` of a job's nodes: the tests of Microsoft, and the script by itself."""

import os
import subprocess
from pathlib import Path

import pytest

from local.nodes.ssh.script import Peer, write_ssh
from tests.contract.emulator.conftest import Emulator, Lab, autoscale, custom
from tests.contract.emulator.nodes.test_containers import image, place, runtime, working

__all__ = ["place", "runtime"]
GREETING = "Warning: Permanently added '{}' (ECDSA) to the list of known hosts.\r\n"


@pytest.fixture
def nodes(tmp_path: Path) -> list[Path]:
    """The roots of three nodes of a job, in a directory whose name no pattern may take for its own."""
    return [tmp_path / "a [b] & c" / "nodes" / number for number in ("1", "12", "2")]


def configs(nodes: list[Path], contained: bool = False) -> list[Path]:
    """The directories with an ssh, one on each node."""
    own = [root / "jobs" / "config" for root in nodes]
    peers = [Peer(f"127.0.1.{index + 1}", root, [index] * index) for index, root in enumerate(nodes)]
    for config in own:
        config.mkdir(parents=True)
        write_ssh(config, peers, own, contained)
    return own


def ssh(config: Path, *arguments: str, **env: str) -> tuple[int, str, str]:
    done = subprocess.run(
        [config / "ssh", *arguments],
        env={"PATH": f"{config}:{os.environ['PATH']}", **env},
        capture_output=True,
        check=False,
        cwd=config,
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["127.0.1.2", "echo", "a", "b"], "a b\n"),
        (["-x", "me@127.0.1.2", "echo", "$(echo c)"], "c\n"),
        (["-o", "BatchMode=yes", "-p22", "-v", "127.0.1.2", "echo", "-n", "-l"], "-l"),
        (["-l", "127.0.1.9", "-q", "--", "127.0.1.2", "echo d"], "d\n"),
        (["127.0.1.2", "--", "echo", "-n", "e"], "e"),
        (["me@127.0.1.2", "-p", "23", "echo", "-n", "f"], "f"),
        (["-tp", "23", "127.0.1.2", "-vl", "me", "--", "echo", "-n", "--", "g"], "-- g"),
    ],
)
def test_host_and_command_are_found_behind_the_options(
    nodes: list[Path], arguments: list[str], message: str
) -> None:
    assert ssh(configs(nodes)[0], *arguments) == (0, message, "")


def test_the_exit_code_is_that_of_the_command(nodes: list[Path]) -> None:
    assert ssh(configs(nodes)[0], "127.0.1.3", "exit 7")[0] == 7


def test_a_login_moves_the_directories_of_a_node_to_those_of_the_other(nodes: list[Path]) -> None:
    config = configs(nodes)[0]
    variables = {
        "HOME": str(nodes[0]),
        "A": f"{nodes[0]}/jobs:/x",
        "B": f'it\'s "{nodes[1]}/mounts"\n$HOME',
        "host": "mine",
    }

    code, output, _ = ssh(config, "10.0.0.6", 'printf "%s|" "$HOME" "$A" "$B" "$host" "$(pwd)"', **variables)

    own = nodes[2]
    expected = [str(own), f"{own}/jobs:/x", f'it\'s "{own}/mounts"\n$HOME', "mine", f"{own}/jobs/config"]
    assert (code, output.split("|")[:-1]) == (0, expected)


def test_a_login_shows_the_gpus_of_its_node_and_keeps_the_daemons_apart(nodes: list[Path]) -> None:
    command = "echo $CUDA_VISIBLE_DEVICES $PRTE_MCA_prte_tmpdir_base"

    _, output, _ = ssh(configs(nodes)[0], "10.0.0.6", command, CUDA_VISIBLE_DEVICES="9")

    assert output == f"2,2 {nodes[2]}/tmp\n"
    assert (nodes[2] / "tmp").is_dir()


def test_a_node_is_greeted_once_by_each_other_and_never_by_mpirun(nodes: list[Path]) -> None:
    config, other, _ = configs(nodes)

    output = [ssh(config, *host, "true")[2] for host in (["10.0.0.5"], ["10.0.0.5"], ["127.0.1.2"])]

    assert output == [GREETING.format("10.0.0.5"), "", ""]
    assert ssh(other, "10.0.0.5", "true")[2] == GREETING.format("10.0.0.5")
    assert ssh(config, "-q", "10.0.0.6", "true")[2] == ""


def test_without_a_command_it_says_that_there_is_no_terminal(nodes: list[Path]) -> None:
    code, _, output = ssh(configs(nodes)[0], "10.0.0.4")

    assert code == 255
    assert "give a command" in output


def test_another_host_is_left_to_the_real_ssh_wherever_it_is(nodes: list[Path], tmp_path: Path) -> None:
    real = tmp_path / "real"
    real.mkdir()
    (real / "ssh").write_text('#!/bin/sh\nprintf "%s," real "$@"\n')
    (real / "ssh").chmod(0o755)
    own = configs(nodes)
    path = ":".join(str(one) for one in (*own, real, "/usr/bin", "/bin"))

    result = ssh(own[0], "-p", "22", "10.0.0.7", "a b", PATH=path)
    absent = ssh(own[0], "10.0.0.7", "true", PATH=":".join(map(str, own)))

    assert result == (0, "real,-p,22,10.0.0.7,a b,", "")
    assert absent[0] == 255
    assert "no ssh client" in absent[2]


async def test_password_less_ssh(lab: Lab) -> None:
    """Of azure-sdk-for-python: test_mgmt_batchai_jobs.JobTestCase.test_password_less_ssh."""
    await lab.make_cluster(autoscale(2))
    await lab.submit("job", nodeCount=2, **custom("ssh 10.0.0.4 echo done && ssh 10.0.0.5 echo done"))
    job = await lab.ends("job")

    assert job.execution_state == "succeeded", await lab.read("job", "stderr.txt")
    assert await lab.read("job", "stdout.txt") == "done\ndone\n"
    greetings = GREETING.format("10.0.0.4") + GREETING.format("10.0.0.5")
    assert await lab.read("job", "stderr.txt") == greetings


@pytest.mark.thorough
async def test_password_less_ssh_in_container(place: Emulator) -> None:
    """Of the same; there as here each login greets."""
    async with working(place, 2) as lab:
        command = "ssh 10.0.0.5 echo done && ssh 10.0.0.5 echo done"
        await lab.submit("job", nodeCount=2, **image("ubuntu"), **custom(command))
        job = await lab.ends("job")

        assert job.execution_state == "succeeded", await lab.read("job", "stderr.txt")
        assert await lab.read("job", "stdout.txt") == "done\ndone\n"
        assert await lab.read("job", "stderr.txt") == GREETING.format("[10.0.0.5]:23") * 2
