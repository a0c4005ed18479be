"""Settings: precedence, %NAME%, storage connections, disabled functions."""

import json
from pathlib import Path

import pytest

from local.host.settings import SettingsError, connection_string, is_disabled, read_settings, resolve


def _file(folder: Path, document: object) -> Path:
    file = folder / "local.settings.json"
    file.write_text(document if isinstance(document, str) else json.dumps(document))
    return file


def test_the_environment_wins_over_the_file(tmp_path: Path) -> None:
    file = _file(tmp_path, {"IsEncrypted": False, "Values": {"A": "file", "B": "file"}})

    assert read_settings(file, {"A": "real", "C": "real"}) == {"A": "real", "B": "file", "C": "real"}


@pytest.mark.parametrize(
    ("document", "named"),
    [
        ("{", "not JSON"),
        ([], "expected"),
        ({"Values": []}, "expected"),
        ({"Values": {"A": 1}}, "Values.A must be a text"),
        ({"IsEncrypted": True}, "encrypted"),
    ],
)
def test_a_settings_file_with_a_mistake_is_refused(tmp_path: Path, document: object, named: str) -> None:
    with pytest.raises(SettingsError, match=named):
        read_settings(_file(tmp_path, document), {})


def test_a_missing_settings_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"nothing\.json: cannot be read"):
        read_settings(tmp_path / "nothing.json", {})


def test_names_between_percent_signs_are_settings() -> None:
    assert resolve("a-%X%/%Y%", {"X": "1", "Y": "2"}, "function f") == "a-1/2"


def test_a_missing_name_is_reported_with_its_function() -> None:
    with pytest.raises(SettingsError, match="function f: the setting X is not set"):
        resolve("%X%", {}, "function f")


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("", {"AzureWebJobsStorage": "text"}),
        ("AzureWebJobsStorage", {"AzureWebJobsStorage": "text"}),
        ("Storage", {"AzureWebJobsStorage": "text", "Storage": "other"}),
        ("Mine", {"Mine": "text"}),
    ],
)
def test_a_connection_is_looked_up_as_azure_does(name: str, settings: dict[str, str]) -> None:
    assert connection_string(name, settings, "function f") == "text"


def test_development_storage_stands_for_azurite_s_usual_ports() -> None:
    text = connection_string("", {"AzureWebJobsStorage": "UseDevelopmentStorage=true"}, "function f")

    assert "BlobEndpoint=http://127.0.0.1:10000/devstoreaccount1;" in text
    assert "QueueEndpoint=http://127.0.0.1:10001/devstoreaccount1;" in text


def test_addresses_of_the_emulator_s_account_are_enough() -> None:
    settings = {"Drop__blobServiceUri": "http://127.0.0.1:5/devstoreaccount1/"}

    assert "BlobEndpoint=http://127.0.0.1:5/devstoreaccount1;" in connection_string("Drop", settings, "f")


def test_an_account_by_identity_is_refused_with_the_remedy() -> None:
    with pytest.raises(SettingsError, match="set Drop to a connection string"):
        connection_string("Drop", {"Drop__queueServiceUri": "https://real.queue.core.windows.net"}, "f")


@pytest.mark.parametrize(
    ("settings", "disabled"),
    [
        ({"AzureWebJobs.f.Disabled": "true"}, True),
        ({"AzureWebJobs_f_Disabled": "1"}, True),
        ({"azurewebjobs.F.disabled": "True"}, True),
        ({"AzureWebJobs.f.Disabled": "false"}, False),
        ({"AzureWebJobs.g.Disabled": "true"}, False),
    ],
)
def test_a_function_is_disabled_by_a_setting(settings: dict[str, str], disabled: bool) -> None:
    assert is_disabled("f", settings) is disabled
