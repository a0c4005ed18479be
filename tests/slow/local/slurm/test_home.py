"""What the scripts in the directory of the mini cluster start."""

from __future__ import annotations

import subprocess
from pathlib import Path

from local.slurm.home import prepare
from local.slurm.programs import Programs
from tests.unit.local.slurm.test_configuration import site


def test_a_node_starts_outside_of_the_process_group_that_slurmctld_kills_when_the_program_ends(
    tmp_path: Path,
) -> None:
    (tmp_path / "sockets").mkdir()
    slurm_site = site(home=tmp_path / "home", sockets=tmp_path / "sockets", hostname="localhost")
    programs = tmp_path / "root" / "slurm"
    programs.mkdir(parents=True)
    for name, does in (
        ("scontrol", "echo big-1; echo big-2"),
        ("slurmd", f"cut -d' ' -f5 /proc/$$/stat >>{tmp_path}/groups"),
    ):
        (programs / name).write_text(f"#!/bin/sh\n{does}\n")
        (programs / name).chmod(0o755)
    prepare(slurm_site, Programs(programs.parent), [])

    ran = subprocess.Popen([slurm_site.home / "bin" / "node-on", "big-[1-2]"], start_new_session=True, env={})

    assert ran.wait() == 0
    groups = (tmp_path / "groups").read_text().split()
    assert len(groups) == 2
    assert str(ran.pid) not in groups
