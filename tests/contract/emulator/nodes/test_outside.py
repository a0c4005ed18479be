"""What jobs and nodes take from outside the emulator, by its settings: secrets and unmanaged file systems."""

import hashlib
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from azure.storage.blob.aio import BlobServiceClient

from local.azurite import ACCOUNT, KEY, Azurite
from tests.contract.emulator.conftest import Emulator, Lab, autoscale, custom, until
from tests.contract.emulator.recorder import Recorder

CANARY = "yellow-bird-4711"
VAULT = "https://keys.vault.azure.net/secrets"


def secret(name: str) -> dict[str, Any]:
    vault = "/subscriptions/sub/resourceGroups/g/providers/Microsoft.KeyVault/vaults/keys"
    return {"sourceVault": {"id": vault}, "secretUrl": f"{VAULT}/{name}"}


def by_reference(name: str) -> list[dict[str, Any]]:
    return [{"name": "TOKEN", "valueSecretReference": secret(name)}]


@asynccontextmanager
async def emulator_with(
    tmp_path: Path, storage: Azurite, recorder: Recorder, option: str, table: dict[str, str]
) -> AsyncIterator[tuple[Lab, Path]]:
    """An emulator with a table for one of its options; the file of the table."""
    file = tmp_path / "table.json"
    file.write_text(json.dumps(table))
    running = Emulator(tmp_path / "batchai", storage, recorder, flags=(option, str(file)))
    await running.start()
    try:
        yield Lab(running, "dev"), file
    finally:
        await running.stop()


#: Succeeds if TOKEN is the canary, without writing it down.
CHECK = (
    f'[ "$(printf %s "$TOKEN" | sha256sum | cut -c1-64)" = {hashlib.sha256(CANARY.encode()).hexdigest()} ]'
)


async def test_secrets_by_reference_reach_job_and_node_and_are_seen_nowhere(
    tmp_path: Path, storage: Azurite, blobs: BlobServiceClient, recorder: Recorder
) -> None:
    secrets = {f"{VAULT}/token": CANARY, f"{VAULT}/storage": KEY}
    async with emulator_with(tmp_path, storage, recorder, "--secrets-file", secrets) as (lab, _):
        setup = {"commandLine": CHECK, "stdOutErrPathPrefix": "$HOME", "secrets": by_reference("token")}
        await lab.make_cluster(autoscale(1), nodeSetup={"setupTask": setup})
        mount = {
            "accountName": ACCOUNT,
            "containerName": "out",
            "credentials": {"accountKeySecretReference": secret("storage")},
            "relativeMountPath": "out",
        }
        mounts = {"azureBlobFileSystems": [mount]}
        await lab.submit("job", secrets=by_reference("token"), mountVolumes=mounts, **custom(CHECK))
        job = await lab.ends("job")
        answers = [
            await lab.send("GET", f"{lab.path}{path}") for path in ("/clusters", "/experiments/digits/jobs")
        ]
        listed = await lab.files("job")

        assert job.execution_state == "succeeded", job.execution_info.errors
        assert job.secrets[0].value_secret_reference.secret_url == f"{VAULT}/token"
        assert CANARY not in str([answers, sorted(listed)])
        assert [file for file in lab.emulator.data.rglob("*") if file.is_file() and holds(file, CANARY)] == []


def holds(file: Path, text: str) -> bool:
    return text.encode() in file.read_bytes()


async def test_a_missing_secret_fails_the_job_with_the_remedy_until_it_is_added(
    tmp_path: Path, storage: Azurite, blobs: BlobServiceClient, recorder: Recorder
) -> None:
    async with emulator_with(tmp_path, storage, recorder, "--secrets-file", {}) as (lab, file):
        await lab.make_cluster(autoscale(1))
        await lab.submit("early", secrets=by_reference("token"), **custom(CHECK))
        early = await lab.ends("early")
        file.write_text(json.dumps({f"{VAULT}/token": CANARY}))
        await lab.submit("late", secrets=by_reference("token"), **custom(CHECK))
        late = await lab.ends("late")

        (error,) = early.execution_info.errors
        assert error.code == "KeyVaultSecretNotFound"
        assert f"{VAULT}/token" in error.message
        assert str(file) in error.message
        assert late.execution_state == "succeeded"


async def test_a_missing_secret_makes_a_node_unusable_with_the_remedy(lab: Lab) -> None:
    setup = {"commandLine": "true", "stdOutErrPathPrefix": "$HOME", "secrets": by_reference("token")}
    await lab.make_cluster({"manual": {"targetNodeCount": 1}}, nodeSetup={"setupTask": setup})

    async def failed() -> Any:
        return (await lab.cluster()).errors

    (error,) = await until(failed)

    assert error.code == "KeyVaultSecretNotFound"
    assert "--secrets-file" in error.message


async def test_a_mount_command_is_not_run_but_stands_for_a_directory(
    tmp_path: Path, storage: Azurite, blobs: BlobServiceClient, recorder: Recorder
) -> None:
    data, trace = tmp_path / "data", tmp_path / "trace"
    data.mkdir()
    (data / "in").write_text("from outside\n")
    command = f"touch {trace};"
    table = {command: str(data)}
    async with emulator_with(tmp_path, storage, recorder, "--unmanaged-mounts", table) as (lab, _):
        await lab.make_cluster(autoscale(1), nodeSetup={"mountVolumes": unmanaged("nfs", command)})
        text = "cat $AZ_BATCHAI_MOUNT_ROOT/nfs/in; cp -r $AZ_BATCHAI_JOB_MOUNT_ROOT/own/in out; cp out {}"
        more = lab.job_body()["properties"]["mountVolumes"] | unmanaged("own", f"  {command} ")
        await lab.submit("job", mountVolumes=more, **custom(text.format(data / "out")))
        job = await lab.ends("job")
        await lab.submit("unknown", mountVolumes=unmanaged("own", "mount secret"), **custom("true"))
        unknown = await lab.ends("unknown")

        assert job.execution_state == "succeeded", job.execution_info.errors
        assert await lab.read("job", "stdout.txt") == "from outside\n"
        assert (data / "out").read_text() == "from outside\n"
        assert not trace.exists()
        (error,) = unknown.execution_info.errors
        assert error.code == "UnmanagedMountError"
        assert "table.json" in error.message
        assert "mount secret" not in error.message


def unmanaged(at: str, command: str) -> dict[str, Any]:
    return {"unmanagedFileSystems": [{"mountCommand": command, "relativeMountPath": at}]}
