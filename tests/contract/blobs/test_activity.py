"""The trail of acts in append blobs (Azurite): many processes write, and no line that is there changes."""

from __future__ import annotations

import asyncio
import json
import uuid
from datetime import UTC, datetime, timedelta

from local.azurite import Azurite
from shared.adapters.storage.activity import BlobActivity
from shared.adapters.storage.wire.connection import Account, Connection
from shared.core.ledger.activity import Act

NOON = datetime(2026, 11, 25, 12, 30, tzinfo=UTC)


def act(number: int, at: datetime = NOON) -> Act:
    return Act(at, "ann", ("Jobs.Submit",), "cancel_job", f"j_{number}", 202)


async def test_lines_of_many_processes_stand_behind_each_other(storage: Azurite) -> None:
    accounts = [Account(Connection(storage.connection_string)) for _ in range(3)]
    container = f"c{uuid.uuid4().hex[:20]}"
    try:
        trails = [BlobActivity(account, container) for account in accounts]
        await asyncio.gather(*(trails[n % 3].add(act(n)) for n in range(12)))
        await trails[0].add(act(99))
        await trails[1].add(act(100, NOON + timedelta(hours=1)))

        async def lines(name: str) -> list[str]:
            stream = await accounts[0].blobs.get_blob_client(container, name).download_blob()
            return [json.loads(line)["subject"] for line in (await stream.readall()).splitlines()]

        first = await lines("activity/2026-11-25/12.jsonl")
        assert sorted(first[:-1]) == sorted(f"j_{n}" for n in range(12))
        assert first[-1] == "j_99"
        assert await lines("activity/2026-11-25/13.jsonl") == ["j_100"]
    finally:
        for account in accounts:
            await account.close()


async def test_the_trail_is_read_by_day_hour_and_place_and_what_is_not_its_own_is_passed_over(
    storage: Azurite,
) -> None:
    account = Account(Connection(storage.connection_string))
    container = f"c{uuid.uuid4().hex[:20]}"
    trail = BlobActivity(account, container)
    try:
        assert await trail.days() == []
        assert await trail.hours("2026-11-25") == []
        assert await trail.read("2026-11-25", "12", 0, 10) == b""
        for at in (NOON, NOON + timedelta(hours=1), NOON + timedelta(days=1)):
            await trail.add(act(1, at))
        for name in (
            "activity/notes.txt",
            "activity/2026-11-25/12.jsonl.bak",
            "activity/latest/12.jsonl",
            "x/12",
        ):
            await account.blobs.get_blob_client(container, name).upload_blob(b"{}")

        assert sorted(await trail.days()) == ["2026-11-25", "2026-11-26"]
        size = len(act(1).line)
        assert sorted(await trail.hours("2026-11-25")) == [("12", size), ("13", size)]
        assert await trail.read("2026-11-25", "12", 0, size) == act(1).line
        assert await trail.read("2026-11-25", "12", size - 3, size) == act(1).line[-3:]
        assert await trail.read("2026-11-25", "12", size, size + 9) == b""
    finally:
        await account.close()


def test_a_line_says_who_did_what_and_what_came_of_it() -> None:
    one = Act(NOON, "ann", ("Jobs.Submit",), "post_job", "", 202, "/api/jobs/j_1")

    assert json.loads(one.line) == {
        "at": "2026-11-25T12:30:00+00:00",
        "by": "ann",
        "roles": ["Jobs.Submit"],
        "operation": "post_job",
        "subject": "",
        "status": 202,
        "result": "/api/jobs/j_1",
    }
    assert one.line.count(b"\n") == 1
