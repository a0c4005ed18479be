"""How a person names a job: by its id, the beginning of it, its name, or as the last one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from slipway.client.calls.answers import Listed
from slipway.client.jobs.naming import job_id, unmeant
from slipway.client.service import Service
from slipway.failure import Failure

NEWEST, MIDDLE = "j_abc" + "ab" * 10 + "a", "j_abc" + "xy" * 10 + "x"
OLDEST = "j_" + "zz" * 12


class Listing(Service):
    def __init__(self, *names: tuple[str, str]) -> None:
        self.held = [{"id": one, "name": name} for one, name in names]
        self.calls = 0

    async def jobs(self, conditions: Mapping[str, str] | None = None, limit: int = 50) -> Listed:
        self.calls += 1
        results: list[dict[str, Any]] = [
            job for job in self.held if _fits(job["name"], (conditions or {}).get("name", "*"))
        ]
        return Listed(results[:limit], None)


def _fits(name: str, pattern: str) -> bool:
    """As the API reads it: a * at the end stands for any rest."""
    return name.startswith(pattern[:-1]) if pattern.endswith("*") else name == pattern


class Shared(Listing):
    """A deployment where callers have names; ann calls."""

    def __init__(self, *jobs: tuple[str, str], caller: str | None = "ann") -> None:
        super().__init__()
        self.held = [
            {"id": one, "name": "train"} | ({"owner": owner} if owner else {}) for one, owner in jobs
        ]
        self.caller = caller

    async def caller_id(self) -> str | None:
        return self.caller


@pytest.fixture
def api() -> Listing:
    return Listing((NEWEST, "train"), (MIDDLE, "other"), (OLDEST, "train"))


@pytest.mark.parametrize(
    ("values", "meaning"),
    [("last", NEWEST), ("train", NEWEST), ("other", MIDDLE), (OLDEST[:5], OLDEST), (NEWEST[:6], NEWEST)],
)
async def test_a_job_is_found_by_what_people_call_it(api: Listing, values: str, meaning: str) -> None:
    assert await job_id(api, values) == meaning


async def test_an_id_costs_no_call(api: Listing) -> None:
    assert await job_id(api, NEWEST) == NEWEST
    assert api.calls == 0


async def test_a_beginning_of_several_ids_is_refused_with_them(api: Listing) -> None:
    with pytest.raises(Failure, match=f"{NEWEST}, {MIDDLE}"):
        await job_id(api, "j_abc")


@pytest.mark.parametrize("values", ["last", "train"])
async def test_the_job_of_another_caller_is_meant_only_by_its_id(values: str) -> None:
    assert await job_id(Shared((NEWEST, "bob"), (MIDDLE, "ann"), (OLDEST, "ann")), values) == MIDDLE
    assert await job_id(Shared((NEWEST, "bob"), (MIDDLE, ""), (OLDEST, "ann")), values) == MIDDLE
    assert await job_id(Shared((NEWEST, "bob"), caller=None), values) == NEWEST
    with pytest.raises(Failure, match=f"belongs to bob; if you mean it, use its id: {NEWEST}"):
        await job_id(Shared((NEWEST, "bob")), values)
    assert await job_id(Shared((NEWEST, "bob")), NEWEST[:8]) == NEWEST


@pytest.mark.parametrize("values", ["none", "j_none", "", "../x", "*", "tr*"])
async def test_what_no_job_is_called_is_refused(api: Listing, values: str) -> None:
    with pytest.raises(Failure, match="slipway jobs"):
        await job_id(api, values)


async def test_there_is_no_last_job_before_the_first() -> None:
    with pytest.raises(Failure, match="there is no job yet"):
        await job_id(Listing(), "last")


async def test_too_little_of_an_id_means_no_job(api: Listing) -> None:
    with pytest.raises(Failure, match="too short"):
        await job_id(api, "j_")
    assert api.calls == 0


async def test_last_is_the_latest_also_where_a_job_is_called_so() -> None:
    assert await job_id(Listing((NEWEST, "train"), (OLDEST, "last")), "last") == NEWEST


@pytest.mark.parametrize("sweep", ["s_" + "ab" * 12, "s_abc"])
async def test_a_sweep_in_place_of_a_job_is_told_what_there_is(api: Listing, sweep: str) -> None:
    with pytest.raises(Failure, match=f"slipway jobs --sweep {sweep}.*slipway sweep cancel {sweep}"):
        await job_id(api, sweep)


async def test_a_job_whose_name_begins_like_a_sweep_is_found() -> None:
    assert await job_id(Listing((NEWEST, "s_abc")), "s_abc") == NEWEST


@pytest.mark.parametrize(
    ("name", "identity", "remark"),
    [
        ("last", "j_1", "`last` always means the latest, so use the id of this one: j_1"),
        ("last", "s_1", "`last` always means the latest, so use the id of this one: s_1"),
        ("j_old", "j_1", "j_old looks like an id, so use this one's own: j_1"),
        ("j_old", "s_1", ""),
        ("s_old", "j_1", ""),
        ("s_old", "s_1", "s_old looks like an id, so use this one's own: s_1"),
        ("lasting", "j_1", ""),
    ],
)
def test_a_name_that_no_command_takes_for_its_job_is_remarked_on(
    name: str, identity: str, remark: str
) -> None:
    assert unmeant({"name": name, "id": identity}) == remark
