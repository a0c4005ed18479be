"""Named keys: who holds which, and what a setting of them may be."""

from __future__ import annotations

from typing import Any

import pytest

from shared.adapters.named_keys import named_keys
from shared.core.caller import ADMIN, READ_ALL, SUBMIT, Caller, digest_of
from shared.core.errors import Misuse

KEYS = named_keys(
    {
        "ann": {"sha256": digest_of("key of ann")},
        "dan": {"sha256": digest_of("key of dan").upper(), "roles": [ADMIN]},
        "cay": {"sha256": digest_of("key of cay"), "roles": [READ_ALL, SUBMIT]},
    }
)


def test_a_key_is_one_caller_with_the_roles_of_its_entry() -> None:
    assert KEYS.holder("key of ann") == Caller("ann", frozenset({SUBMIT}), key="ann")
    assert KEYS.holder("key of dan").roles == {ADMIN}
    assert KEYS.holder("key of cay").roles == {READ_ALL, SUBMIT}


@pytest.mark.parametrize(
    "key", ["key of eve", "KEY OF ANN", digest_of("key of ann"), "ann", "\udcff", "é" * 9000]
)
def test_a_key_without_a_name_is_refused_with_what_to_do_and_without_itself(
    key: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")

    with pytest.raises(Misuse, match="is not a named key of this deployment") as refused:
        KEYS.holder(key)

    assert refused.value.status == 403
    assert "SLIPWAY_NAMED_KEYS" in refused.value.remedy
    assert key not in f"{refused.value} {caplog.text}".replace("SLIPWAY_NAMED_KEYS names", "")


def test_a_call_without_a_key_is_asked_for_one() -> None:
    with pytest.raises(Misuse, match="a key is needed") as refused:
        KEYS.holder("")

    assert refused.value.status == 401


def test_every_hash_is_compared_wherever_the_key_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[bytes] = []

    def compare(one: bytes, other: bytes) -> bool:
        compared.append(one)
        return one == other

    monkeypatch.setattr("hmac.compare_digest", compare)
    KEYS.holder("key of ann")

    assert len(compared) == 3


HASH = digest_of("secret")
WRONG: dict[str, tuple[Any, str]] = {
    "no object": ([], "it must be an object"),
    "a key in the place of its hash": ({"ann": "slipway_secret"}, "ann must be"),
    "a hash that is none": ({"ann": {"sha256": "slipway_secret"}}, "ann must be"),
    "another member": ({"ann": {"sha256": HASH, "key": "slipway_secret"}}, "ann must be"),
    "no roles": ({"ann": {"sha256": HASH, "roles": []}}, "ann: roles must be a list of"),
    "a role that is none": ({"ann": {"sha256": HASH, "roles": ["slipway_secret"]}}, "ann: roles must be"),
    "roles that are not a list": ({"ann": {"sha256": HASH, "roles": ADMIN}}, "ann: roles must be"),
    "an empty name": ({"": {"sha256": HASH}}, "a name has up to 64"),
    "a name with a colon": ({"http:ann": {"sha256": HASH}}, "a name has up to 64"),
    "a name with an end of line": ({"ann\n": {"sha256": HASH}}, "a name has up to 64"),
    "one key of two": (
        {"ann": {"sha256": HASH}, "bob": {"sha256": HASH.upper()}},
        "bob and ann have the same",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_an_entry_that_is_wrong_is_named_and_no_value_is_shown(case: str) -> None:
    document, message = WRONG[case]

    with pytest.raises(ValueError, match=message) as refused:
        named_keys(document)

    assert "slipway_secret" not in str(refused.value)
    assert HASH not in str(refused.value)


def test_what_is_printed_of_keys_has_no_hash() -> None:
    assert HASH[:8] not in repr(named_keys({"ann": {"sha256": HASH}}))
