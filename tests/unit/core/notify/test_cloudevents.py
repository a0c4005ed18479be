"""Events as the CloudEvents package reads them, and the attributes that the specification forbids."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta, timezone
from typing import Any, TypedDict

import pytest
from cloudevents.core.bindings.http import HTTPMessage, from_structured_event
from hypothesis import given
from hypothesis import strategies as st

from shared.core.notify.cloudevents import CONTENT_TYPE, LARGEST_EVENT, cloud_event, event_id

NOON = datetime(2026, 11, 20, 12, 0, 0, 123456, tzinfo=UTC)


class Attributes(TypedDict, total=False):
    id: str
    source: str
    type: str
    subject: str
    time: datetime
    data: dict[str, Any]


def written(**changes: Any) -> bytes:
    event: Attributes = {
        "id": "evt_abc",
        "source": "/slipway/dev",
        "type": "io.slipway.job.succeeded.v1",
        "subject": "jobs/j_1",
        "time": NOON,
        "data": {"sequence": 3, "name": "mnist"},
    }
    event.update(changes)  # type: ignore[typeddict-item]
    return cloud_event(**event)


def test_the_cloudevents_package_reads_every_attribute_back() -> None:
    event = from_structured_event(HTTPMessage(headers={"content-type": CONTENT_TYPE}, body=written()))

    assert event.get_specversion() == "1.0"
    assert event.get_id() == "evt_abc"
    assert event.get_source() == "/slipway/dev"
    assert event.get_type() == "io.slipway.job.succeeded.v1"
    assert event.get_subject() == "jobs/j_1"
    assert event.get_time() == NOON.replace(microsecond=123000)
    assert event.get_datacontenttype() == "application/json"
    assert event.get_data() == {"sequence": 3, "name": "mnist"}


@given(
    data=st.dictionaries(
        st.text(st.characters(codec="utf-8"), max_size=10),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.text(st.characters(codec="utf-8"), max_size=20),
            lambda inner: st.lists(inner, max_size=3),
            max_leaves=5,
        ),
        max_size=4,
    )
)
def test_any_json_data_survives_the_journey(data: dict[str, Any]) -> None:
    event = from_structured_event(
        HTTPMessage(headers={"content-type": CONTENT_TYPE}, body=written(data=data))
    )

    assert event.get_data() == data


def test_the_bytes_do_not_depend_on_the_order_of_keys() -> None:
    assert written(data={"a": 1, "b": {"c": 2, "d": 3}}) == written(data={"b": {"d": 3, "c": 2}, "a": 1})


def test_time_is_written_in_utc_with_milliseconds() -> None:
    east = timezone(timedelta(hours=9))

    assert (
        json.loads(written(time=datetime(2026, 11, 20, 21, tzinfo=east)))["time"]
        == "2026-11-20T12:00:00.000Z"
    )
    assert json.loads(written())["time"] == "2026-11-20T12:00:00.123Z"


@pytest.mark.parametrize("name", ["id", "source", "type", "subject"])
@pytest.mark.parametrize("value", ["", "a\x00b", "a\nb", "a\x7fb", "a\x9fb", "a\ud800b", "a\uffffb"])
def test_an_attribute_that_the_specification_forbids_is_refused(name: str, value: str) -> None:
    with pytest.raises(ValueError, match=name):
        written(**{name: value})


@pytest.mark.parametrize("source", ["two words", "a\\b", "<tag>", "é", "100%", "%zz", 'say"so"', "a|b"])
def test_a_source_that_is_no_uri_reference_is_refused(source: str) -> None:
    with pytest.raises(ValueError, match="source"):
        written(source=source)


@pytest.mark.parametrize("source", ["/slipway", "https://a.example/x?y#z", "urn:slipway:dev", "a%20b"])
def test_a_uri_reference_is_a_source(source: str) -> None:
    assert json.loads(written(source=source))["source"] == source


def test_a_time_without_a_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="time"):
        written(time=NOON.replace(tzinfo=None))


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "\ud800"])
def test_data_that_json_cannot_carry_is_refused(value: object) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - two libraries' own words
        written(data={"value": value})


def test_an_event_of_the_largest_size_is_written_and_one_byte_more_is_refused() -> None:
    room = LARGEST_EVENT - len(written(data={"text": ""}))

    assert len(written(data={"text": "x" * room})) == LARGEST_EVENT
    with pytest.raises(ValueError, match="20000"):
        written(data={"text": "x" * (room + 1)})
    with pytest.raises(ValueError, match="20000"):
        written(data={"text": "é" * (room // 2 + 1)})


def test_an_event_id_is_the_same_every_time_and_differs_with_each_part() -> None:
    parts = [("j_1", 3, "failed.v1"), ("j_2", 3, "failed.v1"), ("j_1", 4, "failed.v1"), ("j_1", 3, "lost.v1")]
    ids = [event_id(*each) for each in parts]

    assert ids == [event_id(*each) for each in parts]
    assert len(set(ids)) == 4
    assert all(re.fullmatch(r"evt_[a-z2-7]{26}", each) for each in ids)


def test_an_event_id_keeps_its_value_over_versions() -> None:
    assert event_id("j_1", 3, "io.slipway.job.failed.v1") == "evt_sn7l5cp3mrmegemzvyxf5sk2bw"
