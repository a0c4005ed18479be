"""The settings: one table, one reader, one example file."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from pathlib import Path

import pytest

from shared.configured import ConfiguredEngines
from shared.errors import Misconfigured
from shared.policy import Policy
from shared.settings import SETTINGS, Settings
from shared.wiring import build, policy_of

ROOT = Path(__file__).resolve().parents[2]
CONNECTION = "AccountName=acct;AccountKey=a2V5;BlobEndpoint=http://127.0.0.1:1/acct"


def test_the_example_file_names_every_setting() -> None:
    values = json.loads((ROOT / "local.settings.example.json").read_text())["Values"]
    assert set(values) - {"AzureWebJobsStorage", "FUNCTIONS_WORKER_RUNTIME"} == set(SETTINGS)


def test_the_operating_guide_names_every_setting() -> None:
    text = (ROOT / "docs" / "operating.md").read_text()
    assert [name for name in SETTINGS if f"`{name}`" not in text] == []


def test_the_defaults_make_a_policy() -> None:
    settings = Settings({"SLIPWAY_STORAGE": CONNECTION})
    policy = policy_of(settings, ConfiguredEngines(settings).clusters)
    assert policy.completion.storage_account == "acct"
    assert policy.limits.max_nodes == 100
    assert policy.completion.cluster_id is not None
    assert policy.completion.cluster_id.endswith("/workspaces/dev/clusters/dev-cluster-00")


def test_the_defaults_of_the_use_cases_are_those_of_the_settings() -> None:
    settings = Settings({"SLIPWAY_STORAGE": CONNECTION})
    policy = policy_of(settings, ConfiguredEngines(settings).clusters)
    assert replace(policy, completion=Policy().completion) == Policy()


def test_the_format_tells_the_size_of_a_document_that_is_allowed() -> None:
    size = int(SETTINGS["SLIPWAY_MAX_DOCUMENT_BYTES"][0])
    assert f"| bytes of a document | {size:,} (" in (ROOT / "docs" / "job-format.md").read_text()
    assert f"takes, {size >> 10} KiB unless" in (ROOT / "docs" / "rules" / "SW001.md").read_text()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SLIPWAY_SETTLE_SECONDS", "soon"),
        ("SLIPWAY_RULES_URL", "docs/rules"),
        ("SLIPWAY_SETTLE_SECONDS", "-1"),
        ("SLIPWAY_SETTLE_SECONDS", "nan"),
        ("SLIPWAY_NOTICES", "maybe"),
        ("SLIPWAY_DEFAULT_NOTIFY", "[canary"),
        ("SLIPWAY_SHARDS", "0"),
        ("SLIPWAY_RETENTION_DAYS", "7"),
        ("SLIPWAY_SWEEP_PARTS", "0"),
        ("SLIPWAY_SWEEP_PARTS", "5"),
        ("SLIPWAY_INVENTORY_DAYS", "31"),
        ("SLIPWAY_ARCHIVE_CONTAINER", "scripts"),
        ("SLIPWAY_WEBHOOK_PORTS", "https"),
        ("SLIPWAY_DEFAULT_NOTIFY", '[{"uri": "https://canary.example.com"}]'),
        ("SLIPWAY_DEFAULT_NOTIFY", '[{"url": "https://hooks.example.com/canary"}]'),
        ("SLIPWAY_DEFAULT_NOTIFY", '[{"url": "https://hooks.example.com", "secret": "nobody"}]'),
        ("SLIPWAY_WEBHOOK_SECRETS", '{"default": []}'),
        ("SLIPWAY_WEBHOOK_SECRETS", '{"default": "canary"}'),
        ("SLIPWAY_WEBHOOK_SECRETS", '{"default": {"canary": 1}}'),
        ("SLIPWAY_WEBHOOK_SECRETS", '["canary"]'),
        ("SLIPWAY_SOURCE", "has a space"),
        ("SLIPWAY_SOURCE", "@Microsoft.KeyVault(SecretUri=https://canary)"),
    ],
)
def test_a_wrong_value_is_an_error_that_names_the_setting(name: str, value: str) -> None:
    settings = Settings({"SLIPWAY_STORAGE": CONNECTION, name: value})
    with pytest.raises(Misconfigured, match=name) as caught:
        build(settings)
    assert "canary" not in str(caught.value)


def test_a_default_subscription_with_a_path_needs_a_key_that_seals_it() -> None:
    given = {
        "SLIPWAY_STORAGE": CONNECTION,
        "SLIPWAY_WEBHOOK_SECRETS": json.dumps({"default": "whsec_" + "a" * 32}),
        "SLIPWAY_DEFAULT_NOTIFY": '[{"url": "https://hooks.example.com/canary"}]',
    }
    with pytest.raises(
        Misconfigured, match=r"SLIPWAY_DEFAULT_NOTIFY: /0/url: .*no key can seal it"
    ) as caught:
        build(Settings(given))
    assert "canary" not in str(caught.value)
    sealing = {"SLIPWAY_SEAL_KEY": base64.b64encode(b"k" * 32).decode()}
    assert build(Settings(given | sealing)).policy.default_notify


def test_storage_may_be_reached_by_identity() -> None:
    addresses = {
        f"SLIPWAY_STORAGE__{kind}ServiceUri": f"https://acct.{kind}.core.windows.net"
        for kind in ("blob", "queue", "table")
    }
    assert Settings(addresses).connection()[1] == "https://acct.blob.core.windows.net"
    assert Settings(addresses).account() == ("acct", "")
    with pytest.raises(Misconfigured, match="SLIPWAY_STORAGE"):
        Settings({}).connection()
