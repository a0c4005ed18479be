"""What nodes bring to a container arrives whole, also when the storage refuses, throttles or says nothing."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import pytest
from azure.storage.blob import ContainerClient

from local.azurite import Azurite
from shared.engines.launch.plan import keeping
from shared.engines.node.blobs import Container
from shared.engines.node.files import remove
from shared.engines.node.keep import Keeper
from shared.engines.node.kept.entries import REASONS
from tests.contract.azurebatch.storage import Front, container, front
from tests.deep import make_deep
from tests.names import REFUSED, TREE, each, no_blob, tree

pytestmark = pytest.mark.asyncio(loop_scope="session")
_PART = 8 << 20


@dataclass
class Node:
    """A node with output directories, and the container that they are brought to."""

    wire: Front
    client: ContainerClient
    root: Path

    def finish(self, *, outage: float = 240.0) -> subprocess.CompletedProcess[str]:
        """The program at the end of a run; `outage`: seconds of its patience."""
        directories = {name: str(self.root / name) for name in ("stdouterr", "MODEL")}
        env = {
            "SLIPWAY_KEPT": json.dumps(directories),
            "SLIPWAY_RUN": "r1",
        }
        text = keeping().replace("ANSWER, OUTAGE = 20.0, 240.0", f"ANSWER, OUTAGE = 20.0, {outage}")
        with TemporaryFile("w+") as place:
            json.dump({**self.wire.where, "prefix": "c/files/e/n"}, place)
            place.seek(0)
            return subprocess.run(
                [sys.executable, "-c", text, "finish"],
                env=env,
                stdin=place,
                capture_output=True,
                text=True,
                check=False,
            )

    def blob(self, path: str) -> bytes:
        return self.client.download_blob(f"c/files/e/n/r1/{path}").readall()


@pytest.fixture
def node(storage: Azurite, tmp_path: Path) -> Iterator[Node]:
    name = f"c{uuid.uuid4().hex}"
    client = container(storage, name)
    for folder in ("stdouterr", "MODEL"):
        (tmp_path / folder).mkdir()
    with front(storage, name) as wire:
        yield Node(wire, client, tmp_path)


async def test_a_large_file_arrives_whole_through_every_fault_on_its_way(node: Node) -> None:
    content = os.urandom(2 * _PART + 1000)
    (node.root / "MODEL/model.bin").write_bytes(content)
    node.wire.faults.extend(
        [
            ("PUT", "blockid=00000000", 503),
            ("PUT", "blockid=00000001", "lost"),
            ("PUT", "blockid=00000002", 500),
            ("PUT", "comp=blocklist", "lost"),
            ("PUT", "comp=blocklist", 503),
        ]
    )

    assert node.finish().returncode == 0

    assert not node.wire.faults, "each fault has happened"
    assert node.blob("MODEL/model.bin") == content
    parts = [call for call in node.wire.calls if "comp=block&" in call]
    assert len(parts) == 3 + 3, "what has arrived is not sent again"


async def test_blocks_that_an_interrupted_upload_has_left_are_no_part_of_the_file(node: Node) -> None:
    file = node.root / "MODEL/model.bin"
    file.write_bytes(b"o" * (3 * _PART))
    node.wire.faults.append(("PUT", "comp=blocklist", 403))
    assert node.finish().returncode == 1
    file.write_bytes(b"n" * (_PART + 1))

    assert node.finish().returncode == 0

    assert node.blob("MODEL/model.bin") == b"n" * (_PART + 1)


async def test_a_log_has_each_line_once_where_the_answer_to_an_addition_was_lost(node: Node) -> None:
    log = node.root / "stdouterr/stdout.txt"
    log.write_text("one\n")
    assert node.finish().returncode == 0
    log.write_text("one\ntwo\n")
    node.wire.faults.append(("PUT", "comp=appendblock", "lost"))

    assert node.finish().returncode == 0

    assert node.blob("stdouterr/stdout.txt") == b"one\ntwo\n"


async def test_a_throttled_upload_waits_as_long_as_the_storage_asks_for(node: Node) -> None:
    (node.root / "MODEL/model.bin").write_bytes(b"m")
    node.wire.faults.append(("PUT", "model.bin", 429))
    began = time.monotonic()

    assert node.finish().returncode == 0

    assert time.monotonic() - began >= 2.0, "the first pause of its own is half a second"
    assert node.blob("MODEL/model.bin") == b"m"


async def test_patience_with_a_storage_that_is_away_is_for_all_files_together(node: Node) -> None:
    """After it, each file is tried once: one that can be sent again is sent."""
    for number in range(9):
        (node.root / f"MODEL/{number}.bin").write_bytes(b"m")
    node.wire.faults.extend([("PUT", "MODEL/", 503)] * 10)

    result = node.finish(outage=2.0)

    assert result.returncode == 1
    assert "503 ServerBusy" in result.stderr
    # The first is tried at 0, 0.5 and 1.5 s; then the others, of which the last two find it back.
    assert len([call for call in node.wire.calls if call.startswith("PUT")]) == 3 + 8
    assert len(list(node.client.list_blob_names())) == 1


@pytest.mark.thorough
async def test_folders_that_are_too_deep_are_named_and_the_rest_arrives(node: Node) -> None:
    name = "d" * 200
    make_deep(node.root / "MODEL", name, 1500)
    os.mkfifo(node.root / "MODEL" / "pipe.")
    (node.root / "MODEL" / "link.").symlink_to(node.root)
    (node.root / "MODEL/model.bin").write_bytes(b"m")

    result = node.finish()
    remove(str(node.root / "MODEL"))

    assert result.returncode == 0, result.stderr
    reason = "a blob's name has at most 1024 characters, with the folders of its job"
    assert result.stderr.splitlines() == [
        f"Not kept: 'MODEL/{'/'.join([name] * 5)}': {reason}",
        "Not kept: 'MODEL/link.': it is a link that leads out of the job's folder",
        "Not kept: 'MODEL/pipe.': it is a pipe",
    ]
    assert node.blob("MODEL/model.bin") == b"m"


async def test_a_file_of_any_name_is_a_blob_of_that_name_or_named_with_the_reason(node: Node) -> None:
    files = TREE | tree(each(REFUSED)) | {"long/" + "/".join(["l" * 200] * 5): b"long"}
    for path, content in files.items():
        (node.root / "MODEL" / path).parent.mkdir(parents=True, exist_ok=True)
        (node.root / "MODEL" / path).write_bytes(content)

    result = node.finish()

    blobs = {path: content for path, content in files.items() if not no_blob(path)}
    begin = "c/files/e/n/r1/MODEL/"
    names = [name.removeprefix(begin) for name in node.client.list_blob_names(name_starts_with=begin)]
    assert sorted(names) == sorted(blobs)
    assert {path: node.blob(f"MODEL/{path}") for path in blobs} == blobs
    lines = result.stderr.splitlines()
    for path in files.keys() - blobs.keys():
        place = path.removesuffix("/f.txt") if path.startswith("folders/") else path
        assert f"Not kept: {f'MODEL/{place}'!a}: {no_blob(path)}" in lines


_ELSEWHERE = "it is a link that leads out of the job's folder"
_NOWHERE = "it is a link that leads nowhere"
#: Links of a directory by where they lead, and why they are not followed; "" where they are.
_LINKS = {
    "best": ("epochs/3", ""),
    "absolute": ("ROOT/MODEL/epochs/3/a.pt", ""),
    "log": ("../stdouterr/stdout.txt", ""),
    "gone": ("nothing", _NOWHERE),
    "loop": ("loop", _NOWHERE),
    "piped": ("pipe", "it is a link to a pipe, a socket or a device"),
    "passwords": ("/etc/passwd", _ELSEWHERE),
    "above": ("..", _ELSEWHERE),
    "epochs/up": ("../epochs", "it is a link to a folder above it"),
}


async def test_what_a_directory_has_beside_files_arrives_or_is_named_with_its_reason(node: Node) -> None:
    model = node.root / "MODEL"
    for folder in ("epochs/3", "empty/none"):
        (model / folder).mkdir(parents=True)
    (model / "epochs/3/a.pt").write_bytes(b"3")
    (model / "tool").touch(0o755)
    os.mkfifo(model / "pipe")
    for name, (target, _) in _LINKS.items():
        (model / name).symlink_to(target.replace("ROOT", str(node.root)))
    (node.root / "stdouterr/stdout.txt").write_bytes(b"said")

    result = node.finish()

    assert result.returncode == 0, result.stderr
    begin = "c/files/e/n/r1/MODEL/"
    blobs = node.client.list_blobs(begin, include=["metadata"])
    metadata = {one.name.removeprefix(begin): one.metadata for one in blobs}
    files = {"epochs/3/a.pt": b"3", "best/a.pt": b"3", "absolute": b"3", "log": b"said"}
    assert {name: node.blob(f"MODEL/{name}") for name in files} == files
    marks = {"tool": {"executable": "true"}, "empty/none": {"hdi_isfolder": "true"}}
    assert metadata.keys() == {*files, *marks}
    assert {name: one for name, one in metadata.items() if one} == marks

    reasons = {name: reason for name, (_, reason) in _LINKS.items() if reason} | {"pipe": "it is a pipe"}
    lines = [f"Not kept: 'MODEL/{name}': {why}" for name, why in sorted(reasons.items())]
    assert result.stderr.splitlines() == lines
    (left_out,) = node.client.list_blob_names(name_starts_with="c/files/e/n/r1/left-out/")
    kinds = json.loads(node.client.download_blob(left_out).readall())
    assert {name.removeprefix("MODEL/"): REASONS[kind] for name, kind in kinds.items()} == reasons


async def test_folders_that_link_to_one_another_end(node: Node) -> None:
    for name in "abcd":
        (node.root / "MODEL" / name).mkdir()
        (node.root / "MODEL" / name / "f").write_bytes(name.encode())
        for other in "abcd":
            (node.root / "MODEL" / name / f"to-{other}").symlink_to(f"../{other}")

    result = node.finish()

    assert result.returncode == 0, result.stderr
    assert node.blob("MODEL/a/to-b/f") == b"b"
    assert "links to folders are not followed" in result.stderr or "a folder above it" in result.stderr


@pytest.mark.parametrize("closed", ["folder", "file"])
async def test_what_cannot_be_read_is_an_error_and_the_rest_arrives(node: Node, closed: str) -> None:
    """Then the files stay on the node."""
    (folder := node.root / "MODEL/closed").mkdir()
    (folder / "file").touch()
    (node.root / "MODEL/model.bin").write_bytes(b"m")
    keeper = Keeper(Container(node.wire.where), "c/files/e/n/r1", {"MODEL": str(node.root / "MODEL")})
    call = "scandir" if closed == "folder" else "open"
    path = str(folder if closed == "folder" else folder / "file")
    original = getattr(os, call)

    def refused(name: Any, *rest: Any) -> Any:
        if name == path:
            raise PermissionError(errno.EACCES, "Permission denied")
        return original(name, *rest)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, call, refused)
        with pytest.raises(PermissionError):
            await asyncio.to_thread(keeper.finish)

    assert node.blob("MODEL/model.bin") == b"m"
