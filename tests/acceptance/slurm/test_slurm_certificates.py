"""Two teams whose jobs are one user's on Slurm: a login node lets a person into their own job alone."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from local.azurite import ACCOUNT
from local.clusters.kind import NAME
from local.slurm import Options as SlurmOptions
from local.slurm import Slurm, missing_programs, slurm
from local.slurm.deployment import app_settings
from local.stack import Options, stack
from shared.core.caller import digest_of
from tests.acceptance.commands.person import ROOT, slipway, started
from tests.acceptance.conftest import provisioned
from tests.acceptance.door import Door, eventually, shell, unique
from tests.contract.slurm.login.node import NO_SSHD, SSHD, login_node, new_key

KEYS = {name: f"{name}-{secrets.token_urlsafe(24)}" for name in ("dan", "ann", "sue")}
TEAMS = {
    "teams": {
        "speech": {"members": [{"key": "ann"}]},
        "vision": {"members": [{"key": "sue", "manager": True}]},
    }
}
_SERVES = 'exec python3 -m http.server --bind 127.0.0.1 --directory "$AZ_BATCHAI_JOB_TEMP" {port}'


@pytest.fixture
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a person, with temporary files of their own, and a program `ssh` for the login node."""
    (tmp_path / "tmp").mkdir()
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    return tmp_path


@contextmanager
def login(cluster: Slurm, folder: Path) -> Iterator[str]:
    """A login node of the cluster. Gives the key that signs."""
    (folder / "login").mkdir()
    public = new_key(folder / "enter_ca")
    with login_node(folder / "login", cluster.user, public, cluster.client_environment) as node:
        program = folder / "bin" / "ssh"
        options = " ".join(f"'{one}'" for one in node.options)
        program.write_text(f'#!/bin/sh\nPATH="${{PATH#*:}}"\nexec ssh {options} "$@"\n')
        program.chmod(0o755)
        yield (folder / "enter_ca").read_text()


@asynccontextmanager
async def deployment(cluster: Slurm, folder: Path, signing_key: str) -> AsyncIterator[Door]:
    for name in ("data", "ends"):
        (cluster.shared / name).mkdir(exist_ok=True)
    settings = app_settings(cluster, NAME, ACCOUNT, mounted="data", ends="ends", containers=())
    clusters = json.loads(settings["SLIPWAY_CLUSTERS"])
    clusters[NAME]["enter"] = {"login": "127.0.0.1", "user": cluster.user, "certificates": True}
    entries: dict[str, Any] = {name: {"sha256": digest_of(key)} for name, key in KEYS.items()}
    entries["dan"]["roles"] = ["Jobs.Admin"]
    options = Options(
        data=folder / "stack",
        in_memory=True,
        cluster=None,
        overrides={
            "SLIPWAY_NAMED_KEYS": json.dumps(entries),
            **settings,
            "SLIPWAY_CLUSTERS": json.dumps(clusters),
            "SLIPWAY_ENTER_CA": signing_key,
            "SLIPWAY_SWEEPER_SCHEDULE": "*/1 * * * * *",
        },
    )
    async with stack(options, provisioned) as running, Door(running, KEYS["dan"]) as door:
        assert (await door.call("PUT", "teams", TEAMS))[0] == 200
        yield door


async def running_job(door: Door, who: str, command: str) -> dict[str, Any]:
    document = {
        "name": unique(who),
        "spec": shell(command, secrets=[{"name": "WHOSE", "value": f"of {who}"}]),
    }
    status, job, _ = await door.call("POST", "jobs", document, x_functions_key=KEYS[who])
    assert status == 202, job

    async def check() -> dict[str, Any] | None:
        _, view, _ = await door.call("GET", f"jobs/{job['id']}")
        return view if view["state"] == "running" else None

    return await eventually(check, f"the job of {who} to run")


@pytest.mark.skipif(not SSHD, reason=NO_SSHD)
async def test_a_person_enters_their_job_with_a_certificate_and_the_job_of_another_team_is_not_there(
    person: Path,
) -> None:
    if lacking := missing_programs():
        pytest.skip(f"Slurm is not installed ({', '.join(lacking)} not found): run `make install-slurm`")
    async with slurm(SlurmOptions(data=person / "slurm")) as cluster:
        with login(cluster, person) as signing_key:
            async with deployment(cluster, person, signing_key) as door:
                await _walk(door, person, signing_key)
    assert files_with(person, signing_key) == {"enter_ca", "local.settings.json"}


def files_with(folder: Path, key: str) -> set[str]:
    """The names of files with a part of the secret half of a key."""
    files = [file for file in folder.rglob("*") if file.is_file()]
    return {file.name for file in files if any(line in file.read_bytes() for line in secret_lines(key))}


def secret_lines(key: str) -> list[bytes]:
    """Its first lines hold the public half."""
    return [line.encode() for line in key.splitlines()[3:-1] if len(line) > 20]


async def _walk(door: Door, person: Path, signing_key: str) -> None:
    anns, sues = [await running_job(door, who, "sleep 600") for who in ("ann", "sue")]
    door.key = KEYS["ann"]

    own = await slipway(door, person, "shell", anns["id"], "--", "sh", "-c", 'echo "$WHOSE"; env; exit 7')
    other = await slipway(door, person, "shell", sues["id"], "--", "true")
    async with door.http.get("/api/trail", params={"operation": "enter_job"}) as answer:
        acts = (await answer.json())["acts"]
    await _forwards(door, person)
    host = await _as_a_host(door, person, anns["id"])

    assert host == (5, b"of ann\n")
    assert own[:2] == (7, own[1])
    assert own[1].startswith("of ann\n")
    assert (other[0], other[1], "no job" in other[2]) == (255, "", True), other
    assert [(act["by"], act["subject"], act["status"]) for act in acts] == [
        ("ann", sues["id"], 404),
        ("ann", anns["id"], 200),
    ]
    assert acts[1]["detail"].startswith(f"rank 0 on {NAME} (slurm), certificate ")
    _, record, _ = await door.call("GET", f"jobs/{anns['id']}")
    assert record["entered"] == ["ann"]
    shown = f"{own} {other} {acts} {record}".encode()
    assert [line for line in secret_lines(signing_key) if line in shown] == []
    assert [one.name for one in (person / "tmp").glob("slipway-*")] == []


async def _forwards(door: Door, person: Path) -> None:
    """A port of a job of ann's, by a certificate for each connection that needs one."""
    port = 38_000 + secrets.randbelow(9_000)
    job = await running_job(door, "ann", _SERVES.format(port=port))
    forward = await started(door, person, "forward", job["id"], str(port))
    assert forward.stdout is not None
    address = (await forward.stdout.readline()).decode().split()[0]

    async def page() -> bytes | None:
        async with door.http.get(f"{address}/") as answer:
            return await answer.read()

    try:
        assert b"Directory listing" in (await page() or b"")
    finally:
        forward.terminate()
        await forward.wait()


async def _as_a_host(door: Door, person: Path, job: str) -> tuple[int | None, bytes]:
    """The job as a host of ssh, as an editor takes it: each connection has a certificate of its own."""
    code, name, remarks = await slipway(door, person, "ssh-config", job)
    assert code == 0, remarks
    file = person / "config" / "slipway" / "ssh" / f"{job}.conf"
    words = ("/usr/bin/ssh", "-F", str(file), name.split()[1], 'echo "$WHOSE"; exit 5')
    env = {
        **os.environ,
        "SLIPWAY_URL": door.stack.host_url,
        "SLIPWAY_KEY": KEYS["ann"],
        "PYTHONPATH": str(ROOT),
    }
    process = await asyncio.create_subprocess_exec(*words, stdout=asyncio.subprocess.PIPE, env=env)
    out, _ = await process.communicate()
    return process.returncode, out
