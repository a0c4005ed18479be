"""What a job saves is in a container while it runs, whole, and in the directory of its next run."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import subprocess
import sys
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import pytest
from azure.storage.blob import ContainerClient

from local.azurite import Azurite
from local.patience import Patience
from shared.engines.launch.plan import keeping
from shared.engines.node.blobs import Container
from shared.engines.node.files import remove
from shared.engines.node.proof import Proof
from shared.engines.node.saved.generations import Manifest, Moment, content_of, document_of
from shared.engines.node.saved.node import Saved
from shared.engines.node.saved.shelf import Shelf
from tests.contract.azurebatch.storage import Front, container, front
from tests.names import TREE

#: Seconds without any progress.
PATIENCE = 60.0
KEY, OTHER_KEY = "ab" * 32, "cd" * 32
_PIECE = 8 << 20


@dataclass
class Lab:
    """A container behind a wire, and the disks of nodes."""

    wire: Front
    client: ContainerClient
    disks: Path
    prefix: str = "c/saved/j_1"
    key: str = KEY
    other: dict[str, Any] | None = None
    before: list[dict[str, Any]] = field(default_factory=list)
    saved: dict[tuple[str, int], Saved] = field(default_factory=dict)

    @property
    def where(self) -> dict[str, Any]:
        return {
            **self.wire.where,
            "prefix": self.prefix,
            "proof": [self.key],
            "from": self.other,
            "before": self.before,
        }

    def disk(self, run: str = "1-1", node: int = 0) -> Path:
        return self.disks / self.prefix.rpartition("/")[2] / f"{run}-{node}"

    def begin(self, run: str = "1-1", node: int = 0, nodes: int = 1) -> Path:
        """The directory of a new node before the start of a run."""
        remove(str(self.disk(run, node)))
        attempt, number = map(int, run.split("-"))
        saved = Saved(
            Shelf(Container(self.where), self.where),
            str(self.disk(run, node)),
            Moment(attempt, number, 0),
            node,
            nodes,
        )
        saved.fill()
        saved.begin()
        self.saved[run, node] = saved
        return self.disk(run, node)

    def write_back(self, at: int, run: str = "1-1", node: int = 0) -> None:
        self.saved[run, node].write_back(at)

    def program(self, word: str, run: str = "1-1", **options: Any) -> subprocess.Popen[bytes]:
        """The program on a node."""
        env = {"SLIPWAY_SAVED": str(self.disk(run)), "SLIPWAY_SAVED_RUN": run, "LANG": "C.UTF-8"}
        with TemporaryFile("w+") as place:
            json.dump(self.where, place)
            place.seek(0)
            return subprocess.Popen(
                [sys.executable, "-I", "-c", keeping(), word],
                env=env,
                stdin=place,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                **options,
            )

    def run(self, word: str, run: str = "1-1") -> tuple[int, str, str]:
        process = self.program(word, run)
        output, errors = process.communicate()
        return process.returncode, output.decode(), errors.decode()

    def names(self, folder: str) -> list[str]:
        prefix = f"{self.prefix}/{folder}/"
        return [name.removeprefix(prefix) for name in self.client.list_blob_names(name_starts_with=prefix)]


@pytest.fixture
def lab(storage: Azurite, tmp_path: Path) -> Iterator[Lab]:
    name = f"c{uuid.uuid4().hex}"
    client = container(storage, name)
    with front(storage, name) as wire:
        yield Lab(wire, client, tmp_path)


def successor(lab: Lab) -> Lab:
    """A job that goes on from what this one saved."""
    other = {"prefix": lab.prefix, "proof": [lab.key]}
    return Lab(lab.wire, lab.client, lab.disks, "c/saved/j_2", OTHER_KEY, other)


def tree(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_a_run_begins_with_what_the_one_before_it_saved(lab: Lab) -> None:
    files = {**TREE, "step-3/w.bin": os.urandom(2 * _PIECE + 5), "empty": b""}
    lab.begin()
    for path, content in files.items():
        (lab.disk() / path).parent.mkdir(parents=True, exist_ok=True)
        (lab.disk() / path).write_bytes(content)
    (lab.disk() / "last").symlink_to("step-3")

    assert lab.run("finish-saved") == (0, "", "")
    code, output, errors = lab.run("fill", "1-2")

    assert (code, errors) == (0, "")
    size = sum(map(len, files.values()))
    assert output == f"Restored {len(files)} files that the job saved, {size} bytes\n"
    assert tree(lab.disk("1-2")) == tree(lab.disk())
    assert (lab.disk("1-2") / "last").readlink() == Path("step-3")


def test_the_first_run_begins_with_an_empty_directory(lab: Lab) -> None:
    assert lab.run("fill") == (0, "", "")
    assert list(lab.disk().iterdir()) == []
    assert lab.run("finish-saved") == (0, "", "")
    assert list(lab.client.list_blob_names()) == [f"{lab.prefix}/ran"], "nothing else, as nothing is saved"


def test_only_what_changed_is_uploaded(lab: Lab) -> None:
    root = lab.begin()
    (root / "a").write_bytes(b"a")
    (root / "b").write_bytes(b"b")
    lab.write_back(10)
    (root / "b").write_bytes(b"bb")
    before = len(lab.wire.calls)

    lab.write_back(20)

    puts = [call for call in lab.wire.calls[before:] if call.startswith("PUT")]
    assert len(puts) == 2, "one file, and the manifest"
    assert lab.names("generations") == ["000001-000001-000000000020-0-of-1"]


def test_nothing_is_requested_while_nothing_changes(lab: Lab) -> None:
    root = lab.begin()
    (root / "a").write_bytes(b"a")
    lab.write_back(10)
    lab.begin("1-2")
    before = len(lab.wire.calls)

    for at in (20, 30):
        lab.write_back(at, "1-2")

    assert lab.wire.calls[before:] == []


def test_an_earlier_generation_goes_when_the_next_is_whole(lab: Lab) -> None:
    root = lab.begin()
    (root / "w").write_bytes(b"one")
    lab.write_back(10)
    (root / "w").write_bytes(b"two, longer")
    lab.wire.faults.append(("PUT", "/generations/", 403))
    with pytest.raises(OSError, match="403"):
        lab.write_back(20)
    assert lab.names("generations") == ["000001-000001-000000000010-0-of-1"]
    assert len(lab.names("parts")) == 2

    lab.write_back(30)

    assert lab.names("generations") == ["000001-000001-000000000030-0-of-1"]
    (part,) = lab.names("parts")
    assert lab.client.download_blob(f"{lab.prefix}/parts/{part}").readall() == b"two, longer"


def test_what_an_earlier_attempt_uploaded_is_not_uploaded_again(lab: Lab) -> None:
    root = lab.begin()
    (root / "w").write_bytes(b"weights")
    lab.write_back(10)
    parts = lab.names("parts")

    (lab.begin("2-1") / "new").write_bytes(b"n")
    lab.write_back(5, "2-1")

    assert set(parts) < set(lab.names("parts"))
    assert lab.names("generations") == ["000002-000001-000000000005-0-of-1"], "also by a clock that is behind"
    assert tree(lab.begin("2-2")) == {"w": b"weights", "new": b"n"}


def test_what_a_job_removed_stays_removed(lab: Lab) -> None:
    root = lab.begin()
    (root / "old").write_bytes(b"o")
    (root / "new").write_bytes(b"n")
    lab.write_back(10)
    second = lab.begin("1-2")
    (second / "old").unlink()
    lab.write_back(20, "1-2")

    assert tree(lab.begin("1-3")) == {"new": b"n"}
    assert len(lab.names("parts")) == 1


@pytest.mark.parametrize("request_of", ["blockid=00000001", "comp=blocklist", "/generations/"])
def test_a_kill_in_the_middle_of_a_write_back_leaves_the_generation_before(lab: Lab, request_of: str) -> None:
    root = lab.begin()
    (root / "step").write_bytes(b"1")
    lab.write_back(10)
    (root / "step").write_bytes(b"22")
    (root / "w.bin").write_bytes(os.urandom(2 * _PIECE))
    lab.wire.faults.extend([("PUT", request_of, 503)] * 1000)
    process = lab.program("finish-saved")
    patience = Patience(PATIENCE)
    while not any(request_of in call for call in lab.wire.calls):
        assert not patience.is_over(len(lab.wire.calls))

    process.kill()
    process.communicate()
    lab.wire.faults.clear()

    assert tree(lab.begin("1-2")) == {"step": b"1"}
    (lab.disk("1-2") / "step").write_bytes(b"333")
    lab.write_back(20, "1-2")
    assert tree(lab.begin("1-3")) == {"step": b"333"}
    assert len(lab.names("parts")) == 1, "what the kill left behind is gone"


_APPENDS = """
import sys
with open(sys.argv[1], "a") as file:
    for number in range(10**9): file.write(f"{number}\\n"); file.flush()
"""
_RENAMES = """
import os, sys
for number in range(10**9):
    with open("new", "w") as file: file.write(f"{number:09d}")
    os.replace("new", sys.argv[1])
"""
_OVERWRITES = "import sys\nf = open(sys.argv[1], 'r+b')\nwhile True: f.seek(0); f.write(b'x'); f.flush()\n"


@pytest.mark.parametrize("program", [_APPENDS, _RENAMES], ids=["appends", "renames"])
def test_a_small_file_that_is_written_all_the_time_is_saved_as_it_was_at_one_moment(
    lab: Lab, program: str
) -> None:
    root = lab.begin()
    (root / "w").write_bytes(b"one")
    with subprocess.Popen([sys.executable, "-c", program, str(root / "log")], cwd=root) as writer:
        patience = Patience(PATIENCE)
        while not (root / "log").exists():
            assert not patience.is_over(None)
        lab.write_back(10)
        writer.kill()

    files = tree(lab.begin("1-2"))
    assert files.pop("w") == b"one"
    files.pop("new", None)
    written = files.pop("log").decode()
    lines = "".join(f"{n}\n" for n in range(len(written)))
    assert lines.startswith(written) if program == _APPENDS else len(written) == 9
    assert files == {}
    assert lab.saved["1-1", 0].left_out == {}


def test_a_large_file_that_only_grows_is_saved_as_long_as_it_was(lab: Lab) -> None:
    root = lab.begin()
    (root / "log").write_bytes(first := os.urandom(_PIECE + 1000))
    lab.write_back(10)
    with subprocess.Popen([sys.executable, "-c", _APPENDS, str(root / "log")]) as writer:
        patience = Patience(PATIENCE)
        while (root / "log").stat().st_size == len(first):
            assert not patience.is_over(None)
        lab.write_back(20)
        writer.kill()

    saved = tree(lab.begin("1-2"))["log"]
    assert saved.startswith(first)
    assert (root / "log").read_bytes().startswith(saved)
    assert len(saved) > len(first)


def test_a_large_file_that_is_overwritten_all_the_time_stays_as_it_was_and_is_named(lab: Lab) -> None:
    root = lab.begin()
    (root / "data").write_bytes(first := bytes(_PIECE + 1000))
    (root / "w").write_bytes(b"one")
    lab.write_back(10)
    (root / "w").write_bytes(b"two!")
    with subprocess.Popen([sys.executable, "-c", _OVERWRITES, str(root / "data")]) as writer:
        patience = Patience(PATIENCE)
        while (root / "data").read_bytes() == first:
            assert not patience.is_over(None)
        lab.write_back(20)
        writer.kill()

    assert lab.saved["1-1", 0].left_out == {"'data'": "it is written all the time"}
    assert tree(lab.begin("1-2")) == {"data": first, "w": b"two!"}


def test_a_file_that_cannot_be_read_is_named_with_that_reason(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, opened = lab.begin(), os.open
    (root / "closed").write_bytes(b"one")

    def refused(path: str, *more: Any, **rest: Any) -> int:
        if path == "closed":
            raise PermissionError(errno.EACCES, "Permission denied")
        return opened(path, *more, **rest)

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", refused)
        lab.write_back(10)

    assert lab.saved["1-1", 0].left_out == {"'closed'": "it cannot be read: Permission denied"}


def test_a_manifest_without_the_proof_counts_for_nothing(lab: Lab) -> None:
    root = lab.begin()
    (root / "w").write_bytes(b"w")
    lab.write_back(10)
    planted = Manifest(Moment(1, 1, 999), 0, 1)
    (genuine,) = lab.names("generations")
    content = lab.client.download_blob(f"{lab.prefix}/generations/{genuine}").readall()
    forged = Proof([OTHER_KEY]).child("generations").text(str(planted), json.loads(content))

    for text in (forged, content, b"", b"[]", b"\xff"):
        lab.client.upload_blob(f"{lab.prefix}/generations/{planted}", text, overwrite=True)
        assert tree(lab.begin("1-2")) == {"w": b"w"}


def test_a_job_whose_every_generation_lacks_the_proof_does_not_start_from_nothing(lab: Lab) -> None:
    root = lab.begin()
    (root / "w").write_bytes(b"w")
    lab.write_back(10)
    lab.key = OTHER_KEY

    code, _, errors = lab.run("fill", "1-2")

    assert (code, errors) == (1, "nothing of what the job saved has the proof that it is its own\n")


def test_files_that_another_job_changed_are_noticed(lab: Lab) -> None:
    root = lab.begin()
    (root / "w").write_bytes(b"mine")
    lab.write_back(10)
    (part,) = lab.names("parts")
    lab.client.upload_blob(f"{lab.prefix}/parts/{part}", b"evil", overwrite=True)

    assert lab.run("fill", "1-2")[::2] == (1, "'w' has other bytes than were saved\n")
    lab.client.upload_blob(f"{lab.prefix}/parts/{part}", b"ev", overwrite=True)
    assert "has other bytes than were uploaded" in lab.run("fill", "1-2")[2]
    lab.client.delete_blob(f"{lab.prefix}/parts/{part}")
    assert "404 BlobNotFound" in lab.run("fill", "1-2")[2]


def test_nodes_that_share_no_disk_begin_with_the_files_of_all(lab: Lab) -> None:
    for node in range(2):
        root = lab.begin(node=node, nodes=2)
        (root / f"shard-{node}").write_bytes(b"%d" % node)
        (root / "log").write_bytes(b"of %d" % node)
    for node in (1, 0):
        lab.write_back(10, node=node)

    for node in range(3):
        assert tree(lab.begin("1-2", node, nodes=3)) == {"shard-0": b"0", "shard-1": b"1", "log": b"of 0"}


def test_a_generation_that_lacks_a_node_is_none(lab: Lab) -> None:
    for node in range(2):
        (lab.begin(node=node, nodes=2) / f"shard-{node}").write_bytes(b"1")
    for node in (1, 0):
        lab.write_back(10, node=node)
    for node in range(2):
        (lab.disk(node=node) / f"shard-{node}").write_bytes(b"22")
    lab.write_back(20, node=0)
    assert tree(lab.begin("1-2", nodes=2)) == {"shard-0": b"1", "shard-1": b"1"}

    lab.write_back(20, node=1)
    assert tree(lab.begin("1-2", nodes=2)) == {"shard-0": b"22", "shard-1": b"22"}
    lab.write_back(30, node=0)
    lab.write_back(30, node=1)
    lab.write_back(40, node=0)
    assert len(lab.names("parts")) == 2


def test_what_one_node_changes_after_a_restore_counts_more_than_what_others_have_of_it(lab: Lab) -> None:
    for node in range(2):
        (lab.begin(node=node, nodes=2) / f"shard-{node}").write_bytes(b"1")
    for node in range(2):
        lab.write_back(10, node=node)
    for node in range(2):
        lab.begin("1-2", node, nodes=2)
    (lab.disk("1-2", 1) / "shard-1").write_bytes(b"22")
    (lab.disk("1-2", 1) / "shard-0").unlink()
    for node in range(2):
        lab.write_back(20, "1-2", node)

    assert tree(lab.begin("1-3", nodes=2)) == {"shard-1": b"22"}


def test_a_job_begins_with_what_another_saved_and_keeps_it_when_that_is_deleted(lab: Lab) -> None:
    (lab.begin() / "w").write_bytes(b"w")
    lab.write_back(10)
    other = successor(lab)

    for node in range(2):
        assert tree(other.begin(node=node, nodes=2)) == {"w": b"w"}
    for node in range(2):
        other.write_back(10, node=node)
    assert len(other.names("parts")) == 1, "one node uploads it"
    for name in lab.client.list_blob_names(name_starts_with=lab.prefix):
        lab.client.delete_blob(name)

    assert tree(other.begin("1-2")) == {"w": b"w"}


def test_a_job_begins_with_what_another_saved_although_that_is_deleted_before_it_saves(lab: Lab) -> None:
    (lab.begin() / "w").write_bytes(b"w")
    lab.write_back(10)
    other = successor(lab)
    other.begin()
    for name in lab.client.list_blob_names(name_starts_with=lab.prefix):
        lab.client.delete_blob(name)

    assert tree(other.begin("1-2")) == {"w": b"w"}


def test_a_job_begins_with_nothing_if_the_other_one_saved_nothing_and_not_if_that_never_ran(lab: Lab) -> None:
    other = successor(lab)

    assert other.run("fill") == (
        3,
        "",
        f"There is nothing in {lab.prefix}: that job did not run here, or it is archived\n",
    )
    lab.begin()
    assert tree(other.begin()) == {}


def test_a_job_reads_what_the_jobs_before_it_saved(lab: Lab) -> None:
    (lab.begin() / "w").write_bytes(b"w")
    lab.write_back(10)
    nothing = Lab(lab.wire, lab.client, lab.disks, "c/saved/j_3", OTHER_KEY)
    later = Lab(lab.wire, lab.client, lab.disks, "c/saved/j_2", OTHER_KEY)
    later.before = [
        {"prefix": one.prefix, "proof": [one.key], "name": one.prefix[-3:]} for one in (lab, nothing)
    ]

    assert later.run("fill") == (0, "", "")

    assert tree(later.disk().with_name("j_1")) == {"w": b"w"}
    assert tree(later.disk().with_name("j_3")) == {}
    assert tree(later.disk()) == {}


def test_a_job_that_begins_with_what_another_saved_changes_nothing_of_it(lab: Lab) -> None:
    (lab.begin() / "w").write_bytes(b"w")
    lab.write_back(10)
    before = {name: lab.client.download_blob(name).readall() for name in lab.client.list_blob_names()}
    other = successor(lab)
    (other.begin() / "w").write_bytes(b"other")
    other.write_back(10)

    after = {name: lab.client.download_blob(name).readall() for name in before}
    assert after == before
    assert tree(other.begin("1-2")) == {"w": b"other"}
    assert tree(lab.begin("1-2")) == {"w": b"w"}


def test_a_job_writes_back_while_it_runs(lab: Lab) -> None:
    (lab.begin() / "w").write_bytes(b"w")
    process = lab.program("write-back")
    patience = Patience(PATIENCE)
    while not lab.names("generations"):
        assert not patience.is_over(len(lab.wire.calls))

    process.kill()
    process.communicate()

    assert tree(lab.begin("1-2")) == {"w": b"w"}


def test_a_storage_that_is_away_is_named_once_and_tried_again(lab: Lab) -> None:
    (lab.begin() / "w").write_bytes(b"w")
    lab.wire.faults.extend([("PUT", "/parts/", 403)] * 2)
    process = lab.program("write-back")
    patience = Patience(PATIENCE)
    while not lab.names("generations"):
        assert not patience.is_over(len(lab.wire.calls))
    process.kill()
    _, errors = process.communicate()

    assert errors.decode().count("403 ServerBusy") >= 1
    assert KEY not in errors.decode()


def test_what_is_not_saved_is_named_at_the_end(lab: Lab) -> None:
    root = lab.begin()
    os.mkfifo(root / "pipe")
    (root / "out").symlink_to("/etc/passwd")

    code, _, errors = lab.run("finish-saved")

    assert code == 0
    assert errors.splitlines() == [
        "Not saved: 'out': only links straight to something in the directory are saved",
        "Not saved: 'pipe': only files, folders and links are saved",
    ]


def test_a_manifest_holds_no_key_and_the_digest_of_each_file(lab: Lab) -> None:
    (lab.begin() / "w").write_bytes(b"w")
    lab.write_back(10)
    (name,) = lab.names("generations")
    text = lab.client.download_blob(f"{lab.prefix}/generations/{name}").readall()

    content = content_of(Proof([KEY]).child("generations").value(name, text))

    assert content.entries["w"].text == hashlib.sha256(b"w").hexdigest()
    assert KEY.encode() not in text
    assert document_of(content)["version"] == 1
