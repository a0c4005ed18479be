"""Secrets of the file that stands for a vault."""

import json
from pathlib import Path

import pytest

from local.batchai.launch.vault import MissingSecret, Vault
from tests.unit.local.batchai.documents import secret


def test_references_are_replaced_by_the_secrets_of_the_file_wherever_they_are(tmp_path: Path) -> None:
    file = tmp_path / "secrets.json"
    file.write_text(json.dumps({"https://Keys.vault.azure.net/secrets/A": "value of a"}))
    reference = secret("https://keys.vault.azure.net/secrets/a/")
    document = {"secrets": [{"name": "X", "valueSecretReference": reference}], "nodeCount": 1}

    result = Vault(file).resolved(document)

    assert result == {"secrets": [{"name": "X", "value": "value of a"}], "nodeCount": 1}


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        (None, "--secrets-file"),
        ("{}", "Add it to"),
        ("[", "not a JSON document"),
        ('{"x": {"y": "canary"}}', "values are all strings"),
    ],
)
def test_a_missing_secret_is_reported_with_the_remedy(tmp_path: Path, text: str | None, remedy: str) -> None:
    file = tmp_path / "secrets.json" if text else None
    if file and text:
        file.write_text(text)

    with pytest.raises(MissingSecret, match=remedy) as absent:
        Vault(file).resolved({"valueSecretReference": secret("https://v.net/secrets/a")})

    assert "https://v.net/secrets/a" in absent.value.fault.message
    assert "canary" not in absent.value.fault.message
