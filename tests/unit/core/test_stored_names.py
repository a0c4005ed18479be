"""What the tables hold is read and written under the names that it has always had."""

import json

import pytest

from shared.core.job import Job, Receiver
from shared.core.notify.events import Notice
from tests.unit.world import World, job_json

_TRY = {"at": "2026-01-01T00:00:00Z", "status": 503, "ms": 7, "said": "5xx"}
_DELIVERY = {
    **{"url": "https://r.example", "secret": None, "sealed": None, "place": "k/notify/0", "attempts": 1},
    **{"due": "2026-01-01T00:01:00Z", "state": "pending", "last": "5xx", "tries": [_TRY]},
}
_NOTICE = {
    **{"job_id": "j_1", "sequence": 3, "event_id": "e", "type": "t", "body": "{}"},
    **{"targets": [_DELIVERY], "due": "2026-01-01T00:01:00Z", "since": "2026-01-01T00:00:00Z"},
}


def test_an_event_has_in_its_row_the_names_of_every_version() -> None:
    notice = Notice.model_validate_json(json.dumps(_NOTICE))

    (delivery,) = notice.deliveries
    assert (delivery.try_count, delivery.tries[0].detail) == (1, "5xx")
    assert delivery.context == "k/notify/0"
    assert json.loads(notice.model_dump_json()) == _NOTICE


def test_a_receiver_has_in_its_record_the_names_of_every_version() -> None:
    stored = {"url": "https://r.example", "sealed": "AAAA", "place": "k/notify/0"}

    receiver = Receiver.model_validate_json(json.dumps(stored))

    assert receiver.context == "k/notify/0"
    assert json.loads(receiver.model_dump_json(exclude_defaults=True)) == stored


@pytest.mark.parametrize("slot", ["2026-01-01T01:00:00Z", None])
async def test_a_job_has_its_slot_in_its_record_under_the_name_of_every_version(
    world: World, slot: str | None
) -> None:
    job = (await world.message(job_json(), "m1")).job
    record = json.loads(job.model_dump_json(exclude_defaults=True)) | ({"turn": slot} if slot else {})

    stored = Job.model_validate_json(json.dumps(record))

    assert (stored.slot is None) is (slot is None)
    assert json.loads(stored.model_dump_json(exclude_defaults=True)) == record
