"""A message with its code: one upload, one job, however often it is sent."""

from __future__ import annotations

import asyncio
import hashlib
import io
import json
import os
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from shared.jobspec import MOUNT_LISTS
from shared.snapshots.listing import listing
from slipway.client.calls.refusal import Absent
from slipway.commands.submit import submit
from slipway.failure import Failure
from slipway.library.aio import AsyncClient
from tests.mounted_at import mounted_at
from tests.unit.slipway.client.snapshot.deployment import Deployment

JOB = {"properties": {"nodeCount": 1, "customToolkitSettings": {"commandLine": "python train.py --lr {lr}"}}}
SENDS = ["POST /api/snapshots", "PUT ", "POST /api/jobs"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "train.py").write_text("print(1)\n")
    return tmp_path


async def test_a_folder_is_sent_in_four_requests_and_in_three_if_it_is_known(folder: Path) -> None:
    deployment = Deployment()

    async with deployment.serving() as url:
        first = await AsyncClient(url).run(folder, "--lr", "1", name="digits")
        calls, deployment.calls = deployment.calls, []
        second = await AsyncClient(url).run(folder)

    assert (first.id, second.id) == ("j_1", "j_2")
    assert calls == ["GET /api/settings", *SENDS]
    assert deployment.calls == ["GET /api/settings", SENDS[0], SENDS[2]]
    ((digest, archive),) = deployment.blobs.items()
    assert digest == hashlib.sha256(archive).hexdigest()
    message = next(iter(deployment.messages.values()))
    assert message["code"] == {"sha256": digest}
    settings = {"pythonScriptFilePath": "train.py", "commandLineArgs": "--lr 1"}
    assert message["spec"]["properties"]["pyTorchSettings"] == settings
    assert deployment.names[0] == "digits"


async def test_an_edit_between_two_runs_makes_two_archives(folder: Path) -> None:
    deployment = Deployment()

    async with deployment.serving() as url:
        await AsyncClient(url).run(folder)
        (folder / "train.py").write_text("print(2)\n")
        await AsyncClient(url).run(folder)

    first, second = (message["code"]["sha256"] for message in deployment.messages.values())
    assert {first, second} == {*deployment.blobs}
    assert first != second


async def test_code_that_was_deleted_meanwhile_is_sent_again_and_makes_one_job(folder: Path) -> None:
    deployment = Deployment()
    deployment.losses = 1

    async with deployment.serving() as url:
        await AsyncClient(url).submit(JOB, code=folder, idempotency_key="mine")

    assert deployment.calls == ["GET /api/settings", *SENDS, *SENDS]
    assert [*deployment.messages] == ["mine"]


async def test_code_that_is_always_deleted_is_named(folder: Path) -> None:
    deployment = Deployment()
    deployment.losses = 99

    async with deployment.serving() as url:
        with pytest.raises(Absent, match="there is no code here; send the code again"):
            await AsyncClient(url).submit(JOB, code=folder)


async def test_a_document_and_a_sweep_of_ones_own_take_a_folder(folder: Path) -> None:
    deployment = Deployment()

    async with deployment.serving() as url:
        sweep = await AsyncClient(url).submit_sweep({"sweep": {"lr": [1, 2]}, "spec": JOB}, code=folder)
        job = await AsyncClient(url).submit(JOB, code=folder)

    assert (sweep.id, job.id) == (f"s_{'a' * 23}2", "j_2")
    assert all(message["spec"] == JOB for message in deployment.messages.values())
    assert deployment.calls.count("PUT ") == 1


async def test_a_document_keeps_the_key_that_it_has(folder: Path) -> None:
    deployment = Deployment()
    document = {"spec": JOB, "idempotencyKey": "own"}

    async with deployment.serving() as url:
        await AsyncClient(url).submit(document, code=folder)
        await AsyncClient(url).submit(document, code=folder, idempotency_key="mine")

    assert [*deployment.messages] == ["own", "mine"]


@pytest.mark.parametrize("sweep", [{}, {"sweep": None}])
async def test_a_message_of_another_kind_is_refused_before_it_is_sent(
    folder: Path, sweep: dict[str, None]
) -> None:
    deployment = Deployment()
    (folder / "job.json").write_text(json.dumps({"spec": JOB, "sweep": {"lr": [1, 2]}}))

    async with deployment.serving() as url:
        client = AsyncClient(url)
        for code in (folder, None):
            with pytest.raises(Failure, match=r"no sweep, .* submit it with submit\(\)"):
                await client.submit_sweep({"spec": JOB, **sweep}, code=code)
            with pytest.raises(Failure, match=r"has a sweep, .* submit it with submit_sweep\(\)"):
                await client.submit({"spec": JOB, "sweep": {"lr": [1, 2]}}, code=code)
        with pytest.raises(Failure, match=r"have a sweep, .* with submit_sweep\(\)"):
            await client.run(folder)

    assert not deployment.messages


_ROOT = "$AZ_BATCHAI_JOB_MOUNT_ROOT"


@pytest.mark.parametrize(
    ("place", "line", "is_sent"),
    [
        ("scripts", f"python {_ROOT}/scripts/digits/train.py", False),
        ("scripts", f"python {_ROOT}/scripts/common/other.py", False),
        ("scripts", f"cd {_ROOT}/scripts && python digits/train.py", False),
        ("scripts", f"cd {_ROOT} && python scripts/digits/train.py", False),
        ("scripts", f"D={_ROOT}/scripts; python $D/digits/train.py", False),
        ("scripts", f"PYTHONPATH=${{{_ROOT[1:]}}}/./scripts python -m digits.train", False),
        ("scripts/digits", f"python {_ROOT}/scripts/digits/train.py", False),
        ("scripts/digits/models", f"python '{_ROOT}'/\"scripts\"/digits/train.py", False),
        ("scripts", "python train.py", True),
        ("scripts", f"python train.py {_ROOT}/data/scripts-2", True),
        ("scripts-2", f"python train.py {_ROOT}/scripts-2/scripts", True),
    ],
)
@pytest.mark.parametrize("kind", MOUNT_LISTS)
async def test_code_for_a_document_that_names_the_mounted_scripts_is_refused(
    folder: Path, kind: str, place: str, line: str, is_sent: bool
) -> None:
    deployment = Deployment()
    properties = {
        "nodeCount": 1,
        "customToolkitSettings": {"commandLine": line},
        "mountVolumes": mounted_at(place, kind),
    }
    refused = nullcontext() if is_sent else pytest.raises(Failure, match="take the mount out")

    async with deployment.serving() as url:
        with refused:
            await AsyncClient(url).submit({"properties": properties}, code=folder)
        if kind != "unmanagedFileSystems":  # of which the command alone does not know that they are allowed
            (folder / "job.json").write_text(json.dumps({"properties": properties}))
            with refused:
                await AsyncClient(url).run(folder)

    assert bool(deployment.messages) is is_sent


@pytest.mark.parametrize(
    "more",
    [
        {"pyTorchSettings": {"pythonScriptFilePath": f"{_ROOT}/scripts/train.py"}},
        {"jobPreparation": {"commandLine": f"ls {_ROOT}/scripts"}},
        {"environmentVariables": [{"name": "PYTHONPATH", "value": f"{_ROOT}/scripts"}]},
        {"environmentVariables": [{"name": "D", "value": _ROOT}]},
        {"environmentVariables": [{"name": "D", "value": "${AZ_BATCHAI_JOB_MOUNT_ROOT}/"}]},
        {"inputDirectories": [{"id": "CODE", "path": f"{_ROOT}/scripts"}]},
    ],
    ids=lambda more: next(iter(more)),
)
async def test_any_text_of_a_document_may_name_the_mounted_scripts(
    folder: Path, more: dict[str, Any]
) -> None:
    deployment = Deployment()
    command = (
        {} if "pyTorchSettings" in more else {"customToolkitSettings": {"commandLine": "python train.py"}}
    )
    volumes = mounted_at("scripts", MOUNT_LISTS[0])
    properties = {"nodeCount": 1, **command, **more, "mountVolumes": volumes}

    async with deployment.serving() as url:
        with pytest.raises(Failure, match="take the mount out"):
            await AsyncClient(url).submit({"properties": properties}, code=folder)

    assert not deployment.messages


async def test_the_deployment_says_how_large_the_code_of_a_document_may_be(folder: Path) -> None:
    deployment = Deployment()
    deployment.settings["SLIPWAY_CODE_MIB"] = "1"
    (folder / "weights.bin").write_bytes(os.urandom(2 << 20))

    async with deployment.serving() as url:
        with pytest.raises(Failure, match=r"packs to more than 1 MiB"):
            await AsyncClient(url).submit(JOB, code=folder)

    assert not deployment.blobs


@pytest.mark.parametrize("name", ["exp.json", "requests/exp.json"])
async def test_the_file_of_the_message_is_not_a_part_of_its_code(folder: Path, name: str) -> None:
    deployment = Deployment()
    file = folder / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps(JOB))

    async with deployment.serving() as url:
        await asyncio.to_thread(submit.run, file, url, "", code=folder)

    (archive,) = deployment.blobs.values()
    assert [entry.name for entry in listing(io.BytesIO(archive)).entries] == ["train.py"]


async def test_what_is_not_a_folder_or_names_its_code_already_is_refused(folder: Path) -> None:
    client = AsyncClient("http://127.0.0.1:9")

    with pytest.raises(Failure, match=r"train\.py is not a folder"):
        await client.submit(JOB, code=folder / "train.py")
    with pytest.raises(Failure, match="names its code already"):
        await client.submit({"spec": JOB, "code": {}}, code=folder)
