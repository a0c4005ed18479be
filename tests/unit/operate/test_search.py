"""Lists by words, errors, times and ends: which jobs they have, in which order."""

from __future__ import annotations

from datetime import timedelta

import pytest

from shared.core.errors import Misuse
from shared.core.job import JobState, Reason
from shared.core.ledger.failures import FAILURES, error_of, signature
from shared.operate.listing import jobs
from tests.unit.world import World, job_json

#: Name, end, and the line of standard error that says why.
_JOBS = (
    ("Resnet-1", JobState.SUCCEEDED, ""),
    ("resnet-2", JobState.FAILED, "RuntimeError: CUDA out of memory: 16384 MiB at 0x7f3a9c"),
    ("bert-1", JobState.FAILED, "RuntimeError: CUDA out of memory: 512 MiB at 0x1b"),
    ("bert-2", JobState.FAILED, "FileNotFoundError: /data/train-00017.tfrecord"),
    ("bert-3", JobState.CANCELLED, ""),
    ("bert-4", None, ""),
)


async def filled(world: World) -> dict[str, str]:
    """Jobs by id what they are called; one comes each minute, and all end later, the last one first."""
    world.policy(max_jobs_per_hour=100)
    names: dict[str, str] = {}
    for name, _, _ in _JOBS:
        names[(await world.named(name)).id] = name
        world.pass_time(60)
    attempts = dict(zip(names.values(), world.engine.started, strict=True))
    for name, end, error in reversed(_JOBS):
        if end is not None:
            world.engine.output["stderr.txt"] = f"{error}\n".encode()
            world.engine.set_state(attempts[name], end, reason=Reason.USER if error else None)
            await world.make_pass(60)
    return names


async def listed(world: World, names: dict[str, str], query: dict[str, str]) -> list[str]:
    page = await jobs(world.ports, query)
    assert not page.cut
    return [names[job.id] for job in page.jobs]


_FAILED = ["bert-2", "bert-1", "resnet-2"]


@pytest.mark.parametrize(
    ("query", "results"),
    [
        ({"contains": "resnet"}, ["resnet-2", "Resnet-1"]),
        ({"contains": "RESNET -2"}, ["resnet-2"]),
        ({"contains": "cuda bert"}, ["bert-1"]),
        ({"contains": "out of memory"}, ["bert-1", "resnet-2"]),
        ({"contains": "absent"}, []),
        ({"contains": "bert", "state": "failed,cancelled"}, ["bert-3", "bert-2", "bert-1"]),
        ({"error": "cuda OUT of memory"}, ["bert-1", "resnet-2"]),
        ({"error": "memory out"}, []),
        ({"error": "memory: # MiB at #"}, ["bert-1", "resnet-2"]),
        ({"error": "16384"}, ["resnet-2"]),
        ({"error": "/data/train-#.tfrecord"}, ["bert-2"]),
        ({"error": "cuda", "state": "succeeded"}, []),
        ({"error": "cuda", "order": "ended"}, ["resnet-2", "bert-1"]),
        ({"until": "8m"}, ["bert-1", "resnet-2", "Resnet-1"]),
        ({"since": "10m", "until": "8m"}, ["bert-1", "resnet-2"]),
        ({"until": "8m", "state": "failed"}, ["bert-1", "resnet-2"]),
        ({"until": "10s", "state": "active"}, ["bert-4"]),
        ({"until": "30m", "state": "active"}, []),
        ({"order": "created", "state": "failed"}, _FAILED),
        ({"order": "ended"}, ["Resnet-1", *_FAILED[::-1], "bert-3"]),
        ({"order": "ended", "limit": "1"}, ["Resnet-1"]),
        ({"order": "ended", "state": "failed"}, _FAILED[::-1]),
        ({"order": "ended", "state": "active"}, []),
        ({"order": "ended", "state": "active,cancelled"}, ["bert-3"]),
        ({"order": "ended", "since": "150s"}, ["Resnet-1", "resnet-2", "bert-1"]),
        ({"order": "ended", "since": "150s", "until": "30s"}, ["resnet-2", "bert-1"]),
        ({"order": "ended", "contains": "bert"}, ["bert-1", "bert-2", "bert-3"]),
    ],
    ids=str,
)
async def test_a_list_has_what_is_searched_for(
    world: World, query: dict[str, str], results: list[str]
) -> None:
    assert await listed(world, await filled(world), query) == results


async def test_an_id_or_a_part_of_it_is_found_by_words(world: World) -> None:
    names = await filled(world)
    job_id = next(iter(names))
    assert await listed(world, names, {"contains": job_id}) == ["Resnet-1"]
    assert "Resnet-1" in await listed(world, names, {"contains": job_id[2:9].upper()})


@pytest.mark.parametrize("order", ["created", "ended"])
async def test_pages_in_any_order_have_each_job_once(world: World, order: str) -> None:
    names = await filled(world)
    query = {"order": order, "limit": "2"}
    results: list[str] = []
    page = await jobs(world.ports, query)
    results += [names[job.id] for job in page.jobs]
    while page.next is not None:
        page = await jobs(world.ports, {**query, "after": page.next})
        results += [names[job.id] for job in page.jobs]
    every = [name for name, end, _ in _JOBS if end or order == "created"]
    assert results == (every if order == "ended" else every[::-1])


async def test_until_begins_before_a_job_of_that_moment(world: World) -> None:
    names = await filled(world)
    created = (await world.job(next(iter(names)))).created
    for moment, results in ((created, []), (created + timedelta(milliseconds=1), ["Resnet-1"])):
        assert await listed(world, names, {"until": moment.isoformat()}) == results
    assert await listed(world, names, {"until": "9999-12-31T23:59:59.999Z", "limit": "1"}) == ["bert-4"]


@pytest.mark.parametrize(
    "query",
    [
        {"order": "name"},
        {"until": "tomorrow"},
        {"contains": "x" * 201},
        {"error": "x" * 5000},
        {"contains": "  "},
        {"error": " "},
    ],
    ids=lambda query: str(query)[:40],
)
async def test_a_wrong_search_is_refused_with_a_remedy(world: World, query: dict[str, str]) -> None:
    with pytest.raises(Misuse) as caught:
        await jobs(world.ports, query)
    assert caught.value.status == 400
    assert caught.value.remedy
    assert len(str(caught.value)) < 200


async def test_a_rejected_document_is_found_by_its_problem(world: World) -> None:
    await world.message({"spec": job_json(nodeCuont=2), "name": "wrong"}, "m")
    (job,) = (await jobs(world.ports, {"error": "spec.properties.nodecuont"})).jobs
    assert job.state is JobState.REJECTED
    assert [one.id for one in (await jobs(world.ports, {"order": "ended"})).jobs] == [job.id]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Tried to allocate 2.50 GiB at 0x7ffe12ab", "Tried to allocate 16 GiB at 0x0"),
        ("train-00017.tfrecord is missing", "train-3.tfrecord is missing"),
        ("job j_3mz7kqv5n2xw4yt6hbcd4efg: no disk", f"job j_{'a' * 24}: no disk"),
        ("commit 9f8e7d6c5b4a", "commit 0a1b2c3d4e5f"),
        (
            "run 123e4567-e89b-12d3-a456-426614174000 ended",
            "run 0a0a0a0a-0b0b-0c0c-0d0d-0e0e0e0e0e0e ended",
        ),
        ("at 10:04:17, line 3", "at 9:00:01, line 22"),
    ],
)
def test_errors_with_one_cause_have_one_signature(one: str, other: str) -> None:
    assert signature(one) == signature(other)
    assert "#" in signature(one)


@pytest.mark.parametrize("text", ["no number here", "faced with a decade", "ValueError: shard is empty", ""])
def test_words_stay_in_a_signature(text: str) -> None:
    assert signature(text) == text


@pytest.mark.parametrize("text", ["a" * 300, "a1" * 150, "0x" + "f" * 298, "1.2," * 75, "-" * 300, "0" * 300])
def test_a_signature_is_bounded_and_is_its_own(text: str) -> None:
    assert len(signature(text)) <= 160
    assert signature(signature(text)) == signature(text)


async def test_only_a_job_that_failed_has_an_error(world: World) -> None:
    names = await filled(world)
    for job_id in names:
        job = await world.job(job_id)
        assert bool(error_of(job)) == (job.state in FAILURES)


@pytest.mark.parametrize("value", ["a b", "c: d", "x" * 200])
def test_of_a_rejected_document_the_rule_and_its_member_are_the_signature(value: str) -> None:
    error = f'message:1:10: SW061 name: "{value}" cannot be a name'

    assert signature(error) == "SW061 name"
    assert signature(error) in error
    assert signature(signature(error)) == signature(error)
