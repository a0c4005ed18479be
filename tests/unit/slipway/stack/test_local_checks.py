"""What `slipway doctor` finds of the local stack."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path

import pytest
from aiohttp import web

from local.clusters.registry import CLUSTERS
from local.stack import Ports
from slipway.commands.doctor.findings import Options
from slipway.stack import local_checks
from slipway.stack.data_folder import lock_folder
from tests.doubles.server import answering


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(local_checks, "UP", tmp_path)
    monkeypatch.setattr(local_checks, "USUAL_PORTS", Ports())
    return tmp_path


def of_stack() -> list[tuple[str, str]]:
    return [(one.outcome, one.text) for one in asyncio.run(local_checks.stack())]


def test_ports_that_others_have_are_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert of_stack() == [("ok", "does not run, and its ports are free")]
    monkeypatch.setattr(local_checks, "_PATIENCE", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        monkeypatch.setattr(local_checks, "USUAL_PORTS", Ports(host=port))
        assert of_stack() == [("warn", f"does not run, and others use its ports {port}")]
    assert not list(folder.iterdir()), "looking makes nothing"


async def test_a_stack_with_other_data_is_not_said_to_be_missing(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("storage", "clusters", "sweeper", "settings", "paused", "unreadable", "parked", "off")

    async def healthy(_: web.Request) -> web.Response:
        return web.json_response(dict.fromkeys(words))

    async with answering(healthy) as url:
        monkeypatch.setattr(local_checks, "USUAL_PORTS", Ports(host=int(url.rpartition(":")[2])))
        result = await asyncio.to_thread(of_stack)

    assert result == [("ok", f"one with other data (`slipway up --data`) runs, at {url}")]


def test_a_stack_that_runs_says_where_and_its_files_are_for_their_owner_only(folder: Path) -> None:
    with lock_folder(folder):
        assert of_stack() == [("ok", "runs, or about to")]
        (folder / "url").write_text("http://127.0.0.1:7071")
        assert of_stack() == [("ok", "runs, at http://127.0.0.1:7071")]
    (folder / "secrets.json").write_text("{}")
    (folder / "secrets.json").chmod(0o644)
    assert [outcome for outcome, _ in of_stack()] == ["warn", "ok"]


def test_a_missing_node_is_a_failure_with_its_remedy(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLIPWAY_NODE", str(tmp_path / "none"))
    (line,) = [one for one in asyncio.run(local_checks.check(Options("", ""))) if one.subject == "azurite"]

    assert line.outcome == "fail"
    assert "Install node" in line.text


def test_little_memory_is_a_warning() -> None:
    assert [local_checks.memory(size).outcome for size in (100 << 20, 8 << 30)] == ["warn", "ok"]


@pytest.mark.parametrize(
    ("present", "outcome", "text"),
    [
        ((), "ok", "is not installed; `make install-slurm`"),
        (("slurmctld",), "warn", "is not whole: there is no"),
    ],
)
def test_programs_that_no_one_installed_are_not_missed_and_half_of_them_are(
    present: tuple[str, ...], outcome: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLURM_ROOT", str(tmp_path))
    monkeypatch.setattr("local.slurm.programs._SYSTEM", "")
    (tmp_path / "slurm").mkdir()
    for name in present:
        (tmp_path / "slurm" / name).touch(mode=0o755)

    finding = local_checks.programs("slurm", CLUSTERS["slurm"])

    assert (finding.outcome, text in finding.text) == (outcome, True), finding
