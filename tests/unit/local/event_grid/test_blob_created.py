"""Writes of blobs as events, as the package of CloudEvents and the app read them."""

from __future__ import annotations

import json
from base64 import b64encode
from datetime import UTC, datetime
from pathlib import Path

from cloudevents.core.bindings.http import HTTPMessage, from_structured_event

from local.event_grid.blob_created import APIS, Write, blob_created, prefix, read_write
from shared.intake.message import read_message
from shared.intake.reading.wakeups import BlobWritten
from shared.jobspec import Limits

NOON = datetime(2026, 11, 20, 12, 0, 0, 123456, tzinfo=UTC)
ROOT = Path(__file__).parents[4]


def line(path: str) -> str:
    url = f"http://127.0.0.1:1/devstoreaccount1/{path}"
    return "written " + json.dumps({"api": "PutBlob", "url": url})


def test_the_package_reads_the_event_and_its_data() -> None:
    event = blob_created(Write("scripts", "a/job.json", {"api": "PutBlob", "contentLength": 3}), NOON, 7)

    body = json.dumps(event).encode()
    read = from_structured_event(HTTPMessage({"content-type": "application/cloudevents+json"}, body))

    assert (read.get_type(), read.get_time()) == ("Microsoft.Storage.BlobCreated", NOON)
    assert read.get_data() == event["data"]


def test_the_app_finds_the_blob_by_any_name() -> None:
    for name in ("a/job.json", "ü b/100%/x?y#z.py", "blobs/containers/x"):
        event = blob_created(Write("scripts", name, {"api": "PutBlob"}), NOON, 1)
        text = b64encode(json.dumps(event).encode())

        assert read_message(text, Limits()) == (BlobWritten("scripts", name),)


def test_a_later_write_has_a_later_sequencer() -> None:
    texts = [blob_created(Write("c", "b", {}), NOON, n)["data"]["sequencer"] for n in (9, 10, 2**63)]

    assert texts == sorted(texts)


def test_a_line_names_the_container_and_the_blob_as_they_are() -> None:
    write = read_write(line("scripts/a%20b/%C3%BC.py"))

    assert write is not None
    assert (write.container, write.blob) == ("scripts", "a b/ü.py")


def test_other_lines_report_nothing() -> None:
    assert read_write("Azurite Blob service is successfully listening at http://127.0.0.1:1") is None


def test_the_filter_is_that_of_the_template() -> None:
    template = (ROOT / "infra" / "events.bicep").read_text(encoding="utf-8")

    assert f"values: [{', '.join(repr(one) for one in APIS)}]" in template
    assert f"subjectBeginsWith: '{prefix('scripts')}'" in template
