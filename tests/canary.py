"""Canaries: values that must never appear again, planted wherever a person may put a secret."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.unit.jobspec.jobs import everything

#: As a text, and for members that take only a number.
CANARY = "cAnArY7c41x"
NUMBER = 7041704170417041
HOOK = "https://hooks.example.com"

Path = tuple[str | int, ...]

#: Where the format requires a secret, or accepts one in an address or a command.
_SECRETS: dict[str, tuple[Path, str]] = {
    "secret variable": (("secrets", 0, "value"), "{}"),
    "account key": (("mountVolumes", "azureBlobFileSystems", 0, "credentials", "accountKey"), "{}"),
    "SAS in a command": (("customToolkitSettings", "commandLine"), "curl https://a.example.com/x?sig={}"),
    "token in a command": (("customToolkitSettings", "commandLine"), "run --token={} --epochs=3"),
    "password in an address": (("customToolkitSettings", "commandLine"), "curl https://me:{}@a.example.com/"),
    "connection string": (("environmentVariables", 0, "value"), "AccountName=a;AccountKey={};X=y"),
    "query in a variable": (("environmentVariables", 0, "value"), "https://a.example.com/x?{}"),
    "SAS in the preparation": (("jobPreparation", "commandLine"), "wget 'https://a.example.com/x?sig={}'"),
    "what looks sealed": (("customToolkitSettings", "commandLine"), "sealed:v1:{}"),
}
#: The same in places where it makes the document invalid.
_WRONG: dict[str, tuple[Path, Any]] = {
    "query of a vault reference": (
        ("secrets", 1, "valueSecretReference", "secretUrl"),
        "https://keys.vault.azure.net/secrets/one?{}",
    ),
    "foreign vault": (
        ("secrets", 1, "valueSecretReference", "secretUrl"),
        "https://{}@vault.example.com/secrets/one",
    ),
    "value in a vault reference": (("secrets", 1, "valueSecretReference", "value"), "{}"),
    "SAS of a share": (
        ("mountVolumes", "azureFileShares", 0, "azureFileUrl"),
        "https://account.file.core.windows.net/logs?sig={}",
    ),
    "key of a mount": (("mountVolumes", "azureFileShares", 0, "accountKey"), "{}"),
    "credentials as a text": (("mountVolumes", "azureFileShares", 0, "credentials"), "{}"),
    "secrets as a text": (("secrets",), "{}"),
    "secret variable as a number": (("secrets", 0, "value"), NUMBER),
    "password and reference": (("containerSettings", "imageSourceRegistry", "credentials", "password"), "{}"),
    "SAS in a name": (("environmentVariables", 0, "name"), "https://a.example.com/x?sig={}"),
    "SAS as a time": (("constraints", "maxWallClockTime"), "https://a.example.com/x?sig={}"),
    "SAS as a path": (("outputDirectories", 0, "pathSuffix"), "https://a.example.com/x?sig={}"),
    "SAS as a server": (
        ("containerSettings", "imageSourceRegistry", "serverUrl"),
        "https://a.example.com/x?sig={}",
    ),
    "SAS as a cluster": (("cluster", "id"), "https://a.example.com/x?sig={}"),
}


def documents() -> Iterator[tuple[str, dict[str, Any]]]:
    """Documents with one canary each; those of `_SECRETS` are valid."""
    for what, (path, text) in {**_SECRETS, **_WRONG}.items():
        value = text.format(CANARY + "0" * 8) if isinstance(text, str) else text
        document = everything()
        _put(document["properties"], path, value)
        if what == "account key":
            del document["properties"]["mountVolumes"]["azureBlobFileSystems"][1]
        yield what, document
    for place in _objects(everything(), ()):
        document = everything()
        _put(document, (*place, "colour"), CANARY)
        yield f"unknown member of {'/'.join(map(str, place)) or 'the document'}", document


def envelopes(document: dict[str, Any], hook: str = HOOK) -> Iterator[tuple[str, dict[str, Any]]]:
    """Envelopes around a valid document with a canary each; `hook` is the URL of its receiver."""
    fine = {"spec": document}
    secret = {"url": hook, "secret": f"whsec_{CANARY}{'A' * 32}"}
    yield "path of a hook", {**fine, "notify": [{"url": f"{hook}/services/{CANARY}"}]}
    yield "query of a hook", {**fine, "notify": [{"url": f"{hook}?token={CANARY}"}]}
    yield "user of a hook", {**fine, "notify": [{"url": f"https://{CANARY}@hooks.example.com"}]}
    yield "path of a refused hook", {**fine, "notify": [{"url": f"https://10.0.0.1/{CANARY}"}]}
    yield "path of a wrong hook", {**fine, "notify": [{"url": f"ftp://hooks.example.com/{CANARY}"}]}
    yield "secret itself in place of its name", {**fine, "notify": [secret]}
    yield "unknown member of a hook", {**fine, "notify": [{"url": hook, "token": CANARY}]}
    yield "unknown member of the envelope", {**fine, "colour": CANARY}
    yield "unknown member of retry", {**fine, "retry": {"colour": CANARY}}
    yield "secret label", {**fine, "labels": {"token": CANARY}}
    yield "SAS in a label", {**fine, "labels": {"data": f"https://a.example.com/x?sig={CANARY}"}}
    yield "idempotency key", {**fine, "idempotencyKey": CANARY}
    yield "SAS of a blob", {"specBlob": f"scripts/x/job.json?sig={CANARY}"}
    yield "address of a blob", {"specBlob": f"https://a.blob.core.windows.net/scripts/x?sig={CANARY}"}
    yield "SAS as a name", {**fine, "name": f"https://a.example.com/x?sig={CANARY}"}
    yield "SAS as a cluster", {**fine, "cluster": f"https://a.example.com/x?sig={CANARY}"}


def texts() -> Iterator[tuple[str, bytes]]:
    """Texts with a canary that are not JSON, or not a document."""
    yield "half a document", b'{"properties": {"secrets": [{"name": "A", "value": "%s"' % CANARY.encode()
    yield "a key without quotes", b'{"properties": {accountKey: "%s"}}' % CANARY.encode()
    yield "a secret twice", json.dumps({"password": CANARY}).encode()[:-1] + b', "password": "x"}'
    yield "a list", json.dumps([{"password": CANARY}]).encode()
    yield "latin-1", f'{{"password": "{CANARY}é"}}'.encode("latin-1")
    yield (
        "a blob's arrival",
        json.dumps(
            {
                "eventType": "Microsoft.Storage.BlobCreated",
                "subject": "",
                "data": {"url": f"https://a/?{CANARY}"},
            }
        ).encode(),
    )


def _put(document: Any, path: Path, value: Any) -> None:
    for step in path[:-1]:
        document = document[step]
    document[path[-1]] = value


def _objects(value: Any, path: Path) -> Iterator[Path]:
    if isinstance(value, dict):
        yield path
        for key, member in value.items():
            yield from _objects(member, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _objects(item, (*path, index))
