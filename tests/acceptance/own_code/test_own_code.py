"""Through the front door, on every local cluster: the accepted code runs, also after edits of its folder.

The folder is edited as soon as its jobs have been accepted: another archive of it is sent, and its files in
the drop container are written anew. A cluster that is added to the registry is tried as well.
"""

from __future__ import annotations

import io
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest

from shared.snapshots.pack import THROUGH_APP
from tests.acceptance.door import Door, eventually, shell, unique
from tests.breadth import size
from tests.doubles.archives import COMMAND, FOLDER, PRINTED, digest, file, packed

pytestmark = pytest.mark.asyncio(loop_scope="session")

_EDITED = (file("train.py", "print('edited')\n"), file("run.sh", "#!/bin/sh\necho edited\n", executable=True))
_PLACES = ("work", "scripts/digits")
_COMMAND = f'cd "$SLIPWAY_CODE" && {COMMAND}'
#: Nodes and command of a job: of one node, of several, and one that succeeds at its second attempt, for which
#: a quick run does not wait.
_ALL = ((1, _COMMAND), (2, _COMMAND), (1, f'[ "$SLIPWAY_ATTEMPT" = 2 ] || exit 3; {_COMMAND}'))
_SHAPES = _ALL[: size(len(_ALL), 2)]


async def test_every_job_runs_the_code_that_was_accepted_with_it(own_door: Door) -> None:
    code = await _upload(own_door, packed(*FOLDER))
    ids = [one for at in _PLACES for one in await _submitted(own_door, {**code, "at": at})]
    await _upload(own_door, packed(*_EDITED))
    for entry in _EDITED:
        await own_door.drop(f"digits/{entry.name}", entry.content)

    ended = [await own_door.ended(id=one) for one in ids]
    for job in (ended[0], ended[-1]):
        again = await _accepted(own_door, f"jobs/{job['id']}/rerun", await _receipt(own_door, job["receipt"]))
        ended.append(await own_door.ended(id=again["id"]))

    assert [job["state"] for job in ended] == ["succeeded"] * len(ended), ended
    logs = [(await own_door.call("GET", f"jobs/{job['id']}/log"))[1]["text"] for job in ended]
    assert logs == [PRINTED] * len(ended)


_DROPPED = tuple(one for one in FOLDER if one.content and not one.name.startswith("."))
_DROP_COMMAND = "python3 train.py && ./run.sh && echo changed >data/rows.csv && python3 train.py"
_DROP_PRINTED = "1 1,2\nran\n1 changed\n"


@pytest.mark.parametrize("nodes", [1, 2])
async def test_a_drop_runs_the_files_that_were_accepted_and_names_those_that_came_later(
    own_door: Door, nodes: int
) -> None:
    folder = unique("own")
    root = f"$AZ_BATCHAI_JOB_MOUNT_ROOT/scripts/{folder}"
    waits, runs = "sleep 600", f'cd "$SLIPWAY_CODE" && [ "$PWD" -ef {root} ] && {_DROP_COMMAND}'
    for name, command in ((folder, runs), (f"{folder}-waits", waits)):
        for entry in (*_DROPPED, file(".env", "x")):
            await own_door.drop(f"{name}/{entry.name}", entry.content)
        await own_door.drop(f"{name}/job.json", shell(command, nodeCount=nodes))
    (one,) = await eventually(lambda: _of_folder(own_door, folder), "the job of the folder")
    (other,) = await eventually(lambda: _of_folder(own_door, f"{folder}-waits"), "the job that waits")
    for entry in _EDITED:
        await own_door.drop(f"{folder}/{entry.name}", entry.content)
    await own_door.drop(f"{folder}-waits/data/late.csv", b"9")

    line = await eventually(lambda: _late(own_door, other["receipt"]), "the late file in STATUS")
    await _accepted(own_door, f"jobs/{other['id']}/cancel", {})
    ended = [await own_door.ended(id=one["id"])]
    again = await _accepted(own_door, f"jobs/{one['id']}/rerun", await _receipt(own_door, one["receipt"]))
    ended.append(await own_door.ended(id=again["id"]))

    assert [job["state"] for job in ended] == ["succeeded"] * 2, ended
    logs = [(await own_door.call("GET", f"jobs/{job['id']}/log"))[1]["text"] for job in ended]
    assert logs == [_DROP_PRINTED] * 2
    assert 'came after the job was accepted, and is not part of it: "data/late.csv"' in line
    assert 'left out: hidden files and folders of tools (".env")' in line
    assert (await own_door.call("GET", f"jobs/{one['id']}"))[1]["code"]["origin"] == "drop"


async def test_code_that_came_through_the_app_and_a_named_folder_run_as_well(own_door: Door) -> None:
    archive, folder = packed(*_DROPPED), unique("named")
    for entry in (*_DROPPED, file("job.json", "{}")):
        await own_door.drop(f"{folder}/{entry.name}", entry.content)
    spec = shell(f'cd "$SLIPWAY_CODE" && {_DROP_COMMAND}')

    answers = [await _through_app(own_door, digest(archive), archive) for _ in range(2)]
    codes: list[dict[str, Any]] = [
        {"sha256": digest(archive)},
        {"folder": f"scripts/{folder}"},
        {"folder": f"scripts/{folder}", "at": "scripts/x/y"},
    ]
    jobs = [await _accepted(own_door, "jobs", {"spec": spec, "code": code}) for code in codes]
    for entry in _EDITED:
        await own_door.drop(f"{folder}/{entry.name}", entry.content)
    ended = [await own_door.ended(id=one["id"]) for one in jobs]

    assert answers == [(201, {"known": True}), (200, {"known": True})]
    assert [job["state"] for job in ended] == ["succeeded"] * 3, ended
    logs = [(await own_door.call("GET", f"jobs/{job['id']}/log"))[1]["text"] for job in ended]
    assert logs == [_DROP_PRINTED] * 3


async def test_the_app_takes_an_archive_with_its_length_its_digest_and_at_most_8_mib(own_door: Door) -> None:
    large, other = bytes(THROUGH_APP + 1), packed(file("a", "1"))

    async def chunks() -> AsyncIterator[bytes]:
        yield other

    statuses = [
        (await _through_app(own_door, digest(body), data))[0]
        for body, data in ((large, large), (other, other + b"x"), (other, chunks()))
    ]

    assert statuses == [413, 422, 411]
    offer = await _accepted(own_door, "snapshots", {"sha256": digest(other), "bytes": len(other)})
    assert offer["known"] is False


async def _through_app(door: Door, name: str, data: Any) -> tuple[int, dict[str, Any]]:
    headers = {"Content-Type": "application/octet-stream"}
    body = io.BytesIO(data) if isinstance(data, bytes) else data
    async with door.http.put(f"/api/snapshots/{name}", data=body, headers=headers) as answer:
        return answer.status, await answer.json(content_type=None)


async def _of_folder(door: Door, folder: str) -> list[dict[str, Any]] | None:
    return await door.jobs(experiment=folder) or None


async def _late(door: Door, receipt: str) -> str | None:
    path = receipt.removeprefix("runs/").replace("receipt.json", "STATUS")
    line = (await door.receipt_file(path) or b"").decode()
    return line if "came after" in line else None


async def _submitted(door: Door, code: dict[str, Any]) -> list[str]:
    """The ids of the jobs of all shapes with that code, and of those of a sweep."""
    preparation = {"commandLine": '"$SLIPWAY_CODE/run.sh" | grep -x ran'}
    ids = []
    for nodes, command in _SHAPES:
        spec = shell(command, nodeCount=nodes, jobPreparation=preparation)
        message = {"spec": spec, "code": code, "retry": {"user": 1}}
        ids.append((await _accepted(door, "jobs", message))["id"])
    sweep = {"spec": shell(f"[ {{lr}} -gt 0 ] && {_COMMAND}"), "sweep": {"lr": [1, 2]}, "code": code}
    name = (await _accepted(door, "sweeps", sweep))["sweepId"]
    members: list[dict[str, Any]] = []
    while len(members) < 2:
        members = (await door.call("GET", f"jobs?sweep={name}"))[1]["jobs"]
    return [*ids, *(one["id"] for one in members)]


async def _upload(door: Door, archive: bytes) -> dict[str, Any]:
    """Send an archive as a client does; how a message names it."""
    name = digest(archive)
    answer = await _accepted(door, "snapshots", {"sha256": name, "bytes": len(archive)})
    if not answer["known"]:
        headers = {"x-ms-blob-type": "BlockBlob", "If-None-Match": "*"}
        async with (
            aiohttp.ClientSession() as http,
            http.put(answer["upload"], data=archive, headers=headers) as stored,
        ):
            assert stored.status == 201
    return {"sha256": name}


async def _receipt(door: Door, path: str) -> bytes:
    return await eventually(lambda: door.receipt_file(path.removeprefix("runs/")), "the receipt")


async def _accepted(door: Door, way: str, message: Any) -> dict[str, Any]:
    status, answer, _ = await door.call("POST", way, message)
    assert status in (200, 202), answer
    return answer
