"""What differs between versions of Slurm, and where its programs are looked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from local.slurm.configuration import cgroup_conf
from local.slurm.newer import unpack
from local.slurm.packages import require
from local.slurm.programs import Programs, SlurmError, api, openapi, version_of
from tests.unit.local.slurm.test_configuration import site


@pytest.mark.parametrize(
    ("message", "plugins", "path", "cgroups"),
    [
        ("slurm-wlm 22.05.8", "openapi/v0.0.38", "/slurm/v0.0.38", "cgroup/v1"),
        ("slurm 23.11.4", "slurmctld", "/slurm/v0.0.40", "cgroup/v1"),
        ("slurm-wlm 24.11.5", "slurmctld", "/slurm/v0.0.42", "disabled"),
        ("slurm 26.05.5", "slurmctld", "/slurm/v0.0.45", "disabled"),
    ],
)
def test_each_version_gets_what_it_knows(message: str, plugins: str, path: str, cgroups: str) -> None:
    version = version_of(message)

    assert (openapi(version), api(version)) == (plugins, path)
    assert cgroup_conf(site(version=version)) == f"CgroupPlugin={cgroups}\n"


def test_an_answer_without_a_version_is_shown() -> None:
    with pytest.raises(SlurmError, match="no version can be read in slurmctld's 'what'"):
        version_of("what\n")


def test_an_empty_directory_lacks_its_plugins_and_is_named(tmp_path: Path) -> None:
    with pytest.raises(
        SlurmError, match=rf"{tmp_path} does not contain Slurm \(.*auth_jwt\.so.* not found\)"
    ):
        require(Programs(tmp_path))


def test_a_version_that_no_debian_has_is_answered_with_those_that_there_are() -> None:
    with pytest.raises(SlurmError, match=r"Slurm 19\.05 is not available; choose one of 24\.11"):
        unpack("19.05")
