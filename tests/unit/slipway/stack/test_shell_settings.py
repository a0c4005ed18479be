"""Which settings of the shell the local app gets."""

import json
import re

import pytest

from slipway.failure import Failure
from slipway.stack.shell_settings import closed, shell_settings, with_file

KEYS = json.dumps({"ann": {"sha256": "0" * 64}})
SHELL = {
    "HOME": "/",
    "SLIPWAY_URL": "https://prod.example.com",
    "SLIPWAY_ADDRESS_MINUTES": "5",
    "SLIPWAY_MAX_NODES": "3",
    "SLIPWAY_NAMED_KEYS": "{}",
    "SLIPWAY_RETENTION_DAYS": "",
    "SLIPWAY_STORAGE__blobServiceUri": "https://prod.blob.core.windows.net",
    "SLIPWAY_SEAL_KEY": "secret",
    "SLIPWAY_SHARDS": "8",
}


def test_limits_and_times_count_and_no_place_and_no_secret() -> None:
    shell = shell_settings(SHELL)

    assert shell.values == {
        "SLIPWAY_ADDRESS_MINUTES": "5",
        "SLIPWAY_MAX_NODES": "3",
        "SLIPWAY_NAMED_KEYS": "{}",
    }
    assert shell.lines() == [
        "settings of the environment: SLIPWAY_ADDRESS_MINUTES, SLIPWAY_MAX_NODES, SLIPWAY_NAMED_KEYS",
        "of the environment, but for a deployment only: SLIPWAY_SEAL_KEY, SLIPWAY_SHARDS, "
        "SLIPWAY_STORAGE__blobServiceUri",
    ]
    assert shell_settings({"HOME": "/"}).lines() == []


def test_a_value_that_is_none_is_named_with_its_setting() -> None:
    with pytest.raises(
        Failure, match="in the environment: SLIPWAY_ADDRESS_MINUTES must be a number from 0 to 60"
    ):
        shell_settings({"SLIPWAY_ADDRESS_MINUTES": "61"})


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "SLIPWAY_NAMED_KEYS is empty: was its file read?"),
        (" \n", "SLIPWAY_NAMED_KEYS is empty: was its file read?"),
        ("[]", "it must be an object"),
        ('{"ann": {"sha256": "x"}}', "64 hexadecimal digits"),
    ],
)
def test_named_keys_that_name_none_are_refused_since_every_caller_would_be_an_operator(
    text: str, why: str
) -> None:
    with pytest.raises(Failure, match=re.escape(why)):
        shell_settings({"SLIPWAY_NAMED_KEYS": text})


def test_named_keys_of_the_shell_are_not_replaced_in_silence_by_those_of_a_file() -> None:
    shell = shell_settings({"SLIPWAY_NAMED_KEYS": KEYS, "SLIPWAY_MAX_NODES": "3"})

    assert with_file(shell, {"SLIPWAY_MAX_NODES": "4"})["SLIPWAY_MAX_NODES"] == "4"
    assert with_file(shell, {"SLIPWAY_NAMED_KEYS": f"{KEYS}\n"})["SLIPWAY_NAMED_KEYS"].strip() == KEYS
    with pytest.raises(Failure, match="and another one in the file"):
        with_file(shell, {"SLIPWAY_NAMED_KEYS": "{}"})


@pytest.mark.parametrize(
    ("values", "keys"),
    [
        ({}, None),
        ({"SLIPWAY_NAMED_KEYS": "{}"}, None),
        ({"SLIPWAY_NAMED_KEYS": KEYS}, ""),
        (
            {
                "SLIPWAY_NAMED_KEYS": json.dumps(
                    {"ann": {"sha256": "0" * 64}, "dan": {"sha256": "1" * 64, "roles": ["Jobs.Admin"]}}
                )
            },
            "1" * 64,
        ),
        ({"SLIPWAY_TENANT": "f" * 8}, ""),
    ],
)
def test_the_hosts_own_api_needs_an_operators_key_where_the_app_knows_its_callers(
    values: dict[str, str], keys: str | None
) -> None:
    assert closed(values).get("LOCAL_HOST_ADMIN_KEYS") == keys
