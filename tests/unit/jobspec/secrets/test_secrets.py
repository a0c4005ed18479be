"""Secrets are found wherever a person may have put them, masked for showing, and replaced for keeping."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode as from_b64
from base64 import urlsafe_b64encode as b64
from pathlib import Path
from typing import Any

import pytest

from shared.jobspec import (
    SEALED,
    open_secrets,
    redact,
    seal_secrets,
    with_credentials,
)
from shared.jobspec.text.tree import copied
from tests.diagnosis import problems_of
from tests.unit.jobspec.jobs import BLOBS, REFERENCE, SHARE, everything, job, share

CANARY = "cAnArY-7c41"

#: Where people put secrets, rightly or not.
PLACES: tuple[tuple[str, Any], ...] = (
    ("/properties/secrets/0/value", job(secrets=[{"name": "A", "value": CANARY}])),
    ("/properties/secrets/0/vlaue", job(secrets=[{"name": "A", "vlaue": CANARY}])),
    ("/properties/secrets/A", job(secrets={"A": CANARY})),
    ("/properties/secrets", job(secrets=CANARY)),
    ("/properties/secrets/0", job(secrets=[CANARY])),
    ("/properties/secretes/0/value", job(secretes=[{"name": "A", "value": CANARY}])),
    (
        "/properties/mountVolumes/azureFileShares/0/credentials/accountKey",
        share(credentials={"accountKey": CANARY}),
    ),
    (
        "/properties/mountVolumes/azureFileShares/0/credentials/acountkey",
        share(credentials={"acountkey": CANARY}),
    ),
    ("/properties/mountVolumes/azureFileShares/0/credentials", share(credentials=CANARY)),
    ("/properties/mountVolumes/azureFileShares/0/credentialsInfo/x", share(credentialsInfo={"x": CANARY})),
    ("/properties/mountVolumes/azureFileShares/0/accountKey", share(accountKey=CANARY)),
    ("/properties/mountVolumes/azureFileShares/0/account_key", share(account_key=CANARY)),
    ("/properties/mountVolumes/azureFileShares/0/storageAccountKey", share(storageAccountKey=CANARY)),
    (
        "/properties/mountVolumes/azureFileShares/0/credentials/accountKeySecretReference",
        share(credentials={"accountKeySecretReference": CANARY}),
    ),
    (
        "/properties/mountVolumes/azureFileShares/0/credentials/accountKeySecretReference/value",
        share(credentials={"accountKeySecretReference": {**REFERENCE, "value": CANARY}}),
    ),
    (
        "/properties/containerSettings/imageSourceRegistry/credentials/password",
        job(
            containerSettings={
                "imageSourceRegistry": {"image": "a", "credentials": {"username": "u", "password": CANARY}}
            }
        ),
    ),
    ("/properties/containerSettings/pasword", job(containerSettings={"pasword": CANARY})),
    ("/userAccountSettings/adminUserPassword", {"userAccountSettings": {"adminUserPassword": CANARY}}),
    ("/appInsightsReference/instrumentationKey", {"appInsightsReference": {"instrumentationKey": CANARY}}),
    ("/token", {"token": CANARY}),
    ("/deep/0/0/apiKey/more/0", {"deep": [[{"apiKey": {"more": [CANARY]}}]]}),
    (
        "/properties/environmentVariables/0/value",
        job(environmentVariables=[{"name": "AWS_SECRET_ACCESS_KEY", "value": CANARY}]),
    ),
    ("/properties/environmentVariables/HF_TOKEN", job(environmentVariables={"HF_TOKEN": CANARY})),
    ("/properties/environmentVariables/hf_token", job(environmentVariables={"hf_token": CANARY})),
    (
        "/properties/environmentVariables/DB_PWD/value",
        job(environmentVariables={"DB_PWD": {"value": CANARY}}),
    ),
    ("/properties/environmentVariables/0/HF_TOKEN", job(environmentVariables=[{"HF_TOKEN": CANARY}])),
    ("/properties/environmentVariables/0/1", job(environmentVariables=[["HF_TOKEN", CANARY]])),
    (
        "/properties/environmentVariables/0/value",
        job(environmentVariables=[{"key": "HF_TOKEN", "value": CANARY}]),
    ),
    (
        "/properties/environmentVariables/0/Value",
        job(environmentVariables=[{"Name": "HF_TOKEN", "Value": CANARY}]),
    ),
    (
        "/properties/customToolkitSettings/commandLine/2",
        job(customToolkitSettings={"commandLine": ["python", "--api-key", CANARY]}),
    ),
    ("/environment_variables/HF_TOKEN", {"command": "a", "environment_variables": {"HF_TOKEN": CANARY}}),
    ("/envs/wandb_api_key", {"run": "a", "envs": {"wandb_api_key": CANARY}}),
)


@pytest.mark.parametrize(("pointer", "document"), PLACES, ids=[pointer for pointer, _ in PLACES])
def test_secrets_are_found_and_masked(pointer: str, document: Any) -> None:
    before = copied(document)

    assert pointer in sealed_pointers(document)
    assert CANARY not in str(redact(document))
    assert "***" in str(redact(document))
    assert document == before


@pytest.mark.parametrize(("pointer", "document"), PLACES, ids=[pointer for pointer, _ in PLACES])
def test_no_problem_shows_them(pointer: str, document: Any) -> None:
    text = json.dumps({**document, "zzz": 1})

    problems = problems_of(text.encode(), Path("/nowhere/digits/job.json"))

    assert problems
    assert CANARY not in json.dumps([one.as_dict() for one in problems])


@pytest.mark.parametrize("words", [["--epochs", "3"], ["TOKENIZER", "x"], ["max_tokens", "5"], ["-x", "y"]])
def test_items_of_a_list_are_shown_that_no_secret_is_named_before(words: list[str]) -> None:
    assert redact(words) == words


def test_a_valid_document_has_secrets_only_where_the_format_says_so() -> None:
    document = everything()

    assert sealed_pointers(document) == (
        "/properties/mountVolumes/azureBlobFileSystems/0/credentials/accountKey",
        "/properties/secrets/0/value",
    )


def test_masking_keeps_all_that_is_no_secret() -> None:
    document = everything()
    masked = redact(document)

    masked["properties"]["mountVolumes"]["azureBlobFileSystems"][0]["credentials"]["accountKey"] = "a2V5"
    masked["properties"]["secrets"][0]["value"] = "b"
    assert masked == document


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("https://a.blob.core.windows.net/x?sv=1&sig=abc", "https://a.blob.core.windows.net/x?***"),
        ("curl 'https://me:pw@host/x' -o y", "curl 'https://***@host/x' -o y"),
        ("AccountName=a;AccountKey=abc==;EndpointSuffix=x", "AccountName=a;AccountKey=***;EndpointSuffix=x"),
        ("train --token=abc --epochs=3", "train --token=*** --epochs=3"),
        ("train --rate=0.1 https://host/path", "train --rate=0.1 https://host/path"),
    ],
)
def test_secrets_inside_of_addresses_and_command_lines_are_masked(text: str, shown: str) -> None:
    assert redact({"commandLine": text}) == {"commandLine": shown}


@pytest.mark.parametrize("document", [None, 7, "text", True, [], {}, [1, {"a": None}], {"password": None}])
def test_any_json_can_be_masked(document: Any) -> None:
    assert redact(document) == document


def test_numbers_in_secret_places_are_masked_too() -> None:
    assert redact({"password": 12345678}) == {"password": "***"}


def test_depth_does_not_matter() -> None:
    document: Any = CANARY
    for _ in range(5000):
        document = [document]

    assert sealed_pointers({"password": document}) == ("/password" + "/0" * 5000,)


def sealed_pointers(document: Any) -> tuple[str, ...]:
    """Where the document has secrets, in its order."""
    pointers: list[str] = []

    def seal(pointer: str, value: str) -> str:
        pointers.append(pointer)
        return _seal(pointer, value)

    seal_secrets(document, seal)
    return tuple(pointers)


def _seal(pointer: str, value: str) -> str:
    return SEALED + b64(f"{pointer}|{value}".encode()).decode()


def _unseal(pointer: str, text: str) -> str:
    place, _, value = from_b64(text.removeprefix(SEALED)).decode().partition("|")
    assert place == pointer
    return value


def test_secrets_are_sealed_and_opened_by_the_same_places() -> None:
    document = everything()

    sealed = seal_secrets(document, _seal)

    assert sealed["properties"]["secrets"][0]["value"] == _seal("/properties/secrets/0/value", "b")
    assert sealed["properties"]["secrets"][1] == document["properties"]["secrets"][1]
    assert open_secrets(sealed, _unseal) == document == everything()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"curl 'https://a.example.com/x?sig={CANARY}&x=1' -o y", "curl 'https://a.example.com/x?***' -o y"),
        (f"run --token={CANARY} --password={CANARY}", "run --token=*** --password=***"),
        (f"curl https://me:{CANARY}@host/x?{CANARY}", "curl https://***@host/x?***"),
        (SEALED + b64(CANARY.encode()).decode(), "***"),
    ],
)
def test_what_is_secret_inside_of_a_text_is_sealed_and_the_rest_can_be_read(text: str, expected: str) -> None:
    document = job(customToolkitSettings={"commandLine": text})

    sealed = seal_secrets(document, _seal)

    assert CANARY not in str(sealed)
    assert redact(sealed)["properties"]["customToolkitSettings"]["commandLine"] == expected
    assert open_secrets(sealed, _unseal) == document


def test_what_was_sealed_opens_although_its_place_is_no_longer_called_secret() -> None:
    sealed = {"properties": {"renamedSince": _seal("/properties/renamedSince", CANARY)}}

    assert open_secrets(sealed, _unseal) == {"properties": {"renamedSince": CANARY}}
    assert redact(sealed) == {"properties": {"renamedSince": "***"}}


def test_a_text_that_utf_8_cannot_hold_does_not_keep_the_others_sealed() -> None:
    sealed = {"name": "\ud800", "properties": {"renamedSince": _seal("/properties/renamedSince", CANARY)}}

    assert open_secrets(sealed, _unseal)["properties"] == {"renamedSince": CANARY}
    assert open_secrets({"name": "\ud800"}, _unseal) == {"name": "\ud800"}


def test_keys_are_filled_in_only_where_a_mount_names_none() -> None:
    document = job(
        mountVolumes={
            "azureFileShares": [
                SHARE,
                {**SHARE, "credentials": {"accountKey": "own"}},
                {**SHARE, "accountName": "unknown"},
            ],
            "azureBlobFileSystems": [
                {**BLOBS, "credentials": {}},
                {**BLOBS, "credentials": {"accountKeySecretReference": REFERENCE}},
            ],
        }
    )
    before = copied(document)

    filled = with_credentials(document, {"account": CANARY, "other": "x"})

    volumes = filled["properties"]["mountVolumes"]
    assert [mount.get("credentials") for mount in volumes["azureFileShares"]] == [
        {"accountKey": CANARY},
        {"accountKey": "own"},
        None,
    ]
    assert [mount["credentials"] for mount in volumes["azureBlobFileSystems"]] == [
        {"accountKey": CANARY},
        {"accountKeySecretReference": REFERENCE},
    ]
    assert document == before


@pytest.mark.parametrize(
    "document", [{}, job(mountVolumes=None), job(mountVolumes=[7]), job(mountVolumes={})]
)
def test_without_mounts_there_is_nothing_to_fill_in(document: dict[str, Any]) -> None:
    assert with_credentials(document, {"account": "x"}) == document
