"""`slipway init --from`: any value of any member, and any bytes, are translated or refused in words."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from shared.jobspec import Source, has_errors
from slipway.client.request.diagnose import diagnosed
from slipway.commands.init.foreign.sbatch_options import OPTIONS
from slipway.commands.init.foreign.translate import translate
from slipway.failure import Failure
from tests.unit.slipway.commands.init.foreign_files import FORMATS, MEMBERS, document, script

_VALUES = st.recursive(
    st.one_of(
        st.booleans(),
        st.integers(),
        st.floats(),
        st.text(),
        st.sampled_from(["1-2:3", "a:b", "8G", "=", "${{inputs.x}}"]),
    ),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=5,
)


def _translated(data: bytes) -> None:
    with TemporaryDirectory() as folder:
        file = Path(folder) / "job.x"
        file.write_bytes(data)
        try:
            result = translate(file)
        except Failure as failure:
            assert str(failure).isprintable()  # noqa: PT017 - either way it is answered in words
            return
    job = result.files["job.json"].encode()
    assert not has_errors(diagnosed(Source(job), Path("/translated/job.json")))
    assert all(note.member.isprintable() and note.text.isprintable() for note in result.notes)


@given(place=st.sampled_from(MEMBERS), value=_VALUES, name=st.sampled_from(["thing", "a b", "é", "\n"]))
def test_any_value_of_a_member(place: tuple[str, str], value: Any, name: str) -> None:
    _translated(json.dumps(document(*place, value, name)).encode())


@given(system=st.sampled_from(sorted(FORMATS)), at=st.integers(0, 400), data=st.binary(max_size=9))
def test_any_bytes_in_a_file(system: str, at: int, data: bytes) -> None:
    text = json.dumps(FORMATS[system].base, indent=1).encode()
    _translated(text[:at] + data + text[at:])


@given(
    name=st.sampled_from(sorted(OPTIONS)),
    value=st.text(st.characters(codec="utf-8", exclude_characters="\r\n")),
)
def test_any_value_of_an_option(name: str, value: str) -> None:
    _translated(script(f"--{name}={value}").encode())
