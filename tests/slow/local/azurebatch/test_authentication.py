"""Who may ask the emulator: the account's key, or a token of Entra ID."""

from __future__ import annotations

import base64
import hmac
import json
import time
from email.utils import formatdate
from typing import Any

import pytest
import requests
from azure.batch import BatchClient
from azure.core.credentials import AccessToken, AzureNamedKeyCredential
from azure.core.exceptions import ClientAuthenticationError, HttpResponseError

from local.azurebatch.settings import ACCOUNT, KEY
from tests.slow.local.azurebatch.world import Emulator, code_of

AUDIENCE = "https://batch.core.windows.net/"


class Token:
    """A credential with the claims that a token of Entra ID has."""

    def __init__(self, **claims: Any) -> None:
        self._claims = {"aud": AUDIENCE, "exp": time.time() + 3600} | claims

    def get_token(self, *_: str, **__: Any) -> AccessToken:
        parts: tuple[dict[str, Any], ...] = ({"alg": "RS256"}, self._claims, {})
        text = ".".join(
            base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts
        )
        return AccessToken(text, int(time.time()) + 3600)


def test_a_token_for_batch_is_taken(running: Emulator) -> None:
    with BatchClient(running.url, Token()) as client:
        assert list(client.list_jobs(enforce_https=False)) == []


@pytest.mark.parametrize("claims", [{"aud": "https://management.azure.com/"}, {"exp": 1}])
def test_another_token_is_not(running: Emulator, claims: dict[str, Any]) -> None:
    with (
        BatchClient(running.url, Token(**claims)) as client,
        pytest.raises(ClientAuthenticationError) as refused,
    ):
        list(client.list_pools(enforce_https=False))

    assert refused.value.status_code == 401


def test_another_key_is_refused(running: Emulator) -> None:
    wrong = AzureNamedKeyCredential(ACCOUNT, base64.b64encode(b"another").decode())

    with BatchClient(running.url, wrong) as client, pytest.raises(HttpResponseError) as refused:
        list(client.list_pools())

    assert refused.value.status_code == 403
    assert code_of(refused.value) == "AuthenticationFailed"


def test_what_is_neither_signed_nor_of_a_known_version_is_refused(running: Emulator) -> None:
    unsigned = requests.get(f"{running.url}/pools?api-version=2025-06-01", timeout=30)
    with running.client(api_version="2017-01-01") as old, pytest.raises(HttpResponseError) as refused:
        old.get_pool("none")

    assert unsigned.status_code == 401
    assert unsigned.json()["code"] == "AuthenticationFailed"
    assert unsigned.headers["request-id"] in unsigned.json()["message"]["value"]
    assert code_of(refused.value) == "InvalidQueryParameterValue"


def test_a_page_of_another_site_is_refused_before_anything_else(running: Emulator) -> None:
    answer = requests.get(f"{running.url}/pools", headers={"Host": "evil.example"}, timeout=30)

    assert (answer.status_code, answer.json()["code"]) == (403, "Forbidden")


@pytest.mark.parametrize("length", ["", "0"])
def test_a_request_to_delete_may_be_signed_with_an_empty_length_or_with_none(
    running: Emulator, length: str
) -> None:
    """As @azure/batch 10 and the clients of Python sign it."""
    date, path, version = formatdate(usegmt=True), "/jobs/none", "2025-06-01"
    lines = ["DELETE", "", "", length, *[""] * 8]
    text = "\n".join([*lines, f"ocp-date:{date}", f"/{ACCOUNT}{path}", f"api-version:{version}"])
    signature = base64.b64encode(hmac.digest(base64.b64decode(KEY), text.encode(), "sha256")).decode()
    headers = {"ocp-date": date, "Authorization": f"SharedKey {ACCOUNT}:{signature}"}

    answer = requests.delete(f"{running.url}{path}?api-version={version}", headers=headers, timeout=30)

    assert (answer.status_code, answer.json()["code"]) == (404, "JobNotFound")
