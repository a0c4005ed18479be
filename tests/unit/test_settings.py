"""The settings: one table, one reader, one example file."""

from __future__ import annotations

import base64
import json
import logging
import os
import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from shared.adapters.sealing import AesSeal
from shared.adapters.storage.rows import notice_row, partition
from shared.configured import ConfiguredEngines
from shared.core.errors import Misconfigured
from shared.core.notify.cloudevents import LARGEST_EVENT
from shared.core.notify.events import Delivery, Notice, Try
from shared.core.notify.schedule import Schedule
from shared.core.notify.webhook_url import UrlPolicy, refusal
from shared.core.policy import Policy
from shared.intake import deployment_limits
from shared.setting import BOUNDS
from shared.setting.table import SETTINGS
from shared.settings import TABLE, Settings
from shared.wiring import build, policy_of
from slipway import settings_page

ROOT = Path(__file__).resolve().parents[2]
CONNECTION = "AccountName=acct;AccountKey=a2V5;BlobEndpoint=http://127.0.0.1:1/acct"


def test_the_page_and_the_example_file_are_those_of_the_table() -> None:
    assert settings_page.PAGE.read_text() == settings_page.page()
    assert settings_page.EXAMPLE.read_text() == settings_page.example()


def test_a_name_that_is_no_setting_is_named_with_the_nearest_one() -> None:
    right = {"SLIPWAY_STORAGE__blobServiceUri": "", "SLIPWAY_CLUSTER": "gpu", "HOME": "/"}
    wrong = {"SLIPWAY_RETENTION_DAY": "SLIPWAY_RETENTION_DAYS", "SLIPWAY_ZZZ": ""}
    assert Settings(right | dict.fromkeys(wrong, "")).unknown() == wrong


def test_what_describes_clusters_as_earlier_versions_did_is_named_with_its_new_form() -> None:
    old = {"SLIPWAY_CLUSTER_NODES": "4", "SLIPWAY_SLURM": '{"gpu": {}}', "SLIPWAY_CLUSTERS": "a, b"}
    named = Settings({**old, "SLIPWAY_CLUSTER_GPUS": "0"}).earlier()
    assert set(named) == set(old)
    assert '"maxNodes"' in named["SLIPWAY_CLUSTER_NODES"]
    assert '"engine": "slurm"' in named["SLIPWAY_SLURM"]
    assert json.loads(named["SLIPWAY_CLUSTERS"].partition(": ")[2]) == {
        name: {"engine": "batchai"} for name in ("a", "b")
    }
    assert Settings({"SLIPWAY_CLUSTERS": '{"a": {"engine": "batchai"}}'}).earlier() == {}
    assert {name for name, one in TABLE.items() if one.group == "earlier"} == {
        name for name, one in TABLE.items() if one.successor
    }


@pytest.mark.parametrize("name", [name for name in TABLE if TABLE[name].kind not in ("text", "names")])
def test_every_setting_is_read_at_start_as_its_kind(name: str) -> None:
    settings = Settings({"SLIPWAY_STORAGE": CONNECTION, name: "[no such value"})
    with pytest.raises(Misconfigured, match=name):
        build(settings)


COUNTED = {name: one for name, one in TABLE.items() if one.kind in BOUNDS}


@pytest.mark.parametrize("name", [name for name, one in COUNTED.items() if one.kind != "durations"])
def test_the_bounds_of_the_table_are_those_of_the_check(name: str) -> None:
    least, most = COUNTED[name].limits
    for wrong in (least - 1, most * 1.01 + 1):
        with pytest.raises(Misconfigured, match=name):
            Settings({name: f"{wrong:.0f}"}).check()
    for right in (least, most):
        Settings({name: f"{right:.12g}"}).check()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SLIPWAY_SHARDS", "1000000000"),
        ("SLIPWAY_SWEEP_PARTS", "1000000000"),
        ("SLIPWAY_MAX_DOCUMENT_BYTES", "100000000"),
        ("SLIPWAY_MAX_RECEIVERS", "51"),
        ("SLIPWAY_MAX_DOCUMENT_BYTES", "0"),
        ("SLIPWAY_MAX_SCRIPT_BYTES", "0"),
        ("SLIPWAY_MAX_NODES", "0"),
        ("SLIPWAY_MAX_NODE_HOURS", "0"),
        ("SLIPWAY_MAX_WALL_CLOCK_HOURS", "0"),
        ("SLIPWAY_MAX_WALL_CLOCK_HOURS", "100000000000"),
    ],
)
def test_a_limit_under_which_no_job_could_run_or_be_kept_is_refused_at_start(name: str, value: str) -> None:
    with pytest.raises(Misconfigured, match=name):
        Settings({name: value}).check()


def test_a_document_may_be_allowed_as_long_as_the_ledger_keeps_it() -> None:
    assert SETTINGS["SLIPWAY_MAX_DOCUMENT_BYTES"].limits.most == deployment_limits._LONGEST


def test_an_event_of_as_many_receivers_as_a_job_may_name_fits_into_an_entity() -> None:
    moment, most = datetime(2026, 11, 20, tzinfo=UTC), int(SETTINGS["SLIPWAY_MAX_RECEIVERS"].limits.most)
    address = AesSeal([base64.b64encode(bytes(32)).decode()]).seal("h" * UrlPolicy().max_length, "j/notify/0")
    delivery = Delivery(
        url=f"https://{'h' * 253}/…", secret="s" * 100, sealed=address, due=moment, last="w" * 200
    )
    for _ in range(20):
        delivery = delivery.with_try(Try(at=moment, status=500, ms=15_000, detail="w" * 120))
    notice = Notice(
        job_id="j" * 40,
        sequence=1,
        event_id="e" * 30,
        type="io.slipway.job.succeeded.v1",
        body='"' * LARGEST_EVENT,
        deliveries=(delivery,) * most,
        due=moment,
        since=moment,
    )

    row = notice_row(notice, 16)

    assert most >= 50
    assert 2 * sum(len(name) + len(str(value)) for name, value in row.items()) < 1 << 20


def test_the_partitions_of_as_many_shards_as_may_be_have_keys_of_one_length() -> None:
    most = int(SETTINGS["SLIPWAY_SHARDS"].limits.most)
    assert len(partition(most - 1)) == len(partition(0)) < len(partition(most))


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("SLIPWAY_SHARDS", "1 to 1000"),
        ("SLIPWAY_MAX_NODES", "at least 1"),
        ("SLIPWAY_WEBHOOK_PORTS", "1 to 65535"),
    ],
)
def test_the_bounds_of_the_table_are_on_the_page(kind: str, message: str) -> None:
    (row,) = [line for line in settings_page.page().splitlines() if line.startswith(f"| `{kind}` ")]
    assert message in row


def test_no_row_of_the_table_can_be_changed() -> None:
    with pytest.raises(TypeError):
        SETTINGS["SLIPWAY_CLUSTER"] = TABLE["SLIPWAY_CLUSTER"]  # type: ignore[index]
    with pytest.raises(TypeError):
        TABLE["SLIPWAY_CLUSTER"] = SETTINGS["SLIPWAY_CLUSTER"]  # type: ignore[index]


def test_a_choice_is_read_in_any_case_as_the_table_writes_it() -> None:
    assert Settings({"SLIPWAY_BLOB_SOURCE": "logsandcontainerscan"}).choice("SLIPWAY_BLOB_SOURCE") == (
        "LogsAndContainerScan"
    )


def test_the_values_are_not_in_what_is_printed_of_settings() -> None:
    assert "canary" not in repr(Settings({"SLIPWAY_SEAL_KEY": "canary"}))


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
    assert (
        f"| bytes of a document | {size:,} (" in (ROOT / "docs" / "reference" / "job-format.md").read_text()
    )
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


def test_building_the_ports_leaves_the_process_as_it_is() -> None:
    connection = (
        "InstrumentationKey=00000000-0000-0000-0000-000000000001;IngestionEndpoint=http://127.0.0.1:1"
    )
    values = {
        "SLIPWAY_STORAGE": CONNECTION,
        "SLIPWAY_INSIGHTS": "true",
        "APPLICATIONINSIGHTS_CONNECTION_STRING": connection,
        "SLIPWAY_JSON_LOGS": "true",
    }

    def process() -> tuple[object, ...]:
        root = logging.getLogger()
        return dict(os.environ), threading.enumerate(), root.level, list(root.handlers)

    before = process()
    build(Settings(values))
    build(Settings({**values, "SLIPWAY_OTLP_URL": "http://127.0.0.1:1"}))
    assert process() == before


def test_a_default_subscription_with_a_path_needs_a_key_that_seals_it() -> None:
    values = {
        "SLIPWAY_STORAGE": CONNECTION,
        "SLIPWAY_WEBHOOK_SECRETS": json.dumps({"default": "whsec_" + "a" * 32}),
        "SLIPWAY_DEFAULT_NOTIFY": '[{"url": "https://hooks.example.com/canary"}]',
    }
    with pytest.raises(
        Misconfigured, match=r"SLIPWAY_DEFAULT_NOTIFY: /0/url: .*no key can seal it"
    ) as caught:
        build(Settings(values))
    assert "canary" not in str(caught.value)
    sealing = {"SLIPWAY_SEAL_KEY": base64.b64encode(b"k" * 32).decode()}
    assert build(Settings(values | sealing)).policy.default_notify


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
