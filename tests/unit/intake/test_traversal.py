"""No name, path or address that a person writes leads out of its place."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from shared.core.errors import Misuse
from shared.core.job import Job, JobState
from shared.core.notify.webhook_url import UrlPolicy, refusal
from shared.intake.arrive import blob_arrived
from shared.intake.drops.inventory import inventory
from shared.operate.files import output
from tests.breadth import pairs
from tests.unit.world import World, job_json

#: What a path must not be, in any member that takes one.
CLIMBING = (
    *("..", "../x", "../../etc/passwd", "a/../../b", "a/..", "a/./../..", "/etc/passwd", "//host/share"),
    *("..\\x", "a\\..\\..\\b", "C:\\x", "\\\\host\\share", "a/\x00/b", "a\n/b"),
)


def _mount(path: str) -> dict[str, Any]:
    share = {"accountName": "acct", "azureFileUrl": "https://acct.file.core.windows.net/logs"}
    return job_json(mountVolumes={"azureFileShares": [{**share, "relativeMountPath": path}]})


def _share(path: str) -> dict[str, Any]:
    url = f"https://acct.file.core.windows.net/logs/{path}"
    return job_json(
        mountVolumes={
            "azureFileShares": [{"accountName": "acct", "azureFileUrl": url, "relativeMountPath": "x"}]
        }
    )


def _server(path: str) -> dict[str, Any]:
    server = {
        "id": "/subscriptions/s/resourceGroups/g/providers/Microsoft.BatchAI/workspaces/w/fileServers/f"
    }
    mount = {"fileServer": server, "relativeMountPath": "nfs", "sourceDirectory": path}
    return job_json(mountVolumes={"fileServers": [mount]})


def _output(**changes: str) -> dict[str, Any]:
    output = {"id": "MODEL", "pathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/logs", **changes}
    return job_json(outputDirectories=[output])


DOCUMENTS: dict[str, Callable[[str], dict[str, Any]]] = {
    "relativeMountPath": _mount,
    "azureFileUrl": _share,
    "sourceDirectory": _server,
    "pathSuffix": lambda path: _output(pathSuffix=path),
    "pathPrefix": lambda path: _output(pathPrefix=f"$AZ_BATCHAI_MOUNT_ROOT/logs/{path}"),
    "stdOutErrPathPrefix": lambda path: job_json(stdOutErrPathPrefix=f"$AZ_BATCHAI_MOUNT_ROOT/logs/{path}"),
    "output id": lambda path: _output(id=path),
    "specBlob": lambda path: {"specBlob": f"scripts/{path}"},
    "container of specBlob": lambda path: {"specBlob": f"{path}/job.json"},
    "name": lambda path: {"spec": job_json(), "name": path},
    "experiment": lambda path: {"spec": job_json(), "experiment": path},
    "cluster": lambda path: {"spec": job_json(), "cluster": path},
    "image": lambda path: job_json(containerSettings={"imageSourceRegistry": {"image": f"host/{path}"}}),
}


#: Where a leading slash only makes an empty level, or where the server's own root is meant.
_RELATIVE = ("sourceDirectory", "pathPrefix", "stdOutErrPathPrefix", "image")


@pytest.mark.parametrize(("where", "path"), pairs(DOCUMENTS, CLIMBING))
async def test_a_document_that_climbs_is_refused_at_its_place(where: str, path: str, world: World) -> None:
    if path.startswith("/") and where in _RELATIVE:
        path = f"..{path}"
    job = (await world.message(DOCUMENTS[where](path))).job

    assert job.state is JobState.REJECTED
    assert any(problem["pointer"] for problem in job.problems if problem["severity"] == "error")
    assert world.engine.started == []
    assert not [name for name in world.drops.receipt_files if ".." in name or "\\" in name]


@pytest.mark.parametrize("path", CLIMBING)
@pytest.mark.parametrize("file", ["job.json", "train.py"])
async def test_a_blob_whose_name_climbs_is_no_ones_drop(path: str, file: str, world: World) -> None:
    name = f"{path}/{file}"
    world.drops.upload(name, json.dumps(job_json()).encode())
    world.pass_time(60)

    looked = await blob_arrived(world.ports, "scripts", name)
    counted = await inventory(world.ports)

    assert looked.accepted == ()
    assert (counted.accepted, counted.waiting) == (0, 0)
    # At most a note that says so, and that climbs nowhere.
    assert all(
        "unusable-" in name and ".." not in name and "\\" not in name for name in world.drops.receipt_files
    )
    assert not any(name.startswith("/") for name in world.drops.receipt_files)
    assert world.engine.started == []


async def _running(world: World) -> Job:
    job = (await world.message(job_json())).job
    world.engine.set_state(world.engine.started[0], JobState.RUNNING)
    await world.make_pass()
    return job


@pytest.mark.parametrize("path", CLIMBING)
async def test_a_question_for_files_or_logs_that_climbs_is_refused(path: str, world: World) -> None:
    job = await _running(world)
    for ask in (
        lambda: output.files(world.ports, job.id, "stdouterr", path),
        lambda: output.files(world.ports, job.id, path, "."),
        lambda: output.log(world.ports, job.id, path, "0"),
        lambda: output.content(world.ports, job.id, "stdouterr", path),
        lambda: output.content(world.ports, job.id, path, "stdout.txt"),
    ):
        with pytest.raises(Misuse) as refused:
            await ask()
        assert refused.value.status == 400
        assert refused.value.remedy


@pytest.mark.parametrize("path", [".", "models", "models/best", "a.b/c-d_e", "ü x"])
async def test_a_plain_path_is_asked_for(path: str, world: World) -> None:
    job = await _running(world)
    world.engine.output = {f"{path}/weights": b"x"} if path != "." else {"weights": b"x"}

    listed = await output.files(world.ports, job.id, "stdouterr", path)

    assert [file.name for file in listed.files] == ["weights"]


@pytest.mark.parametrize(
    "url",
    [
        "https://hooks.example.com\\@10.0.0.1/", "https://hooks.example.com/..\\x",
        "https://hooks.example.com/\x00",
        "https://../x", "https://hooks.example.com/%zz", "file:///etc/passwd", "https:///etc/passwd",
    ],
)  # fmt: skip
def test_an_address_that_two_readers_could_read_in_two_ways_is_refused(url: str) -> None:
    assert refusal(url, UrlPolicy()) is not None
