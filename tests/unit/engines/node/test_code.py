"""The code of a job on its way to a node: what storage answers, and what runs of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from shared.core.code.record import CodeSource
from shared.core.job import Reason
from shared.engines.codeless import CODELESS
from shared.engines.node.code import CODES, NoCode, bring, fetch
from shared.engines.node.unpack import Hostile
from tests.doubles.archives import FOLDER, file, packed
from tests.doubles.code_storage import EXPIRED, CodeStorage, code_storage

_ARCHIVE = packed(*FOLDER)


@pytest.fixture
def storage() -> Iterator[CodeStorage]:
    with code_storage() as server:
        yield server


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run's own directory."""
    (tmp_path / "run/wd").mkdir(parents=True)
    (tmp_path / "run/mounts").mkdir()
    return tmp_path / "run"


def _bring(source: CodeSource, run: Path, **more: Any) -> None:
    bring({**asdict(source), **more}, run, run / "mounts")


def test_the_code_is_in_the_working_directory_after_one_request(storage: CodeStorage, run: Path) -> None:
    _bring(storage.source(_ARCHIVE), run)

    assert (run / "wd/features.py").read_text() == "VALUE = 1\n"
    assert len(storage.requests) == 1
    assert {path.name for path in run.iterdir()} == {"wd", "mounts", "code.in-place"}


@pytest.mark.parametrize("at", ["scripts/digits", "scripts"])
def test_scripts_are_below_the_mount_root(at: str, storage: CodeStorage, run: Path) -> None:
    _bring(storage.source(_ARCHIVE, at=at), run)

    assert (run / "mounts" / at / "train.py").exists()
    assert list((run / "wd").iterdir()) == []


def test_no_code_gets_into_a_volume_of_the_job(storage: CodeStorage, run: Path, tmp_path: Path) -> None:
    (tmp_path / "share").mkdir()
    (run / "mounts/scripts").symlink_to(tmp_path / "share")

    with pytest.raises(Hostile, match="in a volume"):
        _bring(storage.source(_ARCHIVE, at="scripts/digits"), run)

    assert list((tmp_path / "share").iterdir()) == []


@pytest.mark.parametrize("at", ["scripts/../../wd", "/etc", "scripts//a", "."])
def test_no_place_is_outside_the_mount_root(at: str, storage: CodeStorage, run: Path) -> None:
    with pytest.raises(Hostile):
        _bring(storage.source(_ARCHIVE, at=at), run)


def test_nodes_that_share_their_directory_have_it_once(storage: CodeStorage, run: Path) -> None:
    source = storage.source(_ARCHIVE)
    _bring(source, run)
    (run / "wd/train.py").write_text("changed by the job")

    _bring(source, run)

    assert (run / "wd/train.py").read_text() == "changed by the job"


@pytest.mark.parametrize(
    "content",
    [
        packed(file("train.py", "evil")),
        _ARCHIVE[:-1] + b"x",
        _ARCHIVE + b"x",
        _ARCHIVE[:-1],
        b"",
        b"x" * (1 << 20),
    ],
    ids=["other", "one byte", "longer", "shorter", "empty", "much longer"],
)
def test_other_bytes_than_the_accepted_ones_are_never_unpacked(
    content: bytes, storage: CodeStorage, run: Path
) -> None:
    source = storage.source(_ARCHIVE)
    storage.replace(source, content)

    with pytest.raises(NoCode, match=r"^different: .*not the code that was accepted"):
        _bring(source, run)

    assert list((run / "wd").iterdir()) == []
    assert not (run / "code.in-place").read_text()


@pytest.mark.parametrize(
    ("status", "code", "signature", "word"),
    [
        (404, "BlobNotFound", "", "deleted"),
        (404, "ContainerNotFound", "", "deleted"),
        (403, "AuthenticationFailed", "", "expired"),
        (403, "AuthorizationFailure", EXPIRED, "expired"),
        (403, "AuthorizationFailure", "", "failed"),
        (400, "InvalidQueryParameterValue", "", "failed"),
        (301, "", "", "failed"),
        (500, "InternalError", "", "failed"),
        (503, "ServerBusy", "", "failed"),
    ],
)
def test_the_reason_says_what_another_attempt_is_worth_and_holds_no_signature(
    status: int, code: str, signature: str, word: str, storage: CodeStorage, tmp_path: Path
) -> None:
    source = storage.source(_ARCHIVE, signature=signature) if signature else storage.source(_ARCHIVE)
    storage.answers = [(status, code)]

    with pytest.raises(NoCode, match=f"^{word}: ") as refusal:
        fetch(asdict(source), tmp_path / "archive", outage=0)

    assert "canary" not in str(refusal.value)


def test_what_was_cut_off_is_no_other_code(storage: CodeStorage, tmp_path: Path) -> None:
    storage.answers = [(200, "cut off")]

    with pytest.raises(NoCode, match=r"^failed: .*no answer \(the connection was closed\)"):
        fetch(asdict(storage.source(_ARCHIVE)), tmp_path / "archive", outage=0)


def test_storage_that_does_not_answer_is_no_reason_against_the_job(tmp_path: Path) -> None:
    with code_storage() as server:
        source = server.source(_ARCHIVE)

    with pytest.raises(NoCode, match=r"^failed: .*no answer"):
        fetch(asdict(source), tmp_path / "archive", outage=0)


def test_a_directory_of_the_nodes_is_read_with_the_same_check(run: Path, tmp_path: Path) -> None:
    (tmp_path / "snapshot").write_bytes(_ARCHIVE)
    with code_storage() as server:
        source = replace(server.source(_ARCHIVE), address="")

    _bring(source, run, file=str(tmp_path / "snapshot"))

    assert (run / "wd/train.py").exists()
    with pytest.raises(NoCode, match=r"^different"):
        fetch({**asdict(source), "file": str(run / "wd/train.py")}, run / "archive")
    with pytest.raises(NoCode, match=r"^deleted"):
        fetch({**asdict(source), "file": str(run / "team/missing")}, run / "archive")


@pytest.mark.parametrize("case", ["absent", "empty", "a file", "not readable"])
def test_a_directory_that_is_not_mounted_on_a_node_is_named_and_no_code_is_called_deleted(
    case: str, run: Path, tmp_path: Path
) -> None:
    directory = tmp_path / "snapshots"
    if case == "a file":
        directory.write_text("")
    elif case != "absent":
        directory.mkdir()
    if case == "not readable":
        (directory / "team/name").mkdir(parents=True)
    source = CodeSource("", "0" * 64, 3, "work")

    with pytest.raises(NoCode, match=f"^failed: .*{directory}") as caught:
        fetch({**asdict(source), "file": str(directory / "team/name")}, run / "archive")

    assert caught.value.word == "failed"
    assert CODELESS[CODES["failed"]].reason is Reason.INFRASTRUCTURE
