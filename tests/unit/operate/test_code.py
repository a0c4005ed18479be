"""The code of a job, as those who may see the job read it."""

from __future__ import annotations

import gzip
import io
import json
from datetime import datetime
from hashlib import sha256
from urllib.parse import urlencode

import pytest

from shared.core.caller import SUBMIT, Caller
from shared.core.errors import Misuse, Unavailable
from shared.core.job import JobState
from shared.jobspec import MOUNT_LISTS, Limits
from shared.operate.code import code_of
from shared.snapshots.pack import Packer
from tests.doubles.archives import file, folder, link, tar
from tests.doubles.memory_snapshots import MemorySnapshots
from tests.mounted_at import mounted_at
from tests.unit.archived_code import archived, blob
from tests.unit.functions.calls import call, use
from tests.unit.world import World, job_json


class Unsigned(MemorySnapshots):
    """Storage that gives no key to sign with."""

    signs = False

    async def read_address(self, blob: str, until: datetime) -> str:
        if not self.signs:
            raise Unavailable("storage answered 503")
        return await super().read_address(blob, until)


def packed() -> bytes:
    out = io.BytesIO()
    packer = Packer(out)
    packer.folder("data")
    packer.file("run.sh", io.BytesIO(b"true\n"), 5, executable=True)
    packer.link("start.sh", "run.sh")
    packer.finish()
    return out.getvalue()


async def job_of(world: World, data: bytes) -> str:
    code = archived(world, data)
    return (await world.message({"spec": job_json(), "code": code})).job.id


async def test_it_is_listed_with_an_address_that_reads_it(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(world, monkeypatch)
    job_id = await job_of(world, packed())

    answer = await call("GET", f"/api/jobs/{job_id}/code")

    body = json.loads(answer.get_body())
    address = body.pop("url")
    assert (answer.status_code, body["files"], body["at"], body["more"]) == (200, 2, "work", False)
    assert body["entries"] == [
        {"name": "data/", "bytes": 0},
        {"name": "run.sh", "bytes": 5, "executable": True},
        {"name": "start.sh", "bytes": 0, "link": "run.sh"},
    ]
    assert address.endswith("sig=read")
    shown = json.loads((await call("GET", f"/api/jobs/{job_id}")).get_body())["code"]
    assert shown == {name: body[name] for name in ("sha256", "bytes", "at", "origin")}
    assert "all/" not in json.dumps(shown)


async def test_a_name_that_is_not_utf_8_is_escaped_and_said_to_be(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(world, monkeypatch)
    job_id = await job_of(world, tar([file("caf\udce9"), file("caf\udcea"), file("caf\\xe9")]))

    entries = json.loads((await call("GET", f"/api/jobs/{job_id}/code")).get_body())["entries"]

    assert [(one["name"], one.get("escaped")) for one in entries] == [
        ("caf\\xe9", True),
        ("caf\\xea", True),
        ("caf\\\\xe9", True),
    ]


async def test_the_text_of_one_file_is_read_and_not_more_than_its_beginning(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(world, monkeypatch)
    long = "0123456789abcdef" * 8192
    entries = [file("a.py", b"caf\xe9\0"), file("long.txt", long), file("caf\udce9", "2"), link("l", "a.py")]
    job_id = await job_of(world, tar([*entries, folder("f")]))

    async def shown(name: str) -> tuple[int, list[str], str | None]:
        answer = await call("GET", f"/api/jobs/{job_id}/code?{urlencode({'file': name})}")
        body = json.loads(answer.get_body())
        return answer.status_code, [one["name"] for one in body.get("entries", ())], body.get("text")

    assert await shown("a.py") == (200, ["a.py"], "caf\ufffd\0")
    assert await shown("long.txt") == (200, ["long.txt"], long[: 64 << 10])
    assert await shown("caf\\xe9") == (200, ["caf\\xe9"], "2")
    assert await shown("f/") == (200, ["f/"], "")
    for name in ("l", "none", "../a.py", "A.PY"):
        assert await shown(name) == (404, [], None)


async def test_a_caller_is_sent_to_storage_until_the_archive_is_there(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(world, monkeypatch)
    request = json.dumps({"sha256": "a" * 64, "bytes": 3}).encode()

    first = json.loads((await call("POST", "/api/snapshots", {}, request)).get_body())
    assert world.snapshots.uploaded(first["upload"], b"abc")
    second = json.loads((await call("POST", "/api/snapshots", {}, request)).get_body())

    assert (first["known"], second) == (False, {"known": True})


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"sha256": "a" * 63, "bytes": 1},
        {"sha256": "A" * 64, "bytes": 1},
        {"sha256": "../../runs/x", "bytes": 1},
        {"sha256": "a" * 64},
        {"sha256": "a" * 64, "bytes": 0},
        {"sha256": "a" * 64, "bytes": True},
        {"sha256": "a" * 64, "bytes": 1, "scope": "team-vision"},
    ],
)
async def test_anything_else_is_refused(
    world: World, monkeypatch: pytest.MonkeyPatch, body: dict[str, object]
) -> None:
    use(world, monkeypatch)

    answer = await call("POST", "/api/snapshots", {}, json.dumps(body).encode())

    assert answer.status_code == 400
    assert world.snapshots.requests == []


async def test_a_client_that_cannot_reach_storage_sends_an_archive_through_the_app(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(world, monkeypatch)
    data = packed()
    digest, binary = sha256(data).hexdigest(), {"Content-Type": "application/octet-stream"}

    answers = [await call("PUT", f"/api/snapshots/{digest}", binary, data) for _ in range(2)]

    assert [(one.status_code, json.loads(one.get_body())) for one in answers] == [
        (201, {"known": True}),
        (200, {"known": True}),
    ]
    job = (await world.message({"spec": job_json(), "code": {"sha256": digest}})).job
    assert job.code is not None
    assert job.code.bytes == len(data)


@pytest.mark.parametrize(
    ("size", "headers", "status"),
    [((8 << 20) + 1, {}, 413), (8 << 20, {}, 422), (0, {"Transfer-Encoding": "chunked"}, 411), (0, {}, 400)],
)
async def test_what_the_app_does_not_take_is_refused_before_storage_is_asked(
    world: World, monkeypatch: pytest.MonkeyPatch, size: int, headers: dict[str, str], status: int
) -> None:
    use(world, monkeypatch)

    answer = await call("PUT", f"/api/snapshots/{'a' * 64}", headers, b"x" * size)

    assert (answer.status_code, world.snapshots.requests) == (status, [])
    assert "archive" in answer.get_body().decode() or status in (411, 422)


async def test_a_large_archive_is_read_by_its_address_only(world: World) -> None:
    job_id = await job_of(world, b"x" * ((32 << 20) + 1))

    code, listing, place, _ = await code_of(world.ports, job_id)

    assert (code.bytes, listing.entries, listing.more) == ((32 << 20) + 1, (), True)
    assert place.address
    assert "read" not in [verb for verb, _ in world.snapshots.requests]


async def test_a_receipt_says_which_code_ran_or_that_it_is_the_live_one(world: World) -> None:
    world.policy(limits=Limits(unmanaged_mounts=True))
    own, named = archived(world), {"spec": job_json()}
    documents = [named, {**named, "code": own}]
    documents += [
        {"spec": job_json(mountVolumes=mounted_at(place, kind))}
        for place in ("scripts", "scripts/pkg", "elsewhere")
        for kind in MOUNT_LISTS
    ]
    jobs = [(await world.message(message, f"m{number}")).job for number, message in enumerate(documents)]
    for name in world.engine.started:
        world.engine.set_state(name, JobState.SUCCEEDED)
    await world.make_pass()
    await world.wake()

    neither, sent_code, *mounted = [world.receipt(job).get("code") for job in jobs]

    assert neither is None
    assert sent_code is not None
    assert sent_code["sha256"] == own["sha256"]
    assert mounted[:8] == ["live"] * 8
    assert mounted[8:] == ["live" if kind == "azureBlobFileSystems" else None for kind in MOUNT_LISTS]


async def test_while_no_address_can_be_signed_an_attempt_waits(world: World) -> None:
    world.use(snapshots=(away := Unsigned(world.clock, world.snapshots.data, world.snapshots.shown)))

    job = await world.job(await job_of(world, packed()))
    assert (job.state, world.engine.calls) == (JobState.SUBMITTING, 0)
    away.signs = True
    await world.make_pass(3600)

    assert (await world.job(job.id)).state is JobState.QUEUED


async def test_a_job_without_code_says_so(world: World) -> None:
    job = (await world.message({"spec": job_json()})).job

    with pytest.raises(Misuse, match="brings no code") as refused:
        await code_of(world.ports, job.id)

    assert refused.value.status == 404


async def test_code_that_was_deleted_is_gone(world: World) -> None:
    data = packed()
    job_id = await job_of(world, data)
    name = blob(archived(world, data))
    assert await world.snapshots.delete(name, world.snapshots.shown[name].etag)

    with pytest.raises(Misuse, match="was deleted") as refused:
        await code_of(world.ports, job_id)

    assert refused.value.status == 410


async def test_other_bytes_that_came_later_under_its_name_are_not_read(world: World) -> None:
    job_id = await job_of(world, packed())
    name = blob(archived(world, packed()))
    assert await world.snapshots.delete(name, world.snapshots.shown[name].etag)
    assert await world.snapshots.put(name, b"x" * 1_000_000)

    with pytest.raises(Misuse, match="was deleted, and something else has its name") as refused:
        await code_of(world.ports, job_id)

    assert refused.value.status == 410
    assert "read" not in [what for what, _ in world.snapshots.requests]


@pytest.mark.parametrize(
    "data",
    [b"not an archive", gzip.compress(b"x" * 2_000, mtime=0), gzip.compress(b"", mtime=0)],
    ids=["text", "no tar", "empty"],
)
async def test_what_is_not_an_archive_is_refused_as_that(world: World, data: bytes) -> None:
    job_id = await job_of(world, data)

    with pytest.raises(Misuse, match="cannot be listed") as refused:
        await code_of(world.ports, job_id)

    assert refused.value.status == 422


async def test_who_may_not_see_the_job_does_not_see_its_code(world: World) -> None:
    job_id = await job_of(world, packed())

    with pytest.raises(Misuse, match="there is no job") as refused:
        await code_of(world.ports, job_id, Caller("sam", frozenset({SUBMIT})))

    assert refused.value.status == 404


async def test_other_bytes_under_the_name_of_the_code_are_not_shown(world: World) -> None:
    """As many of them, sent after the archive was deleted."""
    job_id = await job_of(world, packed())
    ((name, data),) = world.snapshots.data.items()
    world.snapshots.data[name] = data[:-1] + bytes([data[-1] ^ 1])

    with pytest.raises(Misuse, match="was deleted, and something else has its name") as refusal:
        await code_of(world.ports, job_id)

    assert refusal.value.status == 410
