"""Which settings a command takes, and where it says that they come from."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from slipway import settings
from slipway.client.deployment import settings_for
from slipway.failure import Failure
from slipway.stack.data_folder import lock_folder

VALUES = {"SLIPWAY_STORAGE": "UseDevelopmentStorage=true"}


def written(file: Path, document: object) -> Path:
    file.write_text(json.dumps(document))
    return file


def test_a_named_file_wins_over_the_environment(tmp_path: Path) -> None:
    file = written(tmp_path / "s.json", {"IsEncrypted": False, "Values": {"SLIPWAY_WORKSPACE": "mine"}})

    result, where = settings.load(file, {**VALUES, "SLIPWAY_WORKSPACE": "theirs"})

    assert result.text("SLIPWAY_WORKSPACE") == "mine"
    assert where == str(file)


@pytest.mark.parametrize("name", ["SLIPWAY_STORAGE", "SLIPWAY_STORAGE__blobServiceUri"])
def test_the_environment_counts_when_it_speaks_of_storage(name: str) -> None:
    result, where = settings.load(None, {name: "x", "SLIPWAY_WORKSPACE": "mine"})

    assert result.text("SLIPWAY_WORKSPACE") == "mine"
    assert where == "the environment"


@pytest.mark.parametrize("document", [{}, {"Values": []}, {"Values": {"SLIPWAY_SHARDS": 4}}])
def test_a_file_without_settings_is_refused_with_its_name(tmp_path: Path, document: object) -> None:
    file = written(tmp_path / "s.json", document)

    with pytest.raises(Failure, match=r"s\.json: needs \"Values\""):
        settings.load(file, VALUES)


def test_a_path_is_shown_as_a_person_would_type_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    assert settings.display_path(tmp_path / "state" / "logs") == "state/logs"
    assert settings.display_path(settings.UP) == str(settings.UP)
    assert settings.display_path(Path("/elsewhere/logs")) == "/elsewhere/logs"


@pytest.fixture
def usual(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the usual stack, which does not run."""
    monkeypatch.setattr(settings, "UP", tmp_path / "up")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path / "up"


@contextmanager
def running(folder: Path, url: str) -> Iterator[None]:
    with lock_folder(folder), settings.noted_stack(folder):
        (folder / settings.ADDRESS).write_text(url)
        written(folder / "local.settings.json", {"Values": {**VALUES, "SLIPWAY_WORKSPACE": folder.name}})
        yield


def test_the_address_of_a_running_stack_is_taken_and_else_the_usual_one(usual: Path) -> None:
    assert settings.local_url() == "http://127.0.0.1:7071"
    with running(usual, "http://127.0.0.1:4711"):
        assert settings.local_url() == "http://127.0.0.1:4711"
    assert settings.local_url() == "http://127.0.0.1:7071", "it was killed, and left its address"


def test_a_stack_with_its_data_elsewhere_is_the_local_one_while_only_it_runs(
    usual: Path, tmp_path: Path
) -> None:
    with running(tmp_path / "other", "http://127.0.0.1:4712"):
        assert settings.local_url() == "http://127.0.0.1:4712"
        assert settings.is_local_url("http://127.0.0.1:4712")
        result, source = settings.load(None, {})
        assert (result.text("SLIPWAY_WORKSPACE"), settings.is_local(source)) == ("other", True)

        with running(tmp_path / "third", "http://127.0.0.1:4713"):
            with pytest.raises(Failure, match=r"several stacks run, .*other, .*third; choose one by --url"):
                settings.local_url()
            with running(usual, "http://127.0.0.1:4711"):
                assert settings.local_url() == "http://127.0.0.1:4711"

    assert not settings.is_local_url("http://127.0.0.1:4712")
    assert settings.load(None, {}).source == str(usual / "local.settings.json")


def test_a_command_without_a_clone_finds_the_stack_of_one(
    usual: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running(usual, "http://127.0.0.1:4711"):
        assert settings.running_stacks() == [usual]
        monkeypatch.setattr(settings, "UP", tmp_path / "site-packages" / ".local" / "up")

        assert settings.running_stacks() == [usual]
        assert settings.local_url() == "http://127.0.0.1:4711"
        assert settings.load(None, {}).source == str(usual / "local.settings.json")


def test_notes_that_are_none_and_folders_of_others_are_passed_over(
    usual: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A note outlives its folder where the machine stops; another user may make one of that name in /tmp."""
    notes = tmp_path / "slipway" / "stacks"
    (notes / "folder").mkdir(parents=True)
    for name, data in (("bytes", b"\xff"), ("nul", b"/a\0b"), ("relative", b"up"), ("gone", b"/nowhere/up")):
        (notes / name).write_bytes(data)
    (notes / "link").symlink_to("/nowhere")

    with running(tmp_path / "other", "http://127.0.0.1:4712"):
        assert settings.running_stacks() == [tmp_path / "other"]
        monkeypatch.setattr("os.getuid", lambda: 12345)
        assert settings.running_stacks() == []


def test_the_stack_that_answers_at_an_address_is_named_by_it(usual: Path, tmp_path: Path) -> None:
    with running(usual, "http://127.0.0.1:4711"), running(tmp_path / "other", "http://127.0.0.1:4712"):
        assert settings.file_of_stack("http://127.0.0.1:4712/") == tmp_path / "other" / "local.settings.json"
        assert settings.file_of_stack("http://127.0.0.1:4713") is None
        assert settings.file_of_stack("") is None
        other = settings_for("http://127.0.0.1:4712", None)
        assert other.text("SLIPWAY_WORKSPACE") == "other"
        assert settings_for("http://127.0.0.1:4711", None).text("SLIPWAY_WORKSPACE") == "up"


def test_a_home_that_cannot_be_written_to_keeps_no_stack_from_running(
    usual: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))

    with running(usual, "http://127.0.0.1:4711"):
        assert settings.local_url() == "http://127.0.0.1:4711"


def test_a_stack_elsewhere_that_was_killed_is_none(usual: Path, tmp_path: Path) -> None:
    notes = tmp_path / "slipway" / "stacks"
    with running(tmp_path / "other", "http://127.0.0.1:4712"):
        (note,) = notes.iterdir()
        text = note.read_text()
    notes.joinpath(note.name).write_text(text)

    assert settings.running_stacks() == []
    assert settings.local_url() == "http://127.0.0.1:7071"
