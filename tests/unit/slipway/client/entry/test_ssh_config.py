"""The file that makes a running job a host of ssh, and what a job answers to that."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from slipway.client.entry.ssh_config import Host, config, host_of
from slipway.failure import Failure
from tests.unit.core.test_entrance import JOB
from tests.unit.slipway.client.entry.test_tools import place

KEY = "ssh-ed25519 " + "A" * 68


def test_a_host_is_its_user_and_its_key() -> None:
    assert host_of(f"ann\n{KEY} \n") == Host("ann", KEY)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ann",
        KEY,
        f"-oProxyCommand=x\n{KEY}",
        f"ann\n  ProxyCommand touch x\n{KEY}",
        f"ann\n{KEY} comment",
        "ann\nssh-rsa " + "A" * 68,
        f"a b\n{KEY}",
    ],
)
def test_anything_else_that_a_job_prints_is_refused(text: str) -> None:
    with pytest.raises(Failure, match="something else than its user"):
        host_of(text)


def test_the_file_has_one_host_whose_way_is_this_command() -> None:
    words = ["/opt/my tools/slipway", "shell", "--url", "https://x/?a=%20b"]

    text = config(place("srun"), Host("ann", KEY), words, Path("/home/ann/50% of it"))

    lines = dict(line.strip().split(" ", 1) for line in text.strip().splitlines())
    assert lines["Host"] == lines["HostKeyAlias"] == f"{JOB}-1"
    assert lines["User"] == "ann"
    assert lines["IdentityFile"] == f'"/home/ann/50%% of it/{JOB}-1.key"'
    assert (lines["IdentitiesOnly"], lines["StrictHostKeyChecking"]) == ("yes", "yes")
    proxy = shlex.split(lines["ProxyCommand"].replace("%%", "%"))
    assert proxy[:8] == [*words, JOB, "--rank=1", "--stdio", "--"]


def test_a_path_that_ssh_cannot_read_is_refused() -> None:
    with pytest.raises(Failure, match="ssh takes no such path"):
        config(place("srun"), Host("ann", KEY), ["slipway", "shell"], Path('/home/"ann"'))
