"""Which settings a command takes, and where it says that they come from."""

import json
from pathlib import Path

import pytest

from slipway import settings
from slipway.failure import Failure

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


def test_the_address_of_a_running_stack_is_taken_and_else_the_usual_one(tmp_path: Path) -> None:
    assert settings.local_url(tmp_path) == "http://127.0.0.1:7071"
    (tmp_path / "url").write_text("http://127.0.0.1:4711")
    assert settings.local_url(tmp_path) == "http://127.0.0.1:4711"
