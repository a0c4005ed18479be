"""The directory of the mini cluster from one start to the next."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from local.slurm.configuration import Partition, Site
from local.slurm.home import prepare
from local.slurm.programs import Programs, SlurmError
from tests.unit.local.slurm.test_configuration import site


@pytest.fixture
def slurm_site(tmp_path: Path) -> Site:
    (tmp_path / "sockets").mkdir()
    return site(home=tmp_path / "home", sockets=tmp_path / "sockets", hostname="localhost")


def again(slurm_site: Site, **changes: object) -> None:
    for spool in slurm_site.sockets.iterdir():
        spool.rmdir()
    prepare(replace(slurm_site, **changes), Programs(), [Path("/opt/bin")])  # type: ignore[arg-type]


def test_keys_and_state_are_kept_and_the_keys_are_the_owners_alone(slurm_site: Site) -> None:
    prepare(slurm_site, Programs(), [Path("/opt/bin")])
    keys = [slurm_site.home / "munge.key", slurm_site.home / "jwt.key"]
    before = [key.read_bytes() for key in keys]
    (slurm_site.home / "state" / "job_state").touch()

    again(slurm_site, controller_port=23456)

    assert [key.read_bytes() for key in keys] == before
    assert {key.stat().st_mode & 0o777 for key in keys} == {0o600}
    assert (slurm_site.home / "state" / "job_state").exists()
    assert "SlurmctldPort=23456" in (slurm_site.home / "slurm.conf").read_text()


def test_the_state_of_another_shape_is_forgotten(slurm_site: Site) -> None:
    prepare(slurm_site, Programs(), [])
    (slurm_site.home / "state" / "job_state").touch()

    again(slurm_site, partitions=(Partition(name="other", nodes=1),), node_ports={"other-1": 20009})

    assert not (slurm_site.home / "state" / "job_state").exists()


def test_scripts_can_be_run_and_gpus_are_there_as_files(slurm_site: Site) -> None:
    prepare(slurm_site, Programs(), [])

    scripts = {file.name for file in (slurm_site.home / "bin").iterdir()}
    assert scripts >= {"node-on", "node-off", "node-failed", "end", "wait-for-nodes", "task-prolog"}
    assert all(os.access(slurm_site.home / "bin" / name, os.X_OK) for name in scripts)
    assert sorted(file.name for file in (slurm_site.home / "dev").iterdir()) == ["nvidia0", "nvidia1"]


def test_a_machine_that_does_not_know_its_own_name_gets_the_remedy(slurm_site: Site) -> None:
    with pytest.raises(SlurmError, match=r"add the line `127\.0\.0\.1 nowhere\.invalid` to /etc/hosts"):
        prepare(replace(slurm_site, hostname="nowhere.invalid"), Programs(), [])
