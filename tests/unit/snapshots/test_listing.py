"""An archive as data: what a client sent may be anything, and reading it ends within bounds."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
import zlib
from contextlib import suppress
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.snapshots.grammar import Entry, Unreadable
from shared.snapshots.listing import as_text, content, listing
from tests.unit.snapshots.test_pack import TREES, pack

_NAMES = ("a.py", f"{'a' * 90}/{'b' * 90}.py")


def tar(*members: tuple[tarfile.TarInfo, bytes], form: int = tarfile.GNU_FORMAT) -> bytes:
    out = io.BytesIO()
    with tarfile.TarFile(fileobj=out, mode="w", format=form) as archive:
        for member, data in members:
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return out.getvalue()


def named(name: str) -> tarfile.TarInfo:
    return tarfile.TarInfo(name)


@given(TREES, st.booleans())
def test_each_file_is_read_by_its_name(files: dict[str, bytes], compress: bool) -> None:
    archive, _ = pack(files, compress=compress)

    assert {name: content(io.BytesIO(archive), name) for name in files} == files
    assert content(io.BytesIO(archive), "absent") is None


@pytest.mark.parametrize(
    ("form", "name"),
    [
        *product((tarfile.GNU_FORMAT, tarfile.PAX_FORMAT, tarfile.USTAR_FORMAT), _NAMES),
        *product((tarfile.GNU_FORMAT, tarfile.PAX_FORMAT), ("深い/" * 20 + "終.py",)),
    ],
)
def test_the_formats_of_others_are_read_too(form: int, name: str) -> None:
    member = named(name)
    member.mode, member.mtime = 0o755, 1.5  # a time that POSIX writes into a header of its own

    archive = tar((member, b"12"), form=form)

    assert listing(io.BytesIO(archive)).entries == (Entry(name, 2, True),)
    assert content(io.BytesIO(archive), name) == b"12"


@pytest.mark.parametrize("name", ["../up", "/etc/passwd", "a\\b", "a\nb", "\u202ea", "a/../../b"])
def test_a_name_is_given_as_it_is(name: str) -> None:
    """It is data: who shows it escapes it, and who writes it refuses it."""
    assert listing(io.BytesIO(tar((named(name), b"")))).entries == (Entry(name),)


@pytest.mark.parametrize("form", [tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_names_that_are_not_utf_8_stay_apart_and_are_text(form: int) -> None:
    names = ["caf\udce9", "caf\udcea", "caf\\xe9", "caf\\\udce9", "café", "\ufffd"]
    archive = tar(*((named(name), b"") for name in names), form=form)

    entries = [one.name for one in listing(io.BytesIO(archive)).entries]

    assert entries == names
    assert [as_text(name) for name in entries] == [
        "caf\\xe9",
        "caf\\xea",
        "caf\\\\xe9",
        "caf\\\\\\xe9",
        "café",
        "\ufffd",
    ]


def _bomb() -> bytes:
    zeros = zlib.compressobj(9, wbits=31)
    member = tarfile.TarInfo("zeros")
    member.size = 1 << 40
    head = member.tobuf(tarfile.GNU_FORMAT)
    return zeros.compress(head) + b"".join(zeros.compress(bytes(1 << 20)) for _ in range(40)) + zeros.flush()


def _linked(name: str, target: str) -> tarfile.TarInfo:
    link = named(name)
    link.type = tarfile.SYMTYPE
    link.linkname = target
    return link


def test_a_bomb_is_listed_as_far_as_the_bound() -> None:
    bomb = _bomb()
    assert len(bomb) < 100_000

    listed = listing(io.BytesIO(bomb), limit=1 << 20)

    assert listed.entries == (Entry("zeros", 1 << 40),)
    assert listed.more
    assert content(io.BytesIO(bomb), "zeros", size=5) == bytes(5)
    assert content(io.BytesIO(bomb), "other", limit=1 << 20) is None


def test_a_listing_says_that_others_follow() -> None:
    archive, _ = pack(dict.fromkeys("abc", b""))

    assert [one.name for one in listing(io.BytesIO(archive), entries=2).entries] == ["a", "b"]
    assert listing(io.BytesIO(archive), entries=2).more
    assert not listing(io.BytesIO(archive), entries=3).more


@given(st.binary(max_size=3000), st.integers(0, 2000))
def test_any_bytes_are_listed_or_refused(noise: bytes, cut: int) -> None:
    whole, _ = pack({"a/b.py": b"1" * 700, "c": b""}, compress=False)
    for archive in (noise, b"\x1f\x8b\x08" + noise, whole[:cut] + noise + whole[cut:]):
        with suppress(Unreadable):
            assert len(listing(io.BytesIO(archive), entries=50).entries) <= 50


@pytest.mark.parametrize("kind", ["names", "targets"])
def test_a_listing_is_never_many_times_longer_than_an_archive_that_unpacks_small(kind: str) -> None:
    """Each character of these names takes six bytes of JSON, and gzip packs a thousand of them into few."""
    long = "\x01" * 4000
    many = [named(f"{n}/{long}") if kind == "names" else _linked(f"{n}", f"{n}/{long}") for n in range(480)]

    listed = listing(io.BytesIO(gzip.compress(tar(*((one, b"") for one in many)))))

    assert listed.more
    assert 4 << 19 < len(json.dumps(listed.entries)) < 5 << 20
