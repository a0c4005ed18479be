"""What a request only names: the document of a blob, and the scripts that lie in the drop container."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import pytest

from shared.core.caller import KEY_HOLDER, SUBMIT, Caller
from shared.core.errors import Misuse, Unavailable
from shared.core.job import Drop
from shared.core.messages import digest
from shared.core.ports import Content, Ports
from shared.intake.candidate import Candidate
from shared.intake.desk.draft import draft_of
from shared.intake.message import Request, read_request
from shared.jobspec import Envelope, Limits
from tests.doubles.memory import MemoryDrops
from tests.unit.world import World, job_json

MOUNT = "$AZ_BATCHAI_JOB_MOUNT_ROOT/scripts"
SUBMITTER = Caller("app", frozenset({SUBMIT}))


@dataclass
class Files(MemoryDrops):
    """Notes what is read and up to which size; some blobs cannot be read now, or never."""

    reads: list[tuple[str, int]] = field(default_factory=list)
    away: tuple[str, ...] = ()
    refused: str = ""

    async def read(self, name: str, *, etag: str | None = None, limit: int) -> Content | None:
        self.reads.append((name, limit))
        if name in self.away:
            raise Unavailable("storage did not answer")
        return await super().read(name, etag=etag, limit=limit)

    async def read_reference(self, reference: str, *, limit: int) -> bytes | None:
        if self.refused:
            raise Misuse(self.refused, remedy="name another")
        return await super().read_reference(reference, limit=limit)


@pytest.fixture
def files(world: World) -> Files:
    world.use(drops=(result := Files(world.clock)))
    return result


def named(reference: str = "scripts/a/job.json", **members: Any) -> Request:
    return read_request(json.dumps({"specBlob": reference, **members}).encode(), Limits())


async def fetched(ports: Ports, request: Request, *, folder: str = "", who: Caller = KEY_HOLDER) -> Request:
    """The request of a draft; `folder` is about to be dropped."""
    drop = (
        Drop(container="scripts", folder=folder, job_file="job.json", files={}, etags={}) if folder else None
    )
    candidate = Candidate(door="http", source="http:", key="k", request=request, who=who, drop=drop)
    return (await draft_of(ports, candidate)).candidate.request


# The document of a blob


async def test_the_document_of_a_blob_takes_its_place_and_counts_for_the_payload(
    world: World, files: Files
) -> None:
    text = json.dumps(job_json()).encode()
    files.upload("a/job.json", text)
    request = named(name="mine")
    fetched_request = await fetched(world.ports, request)

    assert fetched_request.document == job_json()
    assert fetched_request.payload == digest([request.payload, digest(job_json())])
    assert (fetched_request.pointer, fetched_request.readable, fetched_request.problems) == ("", True, ())
    assert fetched_request.text is not None
    assert (fetched_request.text.data, fetched_request.text.file) == (text, "scripts/a/job.json")
    assert fetched_request.around == request.text
    assert fetched_request.envelope == request.envelope
    assert files.reads[0] == ("a/job.json", world.ports.policy.limits.max_bytes)


async def test_a_request_with_its_document_is_left_as_it_is(world: World, files: Files) -> None:
    for document in ({"spec": job_json(), "specBlob": "scripts/a/job.json"}, {"spec": job_json()}):
        request = read_request(json.dumps(document).encode(), Limits())
        assert await fetched(world.ports, request) is request
    nothing = Request(Envelope(), None, "p")
    assert await fetched(world.ports, nothing) is nothing
    assert await fetched(world.ports, nothing, folder="a") is nothing
    assert files.reads == []


async def test_problems_are_reported_in_the_text_in_which_they_are(world: World, files: Files) -> None:
    files.upload("a/job.json", json.dumps({**job_json(), "x": 1}).encode()[:-1] + b",}")
    fetched_request = await fetched(world.ports, named(nmae="mine"))

    assert not fetched_request.readable
    messages, read = fetched_request.problems[0], fetched_request.problems[-1]
    assert (messages.pointer, messages.as_dict()["file"], messages.as_dict()["line"]) == (
        "/nmae",
        "message",
        1,
    )
    assert read.code == "SW003"


async def test_the_limits_of_the_deployment_hold_for_the_document(world: World, files: Files) -> None:
    world.policy(limits=Limits(max_values=3))
    files.upload("a/job.json", json.dumps(job_json()).encode())
    request = Request(Envelope.model_validate({"specBlob": "scripts/a/job.json"}), None, "p")
    fetched_request = await fetched(world.ports, request)
    assert fetched_request.problems
    assert not fetched_request.readable
    assert fetched_request.around is None


async def test_a_job_that_stands_in_the_wrong_place_of_the_blob_is_found(world: World, files: Files) -> None:
    files.upload("a/job.json", json.dumps({"job": job_json()}).encode())
    fetched_request = await fetched(world.ports, named())
    assert fetched_request.document == job_json()
    assert (fetched_request.properties, fetched_request.readable) == ("/job/properties", False)


@pytest.mark.parametrize(
    ("reference", "refused", "message", "remedy"),
    [
        ("scripts/a/job.json", "", "there is no blob scripts/a/job.json", None),
        ("scripts/a/job.json", "it is too large", "it is too large", "name another"),
    ],
)
async def test_a_blob_that_gives_no_document_is_a_problem_of_the_message(
    world: World, files: Files, reference: str, refused: str, message: str, remedy: str | None
) -> None:
    files.refused = refused
    request = named(reference, nmae="mine")
    fetched_request = await fetched(world.ports, request)
    *before, problem = fetched_request.problems
    assert (problem.code, problem.pointer, problem.message) == ("SW106", "/specBlob", message)
    assert remedy in (None, problem.remedy)
    assert tuple(before) == request.problems
    assert len(before) == 1
    assert fetched_request.document is None


async def test_only_who_sees_every_job_may_name_a_drop(world: World, files: Files) -> None:
    files.upload("a/job.json", json.dumps(job_json()).encode())
    with pytest.raises(Misuse, match="specBlob names a drop") as caught:
        await fetched(world.ports, named(), who=SUBMITTER)
    assert (caught.value.status, caught.value.remedy) == (403, "send the document itself, as `spec`")
    assert files.reads == []

    files.container = "specs"
    for who, reference in ((KEY_HOLDER, "specs/a/job.json"), (SUBMITTER, "specs/a/job.json")):
        assert (await fetched(world.ports, named(reference), who=who)).document == job_json()


# Scripts


def with_scripts(*names: str, mount: dict[str, str] | None = None) -> Request:
    command = " ".join(["python", *(f"{MOUNT}/{name}" for name in names)])
    drop = {"accountName": "acct", "containerName": "scripts", "relativeMountPath": "scripts"}
    volumes = {} if mount == {} else {"azureBlobFileSystems": [mount or drop]}
    document = job_json(mountVolumes=volumes, customToolkitSettings={"commandLine": command})
    return read_request(json.dumps(document).encode(), Limits())


async def test_scripts_that_are_missing_or_have_the_line_ends_of_windows_are_known(
    world: World, files: Files
) -> None:
    for name, body in (
        ("unix.py", b"a\nb\n"),
        ("dos.py", b"a\r\nb\r\n"),
        ("empty.py", b""),
        ("away.py", b"x"),
    ):
        files.upload(name, body)
    files.away = ("away.py",)
    names = ("unix.py", "dos.py", "empty.py", "away.py", "gone.py")
    fetched_request = await fetched(world.ports, with_scripts(*names))
    assert (set(fetched_request.absent), set(fetched_request.crlf)) == ({"gone.py"}, {"dos.py"})
    assert sorted(files.reads) == sorted((name, 1 << 20) for name in names)


async def test_no_more_than_ten_scripts_are_looked_at(world: World, files: Files) -> None:
    fetched_request = await fetched(world.ports, with_scripts(*(f"s{n:02}.py" for n in range(12))))
    assert fetched_request.absent == {f"s{n:02}.py" for n in range(10)}


@pytest.mark.parametrize(
    "mount",
    [
        {},
        {"accountName": "other", "containerName": "scripts", "relativeMountPath": "scripts"},
        {"accountName": "acct", "containerName": "other", "relativeMountPath": "scripts"},
    ],
    ids=["none", "account", "container"],
)
async def test_what_is_not_in_the_drop_container_is_not_asked_for(
    world: World, files: Files, mount: dict[str, str]
) -> None:
    request = with_scripts("gone.py", mount=mount)
    assert await fetched(world.ports, request) == request
    assert files.reads == []


async def test_a_folder_that_is_about_to_be_dropped_need_not_be_there_yet(world: World, files: Files) -> None:
    request = with_scripts("a/b/train.py", "a/bc.py", "lib/x.py", mount={})
    fetched_request = await fetched(world.ports, request, folder="a/b")
    assert fetched_request.absent == {"a/bc.py", "lib/x.py"}
