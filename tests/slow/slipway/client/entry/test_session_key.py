"""The key of a session: in a folder of its user alone, and gone with it."""

from __future__ import annotations

import stat
from contextlib import suppress
from pathlib import Path

import pytest

from shared.core.relations.permit import PUBLIC_KEY
from slipway.client.entry.session_key import session_key
from slipway.failure import Failure


def test_a_key_is_private_for_as_long_as_the_session_lasts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)

    with suppress(Failure), session_key() as key:
        assert key is not None
        public = key.public
        key.certify("a certificate")
        modes = [stat.S_IMODE(one.stat().st_mode) for one in (key.file.parent, key.file)]
        raise Failure("the session fails")

    assert PUBLIC_KEY.fullmatch(public)
    assert modes == [0o700, 0o600]
    assert list(tmp_path.iterdir()) == []


def test_a_machine_without_openssh_has_no_key(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    with session_key() as key:
        assert key is None
