"""The arithmetic of the benchmark: money and scale."""

from __future__ import annotations

import pytest

from bench.money import by_service, dollars
from bench.scale import Load, cost


def test_requests_are_sorted_by_what_they_cost() -> None:
    asked = {
        "POST jobs/messages": 10,
        "DELETE jobs/messages/x": 10,
        "POST $batch": 4,
        "GET slipway(PartitionKey='s',RowKey='r')": 2,
        "PUT runs/a/receipt.json": 1,
        "HEAD runs/a/STATUS": 1,
    }
    assert by_service(asked, 10) == pytest.approx(
        {"queue": 2.0, "table": 0.6, "blob write": 0.1, "blob read": 0.1}
    )


def test_a_blob_for_each_job_costs_more_than_everything_else() -> None:
    queue, table = {"queue": 2.03, "table": 0.4}, {"blob write": 1.0}
    assert dollars(queue, invocations=1) < 2.5
    assert dollars(table, invocations=0) > 2 * dollars(queue, invocations=1)


def test_a_million_jobs_a_day_stay_far_below_every_limit_and_cost_less_than_asked() -> None:
    found = cost(Load(1e6, 100_000))
    assert found.dollars_a_million <= 2.5
    assert max(found.shares.values()) < 0.5


def test_shards_carry_the_writes_and_the_queue_does_not_care() -> None:
    few, many = cost(Load(1e7, 100_000, shards=4)), cost(Load(1e7, 100_000, shards=16))
    assert many.partition_entities == few.partition_entities / 4
    assert many.queue_messages == few.queue_messages
