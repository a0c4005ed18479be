"""`slipway code`: what it shows, compares and writes."""

from __future__ import annotations

import asyncio
import hashlib
import io
import json
from pathlib import Path

import pytest
from aiohttp import web

from slipway.client.snapshot.pack import pack
from slipway.client.snapshot.walk import walk
from slipway.commands.code.code import run
from slipway.failure import Failure
from tests.doubles.archives import file, tar
from tests.doubles.server import answering, as_slipway
from tests.unit.slipway.client.snapshot.test_walk import put

JOB = "j_" + "a" * 24


class Job:
    """A job whose code is a folder."""

    def __init__(self, folder: Path) -> None:
        put(folder, "train.py", "data.csv")
        out = io.BytesIO()
        packed = pack(walk(folder), out)
        self.stored, self.sha256 = out.getvalue(), packed.sha256
        self.counted: dict[str, int] = {"files": packed.files}
        self.is_large = False

    async def answer(self, request: web.Request) -> web.Response:
        if request.path != f"/api/jobs/{JOB}/code":
            return web.Response(body=self.stored)
        assert "x-functions-key" in request.headers
        entries = [
            {"name": "run.sh", "bytes": 9, "executable": True},
            {"name": "a", "bytes": 0, "link": "b\x1b"},
        ]
        code = {"sha256": self.sha256, "bytes": len(self.stored), "at": "work", **self.counted}
        url = f"{request.url.origin()}/snapshots/x?sig=secret"
        more: dict[str, object] = {
            "origin": "upload",
            "entries": entries,
            "more": False,
            "url": url,
            "expires": "2030-01-01T00:00:00Z",
        }
        if self.is_large:
            more |= {"more": True}
            del more["entries"]
        return web.json_response({**code, **more})


async def code(job: Job, **options: object) -> int:
    defaults = {"as_list": False, "diff": None, "to": None, "as_json": False}
    async with answering(as_slipway(job.answer)) as url:
        return await asyncio.to_thread(run, JOB, url, "key", **{**defaults, **options})  # type: ignore[arg-type]


async def test_it_is_shown_without_the_address_that_reads_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    job = Job(tmp_path)

    await code(job)
    await code(job, as_list=True)
    text = capsys.readouterr().out
    await code(job, as_json=True)
    shown = capsys.readouterr().out

    assert text.splitlines() == [
        f"2 files, {len(job.stored)} bytes, in the working directory of the job",
        f"sha256 {job.sha256}",
        "   9 bytes  run.sh*",
        "   0 bytes  a -> b\\x1b",
    ]
    assert json.loads(shown)["sha256"] == job.sha256
    assert "secret" not in text + shown


async def test_a_large_one_is_listed_from_the_archive(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    job = Job(tmp_path)
    job.is_large = True

    await code(job, as_list=True)

    assert capsys.readouterr().out.splitlines() == ["    1 byte  data.csv", "    1 byte  train.py"]


async def test_an_archive_that_ends_early_is_a_failure_in_a_sentence(tmp_path: Path) -> None:
    job = Job(tmp_path / "folder")
    job.is_large, job.stored = True, job.stored[: len(job.stored) // 2]
    job.sha256 = hashlib.sha256(job.stored).hexdigest()
    words = "ends too early"

    with pytest.raises(Failure, match=f"the code cannot be listed: it {words}"):
        await code(job, as_list=True)
    with pytest.raises(Failure, match=f"the code cannot be unpacked: it {words}"):
        await code(job, to=tmp_path / "to")
    with pytest.raises(Failure, match=f"the code cannot be read: it {words}"):
        await code(job, diff=tmp_path / "folder")


async def test_it_is_written_into_a_directory_and_compared_with_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    job, to = Job(tmp_path / "folder"), tmp_path / "to"

    assert await code(job, to=to) == 0
    assert await code(job, diff=to) == 0
    (to / "train.py").write_text("2")
    assert await code(job, diff=to) == 1

    assert (to / "data.csv").read_text() == "1"
    shown = capsys.readouterr().out.splitlines()
    assert shown[:2] == [f"wrote 2 files into {to}", "the folder is what the job runs"]
    assert (shown[2], shown[-2:]) == ("changed train.py", ["-1", "+2"])


async def test_other_bytes_than_the_job_recorded_are_not_used(tmp_path: Path) -> None:
    job = Job(tmp_path / "folder")
    job.stored = job.stored[:-1] + b"x"

    with pytest.raises(Failure, match="not the code that the job recorded"):
        await code(job, to=tmp_path / "to")

    assert not (tmp_path / "to").exists()


async def test_one_thing_is_done_at_a_time(tmp_path: Path) -> None:
    with pytest.raises(Failure, match="give one of --list, --diff and --to"):
        await code(Job(tmp_path / "folder"), as_list=True, to=tmp_path / "to")


async def test_names_that_are_not_utf_8_are_listed_as_the_app_lists_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    job = Job(tmp_path)
    job.stored = tar([file("caf\udce9"), file("caf\udcea")])
    job.is_large, job.sha256 = True, hashlib.sha256(job.stored).hexdigest()

    await code(job, as_list=True, as_json=True)

    entries = json.loads(capsys.readouterr().out)["entries"]
    assert [(one["name"], one["escaped"]) for one in entries] == [("caf\\xe9", True), ("caf\\xea", True)]


async def test_a_name_is_shown_alike_in_the_list_and_in_what_differs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ["back\\u200b.txt", "back\u200b.txt", "train\ufe0f.py", "hangul\u3164x", "caf\udce9"]
    job = Job(tmp_path / "folder")
    job.stored = tar([file(name) for name in sorted(names)])
    job.is_large, job.sha256 = True, hashlib.sha256(job.stored).hexdigest()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "train\ufe0f.py").write_text("another text")

    await code(job, as_list=True)
    listed = {line.split()[-1] for line in capsys.readouterr().out.splitlines()}
    await code(job, diff=tmp_path / "other")
    lines = capsys.readouterr().out.splitlines()

    expected = {"back\\\\u200b.txt", "back\\u200b.txt", "train\\ufe0f.py", "hangul\\u3164x", "caf\\xe9"}
    assert listed == expected
    assert {line.split()[-1] for line in lines if line.startswith(("removed", "changed"))} == expected
    assert [line for line in lines if line.startswith(("---", "+++"))] == [
        "--- job/train\\ufe0f.py",
        "+++ folder/train\\ufe0f.py",
    ]


async def test_of_files_that_are_not_counted_no_number_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    job = Job(tmp_path)
    job.counted = {}

    await code(job)

    assert capsys.readouterr().out.startswith(f"{len(job.stored)} bytes, in the working directory")


@pytest.mark.parametrize(
    ("text", "is_document"),
    [
        *(('{"properties": {"nodeCount": 1}}', True), ('{"spec": {"properties": {"nodeCount": 1}}}', True)),
        *(('{"lr": 1}', False), ("{", False), ('{"spec": {"replicas": 1}}', False)),
        ('{"type": "object", "properties": {"lr": {"type": "number"}}}', False),
    ],
)
async def test_the_document_that_was_submitted_is_not_a_difference(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, is_document: bool
) -> None:
    job = Job(tmp_path)
    (tmp_path / "doc.json").write_text(text)

    assert await code(job, diff=tmp_path) == int(not is_document)

    out = capsys.readouterr().out
    assert ("added doc.json" in out) is not is_document
    assert ("not compared: doc.json describes a job" in out) is is_document
    await code(job, diff=tmp_path, as_json=True)
    assert json.loads(capsys.readouterr().out).get("notCompared") == (["doc.json"] if is_document else None)
