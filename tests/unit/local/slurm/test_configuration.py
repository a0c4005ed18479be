"""What the mini cluster tells Slurm, as text."""

from __future__ import annotations

import re
from pathlib import Path

from local.slurm.configuration import Partition, Site, gres_conf, hosts, slurm_conf

PARTS = (Partition(name="big", nodes=2, gpus=2), Partition(name="small", nodes=1, elastic=False))
NAMES = [name for part in PARTS for name in part.node_names]


def site(**changes: object) -> Site:
    values: dict[str, object] = {
        "home": Path("/srv/slurm"),
        "sockets": Path("/tmp/s"),
        "hostname": "vm",
        "user": "ada",
        "partitions": PARTS,
        "controller_port": 20000,
        "gateway_port": 20099,
        "node_ports": {name: 20001 + at for at, name in enumerate(NAMES)},
        "idle_seconds": 3,
    }
    return Site(**(values | changes))  # type: ignore[arg-type]


def options(text: str) -> dict[str, str]:
    """The options of lines that say one thing each."""
    return dict(re.findall(r"^(\w+)=(\S+)$", text, re.M))


def test_each_node_is_this_machine_at_a_port_of_its_own() -> None:
    text = slurm_conf(site())

    matches = re.findall(r"^NodeName=(\S+) NodeHostname=vm NodeAddr=127.0.0.1 Port=(\d+) ", text, re.M)
    assert matches == [("big-1", "20001"), ("big-2", "20002"), ("small-1", "20003")]


def test_jobs_see_each_node_at_an_address_of_its_own() -> None:
    assert hosts(site()) == "127.0.1.1 big-1\n127.0.1.2 big-2\n127.0.1.3 small-1\n"


def test_only_elastic_nodes_are_started_and_stopped_by_slurm() -> None:
    text = slurm_conf(site())

    assert re.findall(r"^NodeName=(\S+) .* State=CLOUD$", text, re.M) == ["big-1", "big-2"]
    assert options(text)["SuspendExcNodes"] == "small-1"
    assert options(text)["SuspendTime"] == "3"
    assert "SuspendExcNodes" not in slurm_conf(site(partitions=PARTS[:1]))


def test_the_first_partition_is_the_default_one() -> None:
    text = slurm_conf(site())

    assert re.findall(r"^PartitionName=(\S+) Nodes=(\S+) Default=(\S+)", text, re.M) == [
        ("big", "big-1,big-2", "YES"),
        ("small", "small-1", "NO"),
    ]


def test_gpus_are_files_and_only_where_a_partition_has_some() -> None:
    assert gres_conf(site()) == "NodeName=big-1,big-2 Name=gpu File=/srv/slurm/dev/nvidia[0-1]\n"
    assert [
        line for line in slurm_conf(site()).splitlines() if "Gres=gpu:2" in line and "big" not in line
    ] == []


def test_every_daemon_runs_as_the_user_and_keeps_everything_in_the_directories() -> None:
    output = options(slurm_conf(site()))

    assert output["SlurmUser"] == output["SlurmdUser"] == "ada"
    paths = re.findall(r"=(/[^\s,]+)", slurm_conf(site()))
    assert {path.split("/")[1] for path in paths if path != "/bin/true"} == {"srv", "tmp"}
