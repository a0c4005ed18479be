"""The local clusters: what the registry promises of each, and how the emulator is started."""

from __future__ import annotations

import asyncio
import json
from importlib import import_module
from inspect import signature
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from local.azurite import ACCOUNT
from local.clusters import batch, kubernetes, slurm
from local.clusters.kind import DATA, ENDS, NAME, SCRIPTS, ClusterOptions, Installed, Running
from local.clusters.registry import CLUSTERS, USUAL
from local.mirrored import directory
from local.slurm import programs
from local.slurm.deployment import app_settings

STRING = "AccountName=a;AccountKey=c2VjcmV0;"


def options_of(data: Path, started: list[tuple[str, ...]]) -> ClusterOptions:
    """Those of a stack in a folder, whose children are only noted."""

    async def launch(*words: str) -> str:
        started.append(words)
        return "https://127.0.0.1:1"

    storage = SimpleNamespace(connection_string=STRING)
    return ClusterOptions(
        data=data,
        port=4711,
        nodes=3,
        storage=storage,  # type: ignore[arg-type]  # only its address is read
        arguments=("--idle-seconds=60",),
        launch=launch,
    )


def test_the_emulator_is_started_on_the_storage_and_found_by_its_settings(tmp_path: Path) -> None:
    started: list[tuple[str, ...]] = []

    async def running() -> Running:
        async with CLUSTERS["emulator"].start(options_of(tmp_path, started)) as cluster:
            return cluster

    cluster = asyncio.run(running())

    ((name, module, *arguments),) = started
    assert (name, module) == ("emulator", "local.batchai")
    assert {
        "--port=4711",
        f"--data={tmp_path / 'batchai'}",
        f"--storage-connection-string={STRING}",
    } < set(arguments)
    assert arguments[-1] == "--idle-seconds=60", "options of a person come last, and win"
    assert cluster.settings["SLIPWAY_BATCHAI_URL"] == cluster.url
    (described,) = json.loads(cluster.settings["SLIPWAY_CLUSTERS"]).items()
    packages = {"keep": str(tmp_path / "batchai" / "environments")}
    assert described == (
        NAME,
        {"engine": "batchai", "mounted": ["logs", "datalake"], "packages": packages},
    )
    assert cluster.connection_string.startswith(STRING)
    assert cluster.connection_string.endswith(f"FileEndpoint={cluster.url}/devstoreaccount1;")
    assert "c2VjcmV0" not in repr(cluster)


@pytest.mark.parametrize("name", CLUSTERS)
def test_the_module_of_each_entry_has_what_the_registry_says(name: str) -> None:
    kind = CLUSTERS[name]
    module = import_module(kind.module)

    assert len(signature(module.start).parameters) == 1
    assert hasattr(module, "installed") == kind.needs_programs


def test_the_usual_cluster_needs_no_program_of_this_machine() -> None:
    assert CLUSTERS[USUAL].installed() == Installed(version="a part of the project")


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a machine's Slurm, which is empty."""
    monkeypatch.setattr(programs, "_SYSTEM", str(tmp_path / "none"))
    monkeypatch.setattr(slurm, "find_programs", lambda: programs.Programs(tmp_path))
    (tmp_path / "slurm").mkdir()
    return tmp_path / "slurm"


@pytest.mark.usefixtures("machine")
def test_a_machine_without_slurm_is_told_how_to_install_it() -> None:
    assert CLUSTERS["slurm"].installed() == Installed(remedy="`make install-slurm`")


def test_what_an_installed_slurm_lacks_is_named(machine: Path) -> None:
    (machine / "slurmctld").touch(mode=0o700)

    state = CLUSTERS["slurm"].installed()

    assert (state.version, state.remedy) == ("", "`make install-slurm`")
    assert state.trouble.startswith("there is no ")
    assert "slurmrestd" in state.trouble
    assert "slurmctld" not in state.trouble


def described(tmp_path: Path) -> dict[str, dict[str, Any]]:
    """What the settings say of each local cluster whose nodes have directories for containers."""
    key = tmp_path / "jwt.key"
    key.write_bytes(b"k")
    machine: Any = SimpleNamespace(
        shared=tmp_path, home=tmp_path, path="/bin", job_path="/bin", url="u", user="u", partitions=["p"]
    )
    machine.jwt_key = key
    of_slurm = app_settings(machine, NAME, ACCOUNT, mounted=DATA, ends=ENDS, containers=(SCRIPTS, DATA))
    return {
        "batch": batch._cluster("u", tmp_path, "https://b", "/bin", 1),
        "slurm": json.loads(of_slurm["SLIPWAY_CLUSTERS"])[NAME],
        "kubernetes": kubernetes._cluster(machine),
    }


def test_nodes_have_no_directory_whose_files_become_drops(tmp_path: Path) -> None:
    """A node's directory of the container of drops is at most read: what jobs write there goes nowhere."""
    clusters, drops = described(tmp_path), directory(tmp_path, SCRIPTS)

    assert clusters.keys() == CLUSTERS.keys() - {"emulator"}
    for cluster in clusters.values():
        assert cluster["ends"] == str(directory(tmp_path, ENDS))
        assert not [one for one in cluster.get("mounted", []) if SCRIPTS in one]
    assert str(drops) not in clusters["batch"]["mounts"].values(), (
        "it mounts the container for those that name it"
    )
