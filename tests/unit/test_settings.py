"""What is made of the settings of the environment: types, and errors that name the setting."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest

from shared.configured import ConfiguredEngines
from shared.core.errors import Misconfigured
from shared.core.notify.schedule import Schedule
from shared.core.notify.webhook_url import refusal
from shared.core.policy import Policy
from shared.settings import TABLE, Settings
from shared.wiring import build, policy_of

ROOT = Path(__file__).resolve().parents[2]
CONNECTION = "AccountName=acct;AccountKey=a2V5;BlobEndpoint=http://127.0.0.1:1/acct"


def test_a_name_that_is_no_setting_is_named_with_the_nearest_one() -> None:
    right = {"SLIPWAY_STORAGE__blobServiceUri": "", "SLIPWAY_CLUSTER": "gpu", "HOME": "/"}
    wrong = {"SLIPWAY_RETENTION_DAY": "SLIPWAY_RETENTION_DAYS", "SLIPWAY_ZZZ": ""}
    assert Settings(right | dict.fromkeys(wrong, "")).unknown() == wrong


def test_a_choice_is_read_in_any_case_as_the_table_writes_it() -> None:
    assert Settings({"SLIPWAY_BLOB_SOURCE": "logsandcontainerscan"}).choice("SLIPWAY_BLOB_SOURCE") == (
        "LogsAndContainerScan"
    )


def test_the_values_are_not_in_what_is_printed_of_settings() -> None:
    assert "canary" not in repr(Settings({"SLIPWAY_SEAL_KEY": "canary"}))


@pytest.mark.parametrize("text", ["30m", "PT", "P1M", "P200000D", "-PT1S"])
def test_a_length_of_time_is_refused_that_is_none(text: str) -> None:
    with pytest.raises(Misconfigured, match="SLIPWAY_MAX_HOLD must be an ISO 8601 duration of at most"):
        Settings({"SLIPWAY_MAX_HOLD": text}).check()


def test_a_schedule_of_ones_own_is_read_in_seconds_minutes_hours_and_days() -> None:
    settings = Settings({"SLIPWAY_WEBHOOK_SCHEDULE": "1.5s, 90s,2m ,3h,4d"})
    assert settings.schedule() == Schedule((1.5, 90.0, 120.0, 3 * 3600.0, 4 * 86400.0))


def test_a_schedule_may_be_longer_than_the_retention_where_records_are_kept_for_good() -> None:
    settings = Settings({"SLIPWAY_WEBHOOK_SCHEDULE": "30d,30d", "SLIPWAY_RETENTION_DAYS": "0"})
    assert settings.schedule().life == timedelta(days=72)


@pytest.mark.parametrize(
    "name",
    [name for name in TABLE if name.startswith("SLIPWAY_") and name.endswith(("_SECONDS", "_DAYS"))],
)
def test_a_time_that_no_calendar_holds_is_refused_with_the_name_of_its_setting(name: str) -> None:
    settings = Settings({"SLIPWAY_STORAGE": CONNECTION, name: "99999999999"})
    with pytest.raises(Misconfigured, match=name):
        build(settings)


def test_the_format_tells_the_size_of_a_document_that_is_allowed() -> None:
    size = int(TABLE["SLIPWAY_MAX_DOCUMENT_BYTES"].default)
    page = (ROOT / "docs" / "reference" / "job-format.md").read_text()
    assert f"| bytes of a document | {size:,} (" in page
    assert f"| bytes of a dropped script | {Policy.max_script:,} |" in page
    assert f"accepts: {size >> 10} KiB, unless" in (ROOT / "docs" / "rules" / "SW001.md").read_text()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SLIPWAY_SETTLE_SECONDS", "soon"),
        ("SLIPWAY_RULES_URL", "docs/rules"),
        ("SLIPWAY_SETTLE_SECONDS", "-1"),
        ("SLIPWAY_SETTLE_SECONDS", "nan"),
        ("SLIPWAY_NOTICES", "maybe"),
        ("SLIPWAY_RECEIPTS", "some"),
        ("SLIPWAY_BLOB_SOURCE", "EventHub"),
        ("SLIPWAY_DEFAULT_NOTIFY", "[canary"),
        ("SLIPWAY_SHARDS", "0"),
        ("SLIPWAY_WEBHOOK_SCHEDULE", "5"),
        ("SLIPWAY_WEBHOOK_SCHEDULE", "5s,,1h"),
        ("SLIPWAY_WEBHOOK_SCHEDULE", "5s;1h"),
        ("SLIPWAY_WEBHOOK_SCHEDULE", "0s"),
        ("SLIPWAY_WEBHOOK_SCHEDULE", "31d"),
        ("SLIPWAY_WEBHOOK_SCHEDULE", ",".join(["1m"] * 51)),
        ("SLIPWAY_WEBHOOK_SCHEDULE", "13d,13d"),
        ("SLIPWAY_RETENTION_DAYS", "7"),
        ("SLIPWAY_INVENTORY_DAYS", "31"),
        ("SLIPWAY_ARCHIVE_CONTAINER", "scripts"),
        ("SLIPWAY_SNAPSHOTS_CONTAINER", "scripts"),
        ("SLIPWAY_SNAPSHOTS_CONTAINER", "runs"),
        ("SLIPWAY_SNAPSHOTS_CONTAINER", "archive"),
        ("SLIPWAY_ARCHIVE_CONTAINER", "runs"),
        ("SLIPWAY_ARCHIVE_CONTAINER", "snapshots"),
        ("SLIPWAY_RECEIPTS_CONTAINER", "snapshots"),
        ("SLIPWAY_WEBHOOK_PORTS", "https"),
        ("SLIPWAY_DEFAULT_NOTIFY", '[{"uri": "https://canary.example.com"}]'),
        ("SLIPWAY_DEFAULT_NOTIFY", '[{"url": "https://hooks.example.com/canary"}]'),
        ("SLIPWAY_DEFAULT_NOTIFY", '[{"url": "https://hooks.example.com", "secret": "nobody"}]'),
        ("SLIPWAY_WEBHOOK_SECRETS", '{"default": []}'),
        ("SLIPWAY_WEBHOOK_SECRETS", '{"default": "canary"}'),
        ("SLIPWAY_WEBHOOK_SECRETS", '{"default": {"canary": 1}}'),
        ("SLIPWAY_WEBHOOK_SECRETS", '["canary"]'),
        ("SLIPWAY_CHANNELS", "[canary"),
        ("SLIPWAY_CHANNELS", '["canary"]'),
        ("SLIPWAY_CHANNELS", '{"ops": {"kind": "canary"}}'),
        ("SLIPWAY_CHANNELS", '{"ops": {"kind": "slack", "url": "http://canary"}}'),
        ("SLIPWAY_DEFAULT_NOTIFY", '[{"url": "channel:room"}]'),
        ("SLIPWAY_NAMED_KEYS", ""),
        ("SLIPWAY_NAMED_KEYS", " \n"),
        ("SLIPWAY_NAMED_KEYS", "canary"),
        ("SLIPWAY_NAMED_KEYS", '["canary"]'),
        ("SLIPWAY_NAMED_KEYS", '{"ann": "canary"}'),
        ("SLIPWAY_NAMED_KEYS", '{"ann": {"sha256": "canary"}}'),
        ("SLIPWAY_SOURCE", "has a space"),
        ("SLIPWAY_SOURCE", "@Microsoft.KeyVault(SecretUri=https://canary)"),
    ],
)
def test_a_wrong_value_is_an_error_that_names_the_setting(name: str, value: str) -> None:
    settings = Settings({"SLIPWAY_STORAGE": CONNECTION, name: value})
    with pytest.raises(Misconfigured, match=name) as caught:
        build(settings)
    assert "canary" not in str(caught.value)


def test_callers_have_keys_or_tokens_and_not_both() -> None:
    keys = {"SLIPWAY_NAMED_KEYS": json.dumps({"ann": {"sha256": "0" * 64}})}
    tokens = {"SLIPWAY_TENANT": "tenant", "SLIPWAY_AUDIENCE": "api://app"}

    ports = build(Settings({"SLIPWAY_STORAGE": CONNECTION, **keys}))
    assert ports.keys is not None
    assert ports.tokens is None
    with pytest.raises(Misconfigured, match="callers have either keys or tokens"):
        build(Settings({"SLIPWAY_STORAGE": CONNECTION, **keys, **tokens}))


def test_tokens_without_a_tenant_do_not_let_function_keys_do_everything() -> None:
    halves = {"SLIPWAY_TENANT": "", "SLIPWAY_AUDIENCE": "api://app"}
    with pytest.raises(Misconfigured, match="SLIPWAY_TENANT is not"):
        build(Settings({"SLIPWAY_STORAGE": CONNECTION, **halves}))
    both = {"SLIPWAY_TENANT": "", "SLIPWAY_AUDIENCE": ""}
    assert build(Settings({"SLIPWAY_STORAGE": CONNECTION, **both})).tokens is None


def test_storage_may_be_reached_by_identity() -> None:
    addresses = {
        f"SLIPWAY_STORAGE__{kind}ServiceUri": f"https://acct.{kind}.core.windows.net"
        for kind in ("blob", "queue", "table")
    }
    assert Settings(addresses).connection()[1] == "https://acct.blob.core.windows.net"
    assert Settings(addresses).account() == ("acct", "")
    with pytest.raises(Misconfigured, match="SLIPWAY_STORAGE"):
        Settings({}).connection()


@pytest.mark.parametrize(
    ("values", "suffix"),
    [
        ({"SLIPWAY_STORAGE": CONNECTION}, "core.windows.net"),
        ({"SLIPWAY_STORAGE": "UseDevelopmentStorage=true"}, "core.windows.net"),
        (
            {"SLIPWAY_STORAGE": "AccountName=a;AccountKey=aw==;EndpointSuffix=core.chinacloudapi.cn"},
            "core.chinacloudapi.cn",
        ),
        (
            {
                "SLIPWAY_STORAGE": "AccountName=a;AccountKey=aw==;BlobEndpoint=https://a.blob.core.usgovcloudapi.net/"
            },
            "core.usgovcloudapi.net",
        ),
        (
            {
                f"SLIPWAY_STORAGE__{kind}ServiceUri": f"https://acct.{kind}.core.usgovcloudapi.net"
                for kind in ("blob", "queue", "table")
            },
            "core.usgovcloudapi.net",
        ),
    ],
)
def test_the_cloud_of_the_mounts_is_that_of_the_storage(values: dict[str, str], suffix: str) -> None:
    settings = Settings(values)

    assert settings.storage_suffix() == suffix
    assert policy_of(settings, ConfiguredEngines(settings).clusters).completion.storage_suffix == suffix


def test_the_name_that_app_service_gave_the_app_is_one_of_our_own() -> None:
    values = {"SLIPWAY_STORAGE": CONNECTION, "SLIPWAY_OWN_HOSTS": "jobs.example.org"}

    assert Settings(values).own_hosts() == {"jobs.example.org"}
    settings = Settings({**values, "WEBSITE_HOSTNAME": "slipway.azurewebsites.net"})
    urls = policy_of(settings, ConfiguredEngines(settings).clusters).urls
    for host in ("slipway.azurewebsites.net", "slipway.scm.azurewebsites.net", "jobs.example.org"):
        assert "this service itself" in (refusal(f"https://{host}/api/jobs", urls) or "")
    assert Settings({**values, "WEBSITE_HOSTNAME": "localhost:7071"}).own_hosts() >= {"localhost"}


@pytest.mark.parametrize("name", ["SLIPWAY_IDLE_GPU_MINUTES", "SLIPWAY_IDLE_LOG_MINUTES"])
def test_a_time_in_which_every_job_loads_its_data_is_refused_for_idle_ones(name: str) -> None:
    for minutes in range(1, 10):
        with pytest.raises(Misconfigured, match=f"{name} is {minutes}: .* write 10 or more, or 0 for never"):
            Settings({name: str(minutes)}).minutes(name)
    assert [Settings({name: minutes}).minutes(name) for minutes in ("0", "10")] == [0, 600]
