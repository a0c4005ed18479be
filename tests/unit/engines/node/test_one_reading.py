"""One archive is one folder: nodes make what the page and `slipway code` show of it, or all refuse it."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.engines.node.unpack import Hostile, unpack
from shared.snapshots.grammar import Unreadable
from shared.snapshots.listing import listing
from slipway.client.snapshot.unpack import unpack as written
from slipway.failure import Failure
from tests.doubles.raw_archives import END, ORDINARY, PIECES, REFUSED, summed
from tests.doubles.readings import on_node, read_by_others, shown


def test_what_can_be_read_in_two_ways_or_is_broken_is_refused_by_all(
    tmp_path: Path, subtests: pytest.Subtests
) -> None:
    for number, (what, archive) in enumerate(REFUSED.items()):
        with subtests.test(what):
            with pytest.raises(Unreadable):
                listing(io.BytesIO(archive))
            (tmp_path / f"{number}").mkdir()
            with pytest.raises(Hostile, match="its archive cannot be read"):
                unpack(io.BytesIO(archive), tmp_path / f"{number}")
            with pytest.raises(Failure, match="the code cannot be unpacked"):
                written(io.BytesIO(archive), tmp_path / f"to-{number}")


@pytest.mark.parametrize("what", ORDINARY)
def test_what_programs_write_is_the_same_for_all(what: str) -> None:
    archive = ORDINARY[what]

    assert on_node(archive) == shown(archive) == read_by_others(archive)
    assert on_node(gzip.compress(archive)) == (None if archive[:2] == b"\x1f\x8b" else shown(archive))


@given(st.lists(st.sampled_from(PIECES), max_size=6))
def test_all_read_the_same_or_refuse_what_is_put_together_of_headers(pieces: list[bytes]) -> None:
    archive = b"".join([*pieces, END])

    files = on_node(archive)

    if files is not None:
        assert files == shown(archive) == read_by_others(archive)


@given(
    st.sampled_from([one for one in (*ORDINARY.values(), *REFUSED.values()) if 512 <= len(one) < 9000]),
    st.lists(st.tuples(st.integers(0, 400), st.binary(min_size=1, max_size=4)), min_size=1, max_size=4),
    st.integers(0, 4),
    st.booleans(),
)
def test_a_header_of_any_bytes_is_read_the_same_or_refused(
    archive: bytes, changes: list[tuple[int, bytes]], block: int, is_summed: bool
) -> None:
    start = 512 * block
    header = archive[start : start + 512]
    for place, value in changes:
        header = header[:place] + value + header[place + len(value) :]
    whole = archive[:start] + (summed(header) if is_summed else header) + archive[start + 512 :]

    files = on_node(whole)

    if files is not None:
        assert files == shown(whole)
