"""Signatures of webhooks: the published vector, an independent verifier, and secrets that no one may see."""

from __future__ import annotations

import base64
import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from shared.adapters.webhook.signing import check_secret, hosts_from, secrets_from, signature_headers

VECTOR_SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
VECTOR = {
    "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
    "webhook-timestamp": "1614265330",
    "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
}
CANARY = "Canary4Secret"


def secret_of(size: int, fill: int = 7) -> str:
    return "whsec_" + base64.b64encode(bytes([fill]) * size).decode()


def test_the_vector_of_the_specification_is_reproduced() -> None:
    headers = signature_headers(VECTOR["webhook-id"], 1614265330, b'{"test": 2432232314}', [VECTOR_SECRET])

    assert headers == VECTOR


@given(body=st.dictionaries(st.text(max_size=20), st.text(max_size=50), max_size=4))
def test_an_independent_verifier_accepts_what_is_signed(body: dict[str, str]) -> None:
    data = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
    headers = signature_headers("evt_abc", int(time.time()), data, [VECTOR_SECRET])

    assert Webhook(VECTOR_SECRET).verify(data, headers) == json.loads(data)


@pytest.mark.parametrize("changed", ["body", "id", "timestamp", "secret"])
def test_an_independent_verifier_refuses_what_was_changed(changed: str) -> None:
    body, secret = b'{"a":1}', secret_of(32)
    headers = signature_headers("evt_abc", int(time.time()), body, [secret])
    if changed == "id":
        headers["webhook-id"] = "evt_abd"
    if changed == "timestamp":
        headers["webhook-timestamp"] = str(int(headers["webhook-timestamp"]) - 1)

    with pytest.raises(WebhookVerificationError):
        Webhook(secret_of(32, 8) if changed == "secret" else secret).verify(
            b'{"a":2}' if changed == "body" else body, headers
        )


def test_during_a_rotation_receivers_with_either_secret_verify() -> None:
    old, new = secret_of(24, 1), secret_of(64, 2)
    headers = signature_headers("evt_abc", int(time.time()), b"{}", [new, old])

    assert Webhook(old).verify(b"{}", headers) == {}
    assert Webhook(new).verify(b"{}", headers) == {}
    assert len(headers["webhook-signature"].split(" ")) == 2


@pytest.mark.parametrize("size", [24, 32, 64])
def test_a_secret_of_the_specified_size_is_accepted(size: int) -> None:
    check_secret(secret_of(size))


@pytest.mark.parametrize(
    "secret",
    [
        "",
        CANARY,
        f"whsec_{CANARY}",
        f"whsec_{CANARY * 4}==",
        f"WHSEC_{base64.b64encode(b'x' * 32).decode()}",
        f"whsk_{base64.b64encode(b'x' * 32).decode()}",
        f" {secret_of(32)}",
        f"{secret_of(32)}\n",
        secret_of(32).rstrip("="),
        secret_of(32, 0xFB).replace("+", "-").replace("/", "_"),
        secret_of(23),
        secret_of(65),
        secret_of(1),
        "whsec_" + "é" * 32,
    ],
)
def test_an_unusable_secret_is_refused_and_never_shown(secret: str) -> None:
    with pytest.raises(ValueError, match="openssl rand -base64 32") as caught:
        check_secret(secret)

    assert CANARY not in str(caught.value)
    assert secret.strip() == "" or secret.removeprefix("whsec_") not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_nothing_is_signed_without_a_secret() -> None:
    with pytest.raises(ValueError, match="no secret"):
        signature_headers("evt_abc", 0, b"{}", [])


@pytest.mark.parametrize("webhook_id", ["", "evt.1", "evt 1", "evt\n", "evt\r\nx: y", "é", "x" * 201])
def test_an_id_that_would_blur_the_signed_text_or_the_headers_is_refused(webhook_id: str) -> None:
    with pytest.raises(ValueError, match="webhook id"):
        signature_headers(webhook_id, 0, b"{}", [VECTOR_SECRET])


def test_a_time_before_1970_is_refused() -> None:
    with pytest.raises(ValueError, match="1970"):
        signature_headers("evt_abc", -1, b"{}", [VECTOR_SECRET])


_SECRET = "whsec_" + "a" * 32


def test_a_secret_may_name_the_hosts_that_it_is_for() -> None:
    document = {"default": _SECRET, "team": {"secret": [_SECRET], "hosts": ["Hooks.example.com", "[::1]"]}}

    assert secrets_from(document) == {"default": (_SECRET,), "team": (_SECRET,)}
    assert hosts_from(document) == {"team": {"hooks.example.com", "[::1]"}}


@pytest.mark.parametrize("hosts", [[], "a.example.com", ["https://a.example.com"], [7], ["a b"], None])
def test_what_is_not_a_host_name_is_refused_without_the_secret(hosts: object) -> None:
    with pytest.raises(ValueError, match="'team': \"hosts\"") as refused:
        hosts_from({"team": {"secret": _SECRET, "hosts": hosts}})
    assert _SECRET not in str(refused.value)


@pytest.mark.parametrize("value", [{"secret": _SECRET}, {"hosts": ["a.example.com"]}, {}])
def test_an_object_has_a_secret_and_hosts(value: object) -> None:
    with pytest.raises(ValueError, match="'team' is an object"):
        secrets_from({"team": value})
