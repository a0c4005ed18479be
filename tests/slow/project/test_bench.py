"""The arithmetic of the benchmark: money, scale, ratios, percentiles; a small one has every figure."""

from __future__ import annotations

import asyncio
import json
import math
import os
import subprocess
import sys
from dataclasses import replace

import pytest

from bench.__main__ import Figures, one_round
from bench.clusters import batch, kubernetes
from bench.cost.many import measure
from bench.cost.money import CALL, FREE_CALLS, FREE_SECONDS, SECOND, active, by_service, dollars, monthly
from bench.cost.scale import Counts, Load, cost, count
from bench.cost.simulate import Simulation, Usage
from bench.download import download
from bench.drops.code import code
from bench.instructions.__main__ import exceeded, same_build
from bench.latency import percentiles
from bench.passes import pass_over
from bench.table import TARGETS, Target, markdown, ratios
from bench.world import ROOT, Requests, polls
from tests.breadth import size

PAGE = ROOT / "docs/how-to/serve-thirty-people.md"


def test_requests_are_sorted_by_what_they_cost() -> None:
    request = {
        "POST jobs/messages": 10,
        "DELETE jobs/messages/x": 10,
        "POST $batch": 4,
        "GET slipway(PartitionKey='s',RowKey='r')": 2,
        "PUT runs/a/receipt.json": 1,
        "HEAD runs/a/STATUS": 1,
        "PUT azure-webjobs-hosts/locks/a?comp=lease": 1,
    }
    assert by_service(request, 10) == pytest.approx(
        {"queue": 2.0, "table": 0.6, "blob write": 0.1, "blob read": 0.2}
    )


def test_a_blob_for_each_job_costs_more_than_everything_else() -> None:
    queue, table = {"queue": 2.03, "table": 0.4}, {"blob write": 1.0}
    assert dollars(queue, invocations=1) < 3
    assert dollars(table, invocations=0) > 2 * dollars(queue, invocations=1)


def test_what_a_million_jobs_a_day_ask_stays_far_below_every_limit() -> None:
    load = Load(1e6, 200)
    request = asyncio.run(count(load, jobs=40))
    # Its record, that it is queued, its end, and that it was reported: no one is there to share them with.
    assert request.job.transactions == 4
    assert request.job.reads < 1
    assert request.archived.reads < 5
    assert request.job.messages == 0
    assert request.one_pass.requests == 4
    assert max(cost(load, request).shares.values()) < 0.5
    # A message for each end costs as much as the job itself: less where ten ends share one.
    assert cost(load, request).dollars_a_million <= 16
    assert cost(replace(load, pushed=10.0), request).dollars_a_million <= 11


async def test_the_bill_of_thirty_people_is_that_of_its_command() -> None:
    command = "python -m bench.cost.scale --jobs-a-day 500 --active 60"
    (row,) = (line for line in PAGE.read_text(encoding="utf-8").splitlines() if command in line)

    load = Load(500, 60)
    price = cost(load, await count(load))

    assert row.endswith(f"| ${price.dollars_a_month:.2f} |")
    assert price.dollars["logs"] == 0
    assert max(price.shares.values()) < 0.05  # of each limit


def test_an_instance_is_billed_for_at_least_a_second_and_never_twice_at_once() -> None:
    assert active(1e-6, 0.05) == pytest.approx(1e-6, rel=1e-3)
    assert active(1e-6, 3.0) == pytest.approx(3e-6, rel=1e-3)
    assert active(100.0, 0.05) == pytest.approx(1.0)
    assert monthly(FREE_SECONDS, FREE_CALLS) == 0
    assert monthly(FREE_SECONDS + 1, FREE_CALLS + 1) == pytest.approx(SECOND + CALL)
    # A job that comes alone: two invocations of a second each.
    alone = 2e6 * (SECOND + CALL)
    assert alone == pytest.approx(104.8)


def test_a_pass_over_batch_ai_takes_a_page_of_the_list_and_its_figures() -> None:
    figures = asyncio.run(pass_over(100, 0.02))
    assert figures["pass 100 2% engine calls"] == 1


async def test_jobs_that_come_together_share_transactions() -> None:
    assert (await Simulation(shards=2).jobs(64, at_once=32)).transactions < 2


def test_shards_carry_the_writes_and_the_queue_does_not_care() -> None:
    one = Usage(0, 1, 12)
    request = Counts(one, one, one)
    few, many = (cost(Load(1e7, 100_000, shards=shards), request) for shards in (4, 16))
    assert many.partition_entities == few.partition_entities / 4
    assert many.queue_messages == few.queue_messages


def test_a_ratio_is_taken_within_a_round_and_only_where_both_figures_are() -> None:
    target = Target("a / b", "a", "b", least=1.0)
    assert target.values([{"a": 2.0, "b": 1.0}, {"a": 30.0, "b": 10.0}, {"a": 5.0}, {"b": 5.0}]) == [2.0, 3.0]


def test_the_table_says_what_is_reached_and_has_every_figure() -> None:
    rounds = [{"no-op jobs/s": 300.0, "floor raw jobs/s": 200.0}, {"no-op jobs/s": 100.0, "other": 7.0}]
    text = markdown("a machine", rounds)

    assert "| no-op engine / raw floor | 1.5 | 1.5 … 1.5 | ≥ 1 | reached |" in text
    assert "| no-op jobs/s | 200 | 100 … 300 |" in text
    assert "| other | 7 | 7 … 7 |" in text
    assert text.startswith("a machine, 2 rounds\n")
    (ratio,) = ratios(rounds)
    assert (ratio["median"], ratio["rounds"], ratio["reached"]) == (1.5, [1.5], True)


def test_each_target_has_a_title_of_its_own_and_at_most_one_bound() -> None:
    assert len({target.title for target in TARGETS}) == len(TARGETS)
    assert not [target.title for target in TARGETS if target.least is not None and target.most is not None]


def test_percentiles_are_of_the_nearest_rank() -> None:
    assert percentiles("x", [n / 1000 for n in range(100, 0, -1)]) == {"x p50 ms": 50.0, "x p99 ms": 99.0}
    assert percentiles("x", [0.25]) == {"x p50 ms": 250.0, "x p99 ms": 250.0}


def test_the_access_log_is_counted_by_verb_and_place_without_what_nodes_ask() -> None:
    requests = Requests()
    account = "/devstoreaccount1"
    for line in (
        f'"GET {account}/jobs/messages?numofmessages=32 HTTP/1.1"',
        f'"PUT {account}/azure-webjobs-hosts/locks/a?comp=lease&timeout=5 HTTP/1.1"',
        f'"PUT {account}/azure-webjobs-hosts/timers/a?timeout=5 HTTP/1.1"',
        f'"GET {account}/datalake?restype=container HTTP/1.1"',
        "Azurite Blob service is starting",
    ):
        requests.take(line)

    assert requests.lines == {
        "GET jobs/messages": 1,
        "PUT azure-webjobs-hosts/locks/a?comp=lease": 1,
        "PUT azure-webjobs-hosts/timers/a": 1,
    }
    assert polls(requests.lines) == 1


def test_a_measurement_that_fails_is_reported_and_the_others_go_on() -> None:
    async def fails() -> Figures:
        raise TimeoutError("12 of 400 webhooks came")

    async def works() -> Figures:
        return {"a": 1.0}

    failed: list[str] = []
    assert one_round({"first": fails, "second": works}, failed) == {"a": 1.0}
    assert failed == ["first: TimeoutError('12 of 400 webhooks came')"]


def test_downloads_are_compared_with_the_bare_bytes_of_the_same_files() -> None:
    figures = {
        "download one bare MB/s": 100.0,
        "download one discarded MB/s": 200.0,
        "download one direct MB/s": 90.0,
        "download many bare MB/s": 50.0,
        "download many direct MB/s": 30.0,
        "download many worker MiB above idle": 65.0,
    }
    lines = {str(line["title"]): line for line in ratios([figures])}

    assert lines["download of one file, direct / bare GETs"]["reached"] is True
    assert lines["download of one file, direct / discarded GETs"]["median"] == 0.45
    assert lines["download of many files, direct / bare GETs"]["median"] == 0.6
    assert lines["download of many files, direct / bare GETs"]["reached"] is False
    assert lines["download of many files: worker MiB above idle"]["reached"] is False


async def test_a_pass_over_ten_thousand_tasks_on_azure_batch_costs_their_pages_and_a_few_calls() -> None:
    active = size(10_000, 1_500)
    calls, _ = await batch.pass_over(active)
    # The lists of the other two priorities and of Batch jobs, the pool, its counts, and its formula with what
    # that leads to.
    assert calls == active // 1000 + (active % 1000 > 0) + 7 <= 25


@pytest.mark.thorough
async def test_a_pass_over_ten_thousand_jobs_on_kubernetes_costs_the_pages_of_two_lists() -> None:
    active = size(10_000, 1_500)
    calls, _ = await kubernetes.pass_over(active)
    assert calls == 2 * (active // 1000 + (active % 1000 > 0)) <= 25


@pytest.mark.thorough
async def test_a_small_run_of_a_folder_is_measured_and_costs_few_requests() -> None:
    figures = await code(files=3)

    runs = ("run of 1 file", "run of many files, new", "run of many files, known")
    counts = {
        name: (figures[f"code, {name} client requests"], figures[f"code, {name} node requests"])
        for name in runs
    }
    assert counts == {
        "run of 1 file": (4, 1),
        "run of many files, new": (4, 1),
        "run of many files, known": (3, 1),
    }
    seconds = [figure for name, figure in figures.items() if name.endswith(" s")]
    assert len(seconds) == len(runs) + 1
    assert all(math.isfinite(figure) and figure > 0 for figure in seconds)


@pytest.mark.thorough
async def test_a_small_download_is_measured_in_every_way() -> None:
    figures = await download(megabytes=0.5, files=5)

    ways = ("bare MB/s", "discarded MB/s", "direct MB/s", "through the app MB/s", "worker MiB above idle")
    kinds = {f"{kind} {way}" for kind in ("one", "many") for way in ways}
    assert figures.keys() == {f"download {name}" for name in (*kinds, "callers worker MiB above idle")}
    assert all(math.isfinite(figure) for figure in figures.values())
    assert all(figure > 0 for name, figure in figures.items() if name.endswith("MB/s"))


def test_a_job_asks_and_computes_no_more_than_its_bounds_allow() -> None:
    limits = json.loads((ROOT / "bench/instructions/bounds.json").read_text())
    program = [sys.executable, "-m", "bench.instructions.jobs", "64"]
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    ran = subprocess.run(program, capture_output=True, text=True, check=True, cwd=ROOT, env=environment)

    figures = json.loads(ran.stdout)
    assert figures.keys() == limits["bounds"].keys() - {"instructions"}
    assert exceeded(figures, limits["bounds"], same_build(limits["python"])) == []


def test_a_count_above_its_bound_is_named_and_another_build_has_some_room() -> None:
    bounds = {"rows": 11.0, "instructions": 8e6}
    assert exceeded({"rows": 11.0, "instructions": 8e6}, bounds, {}) == []
    assert exceeded({"rows": 12.0}, bounds, {}) == ["a job takes 12.00 rows, and at most 11.0 are allowed"]
    for alike, wrong in ((True, 1), (False, 0)):
        assert len(exceeded({"instructions": 9e6}, bounds, {"instructions": alike})) == wrong


async def test_a_pass_over_many_jobs_reads_their_pages_and_no_more() -> None:
    many = await measure(size(10_000, 2_500), passes=1)
    assert many.pages == 4 * math.ceil(size(10_000, 2_500) / 4 / 1_000)
    assert many.microseconds > 0
