"""The table of settings: its rows, its bounds, its page, and how each value is read at start."""

from __future__ import annotations

import base64
from datetime import UTC, datetime

import pytest
from azure.functions.decorators.timer import TimerTrigger

from local.host.triggers.ncrontab import parse_ncrontab
from local.host.triggers.schedule import parse_schedule
from shared.adapters.sealing import AesSeal
from shared.adapters.storage.rows import notice_row, partition
from shared.core.errors import Misconfigured
from shared.core.notify.cloudevents import LARGEST_EVENT
from shared.core.notify.events import Delivery, Notice, Try
from shared.core.notify.webhook_url import UrlPolicy
from shared.intake.desk import deployment_limits
from shared.setting_table import BOUNDS
from shared.setting_table.crontab import crontab_flaw
from shared.setting_table.rows import SETTINGS
from shared.settings import TABLE, Settings
from shared.wiring import build
from slipway import settings_page
from tests.unit.routes import TRIGGER_BY_EVENT

CONNECTION = "AccountName=acct;AccountKey=a2V5;BlobEndpoint=http://127.0.0.1:1/acct"
COUNTED = {name: one for name, one in TABLE.items() if one.kind in BOUNDS}


def test_the_page_and_the_example_file_are_those_of_the_table() -> None:
    generator = "run: python -m slipway.settings_page"
    assert settings_page.PAGE.read_text() == settings_page.page(), generator
    assert settings_page.EXAMPLE.read_text() == settings_page.example(), generator


@pytest.mark.parametrize("name", [name for name in TABLE if TABLE[name].kind not in ("text", "names")])
def test_every_setting_is_read_at_start_as_its_kind(name: str) -> None:
    settings = Settings({"SLIPWAY_STORAGE": CONNECTION, name: "[no such value"})
    with pytest.raises(Misconfigured, match=name):
        build(settings)


JSON = [name for name, one in TABLE.items() if one.kind in ("table", "document", "objects")]


@pytest.mark.parametrize("name", JSON)
def test_a_setting_that_is_not_json_says_where_it_stops_to_be_and_never_shows_itself(name: str) -> None:
    for text in ('{"a": {\n  "b" "s3cret"}}', '[{"a":\n  1 1}, "s3cret"]'):
        with pytest.raises(Misconfigured, match=f"{name} is not JSON: line 2, column [57]: expecting") as bad:
            build(Settings({"SLIPWAY_STORAGE": CONNECTION, name: text}))
        assert "s3cret" not in str(bad.value)


def test_every_setting_that_is_said_to_be_json_is_of_a_kind_that_is_read_so() -> None:
    assert {name for name, one in TABLE.items() if "JSON" in one.about} <= {*JSON}


@pytest.mark.parametrize("name", [name for name, one in COUNTED.items() if one.kind != "durations"])
def test_the_bounds_of_the_table_are_those_of_the_check(name: str) -> None:
    least, most = COUNTED[name].limits
    for wrong in (least - 1, most * 1.01 + 1):
        with pytest.raises(Misconfigured, match=name):
            Settings({name: f"{wrong:.0f}"}).check()
    for right in (least, most):
        Settings({name: f"{right:.12g}"}).check()


@pytest.mark.parametrize("name", [name for name, one in TABLE.items() if one.kind == "whole"])
@pytest.mark.parametrize("text", ["15.7", "0.5", "1_5", "\uff11\uff15", "0x10", "nan", "\ufeff15"])
def test_a_number_that_is_not_whole_is_not_cut(name: str, text: str) -> None:
    with pytest.raises(Misconfigured, match=name):
        Settings({name: text}).check()


LISTS = ("names", "containers", "ports", "durations")


@pytest.mark.parametrize("name", [name for name, one in TABLE.items() if one.kind not in LISTS])
def test_white_space_around_a_setting_is_no_part_of_it(name: str) -> None:
    row = TABLE[name]
    text = row.example or row.default or ("{}" if row.kind == "table" else "https://some.example.com")
    assert Settings({name: f" {text}\r\n"}).value(name) == Settings({name: text}).value(name)
    if name not in JSON:
        assert Settings({name: " \n"}).value(name) == Settings({}).value(name)


@pytest.mark.parametrize(("text", "number"), [(".5", 0.5), ("5.", 5), ("+1e1", 10), (" 2 ", 2)])
def test_a_number_is_read_in_the_ways_that_people_write_it(text: str, number: float) -> None:
    assert Settings({"SLIPWAY_SETTLE_SECONDS": text}).seconds("SLIPWAY_SETTLE_SECONDS") == number


def test_a_connection_string_and_a_cluster_may_come_with_a_line_break() -> None:
    settings = {"SLIPWAY_STORAGE": f"{CONNECTION}\n", "SLIPWAY_CLUSTERS": '{"a": {"engine": "batchai"}}'}

    assert Settings(settings).connection().string == CONNECTION
    services = [f"SLIPWAY_STORAGE__{one}ServiceUri" for one in ("blob", "queue", "table")]
    assert Settings(dict.fromkeys(services, "https://a.x\r\n")).connection() == ("", *["https://a.x"] * 3)
    with pytest.raises(Misconfigured, match="SLIPWAY_STORAGE is not set"):
        Settings(dict.fromkeys(services, " \n")).connection()
    assert next(iter(build(Settings({**settings, "SLIPWAY_CLUSTER": "a\n"})).engines.clusters)) == "a"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SLIPWAY_SHARDS", "1000000000"),
        ("SLIPWAY_MAX_DOCUMENT_BYTES", "100000000"),
        ("SLIPWAY_MAX_RECEIVERS", "51"),
        ("SLIPWAY_MAX_DOCUMENT_BYTES", "0"),
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


#: Times that the host takes, and others that it refuses, turning the function off without a word.
GOOD = (
    *(
        "0 * * * * *",
        "0 0 0 * * su",
        "0 0 0 1 Marc *",
        "*/10 * * * * *",
        "0 */5 * * *",
        "0 30 9 * * Mon-Fri",
        "0 0 0 1 JAN 0,6",
    ),
    *("5-10/2 * * * * *", " 0  0 * * * * "),
)
BAD = (
    *("0 * * * * sunfoo", "0 * * * janx *"),
    *("0 0 0 * * 7", "0 0 0 * * 0,7", "60 * * * * *", "0 0 24 * * *", "0 0 0 0 * *", "0 0 0 1 13 *"),
    *("0 0 0 * * * *", "* * * *", "*/0 * * * * *", "0 0 0 ? * *", "0 0 0 L * *", "@daily", "0 0 0 * * Son"),
    *("x", "-1 * * * * *", "0 * * * *\t*", "0\t*\t*\t*\t*\t*", "0 * * * *\n*"),
)


@pytest.mark.parametrize("name", [name for name, one in TABLE.items() if one.kind == "crontab"])
@pytest.mark.parametrize("text", [*GOOD, *BAD])
def test_times_of_a_timer_are_those_that_the_host_takes(name: str, text: str) -> None:
    settings = Settings({name: text})
    if text in GOOD:
        settings.check()
        parse_ncrontab(text)
        return
    with pytest.raises(Misconfigured, match=f"{name}: .*the Functions host would turn the timer off"):
        settings.check()
    with pytest.raises(ValueError, match="field"):
        parse_ncrontab(text)


@pytest.mark.parametrize(
    ("text", "plan", "flaw"),
    [
        ("00:01:00", "", ""),
        ("0:30", "ElasticPremium", ""),
        ("00:01:00", "FlexConsumption", "wakes no app after a time span; write six fields"),
        ("00:01:00", "Dynamic", "wakes no app after a time span"),
        ("24:00:00", "", "'24:00:00' is not a time span from 00:00:01 to 23:59:59"),
        ("1.00:00:00", "", "is not a time span"),
        ("00:00:00", "", "is not a time span"),
        ("00:60:00", "", "is not a time span"),
    ],
)
def test_a_time_span_is_taken_where_the_app_is_always_awake(text: str, plan: str, flaw: str) -> None:
    settings = Settings({"SLIPWAY_SWEEPER_SCHEDULE": text, "WEBSITE_SKU": plan})
    if not flaw:
        settings.check()
        parse_schedule(text)
        return
    with pytest.raises(Misconfigured, match=f"SLIPWAY_SWEEPER_SCHEDULE: .*{flaw}") as refused:
        settings.check()
    assert "would turn the timer off" not in str(refused.value)


def test_a_sunday_of_7_is_named() -> None:
    with pytest.raises(Misconfigured, match="'7' is not a weekday from 0 to 6; Sunday is 0"):
        Settings({"SLIPWAY_SWEEPER_SCHEDULE": "0 0 0 * * 7"}).check()


def test_every_timer_of_the_app_has_times_that_the_host_takes() -> None:
    timers = [one for one in TRIGGER_BY_EVENT.values() if isinstance(one, TimerTrigger)]

    assert len(timers) == 1
    assert {one.schedule: crontab_flaw(one.schedule) for one in timers} == dict.fromkeys(
        (one.schedule for one in timers), ""
    )
