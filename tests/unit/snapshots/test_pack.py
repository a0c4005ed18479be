"""The archive of a folder: the same members make the same bytes, and every tar reads them."""

from __future__ import annotations

import gzip
import hashlib
import io
import tarfile
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.snapshots.grammar import Entry
from shared.snapshots.listing import listing
from shared.snapshots.pack import SAMPLE, Changed, Packed, Packer, TooLarge, order, shrinks
from tests.names import DEEP, each, tree

TREES = st.dictionaries(st.sampled_from(sorted(tree(each(), DEEP))), st.binary(max_size=1500), max_size=8)


def pack(files: Mapping[str, bytes], *, compress: bool = True, **bounds: int) -> tuple[bytes, Packed]:
    out = io.BytesIO()
    packer = Packer(out, compress=compress, **bounds)
    for name in sorted(files, key=order):
        packer.file(name, io.BytesIO(files[name]), len(files[name]), executable=name.endswith(".sh"))
    packed = packer.finish()
    return out.getvalue(), packed


@given(TREES, st.booleans())
def test_what_is_packed_is_unpacked_by_every_tar(files: dict[str, bytes], compress: bool) -> None:
    archive, packed = pack(files, compress=compress)

    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        unpacked = {one.name: tar.extractfile(one).read() for one in tar}  # type: ignore[union-attr]
    assert unpacked == files
    assert [one.name for one in listing(io.BytesIO(archive)).entries] == sorted(files, key=order)
    assert packed == (hashlib.sha256(archive).hexdigest(), len(archive), len(files))


@given(TREES, st.randoms())
def test_the_same_files_make_the_same_bytes_in_any_order_of_listing(
    files: dict[str, bytes], random: st.DataObject
) -> None:
    shuffled = list(files.items())
    random.shuffle(shuffled)  # type: ignore[attr-defined]

    assert pack(dict(shuffled)) == pack(files)


@given(TREES, st.sampled_from(("content", "name", "mode")))
def test_another_content_name_or_mode_makes_another_digest(files: dict[str, bytes], what: str) -> None:
    before = {**files, "run": b"1"}
    after = {
        "content": {**before, "run": b"2"},
        "name": {**files, "runs": b"1"},
        "mode": {**files, "run.sh": b"1"},
    }[what]

    assert pack(after)[1].sha256 != pack(before)[1].sha256


def test_a_member_has_neither_owner_nor_time_and_its_mode_says_only_whether_it_is_executed() -> None:
    archive, _ = pack({"a.txt": b"1", "b.sh": b"2"})

    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        fields = [(one.mode, one.mtime, one.uid, one.gid, one.uname, one.gname) for one in tar]
    assert fields == [(0o644, 0, 0, 0, "", ""), (0o755, 0, 0, 0, "", "")]
    assert archive[:8] == b"\x1f\x8b\x08\0\0\0\0\0"  # neither name nor time in the head of gzip


def test_links_and_empty_folders_are_members() -> None:
    out = io.BytesIO()
    packer = Packer(out)
    packer.folder("empty")
    packer.link("here", "there/a.txt")
    packer.file("there/a.txt", io.BytesIO(b"1"), 1)

    assert packer.finish().files == 2
    out.seek(0)
    assert listing(out).entries == (
        Entry("empty/"),
        Entry("here", link="there/a.txt"),
        Entry("there/a.txt", 1),
    )


@pytest.mark.parametrize("now", [b"", b"12", b"1234"])
def test_a_file_of_another_size_than_before_is_refused_by_its_name(now: bytes) -> None:
    with pytest.raises(Changed, match=r"train\.py changed while it was read") as refused:
        Packer(io.BytesIO()).file("train.py", io.BytesIO(now), 3)

    assert refused.value.name == "train.py"


def test_a_disk_that_takes_no_more_is_not_taken_for_a_changed_file() -> None:
    class Full(io.BytesIO):
        def write(self, data: object) -> int:
            raise OSError("no space left on device")

    with pytest.raises(OSError, match="no space"):
        Packer(Full(), compress=False).file("a", io.BytesIO(b"123"), 3)


def test_members_come_in_the_order_of_their_bytes_and_once() -> None:
    packer = Packer(io.BytesIO())
    packer.folder("b")

    for name in ("a", "b"):
        with pytest.raises(ValueError, match="is not after"):
            packer.folder(name)


def test_an_archive_has_at_most_so_many_bytes_and_entries() -> None:
    with pytest.raises(TooLarge, match="too many bytes"):
        pack({"a": bytes(2000)}, compress=False, limit=2000)
    with pytest.raises(TooLarge, match="too many files"):
        pack({"a": b"", "b": b""}, entries=1)
    assert pack({"a": b"", "b": b""}, entries=2)[1].files == 2


def test_a_folder_is_compressed_unless_most_of_its_bytes_do_not_shrink() -> None:
    text, noise = b"import numpy\n" * 99, hashlib.shake_256(b"").digest(SAMPLE)

    assert shrinks([(9_000, text), (500, noise)])
    assert not shrinks([(9_000, text), (100_000_000, noise)])
    assert shrinks([])
    assert shrinks([(0, b"")])
    assert gzip.decompress(pack({"a": text})[0]) == pack({"a": text}, compress=False)[0]
