"""How a person names a sweep: by its id, the beginning of it, its name, or as the last one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from slipway.client.calls.answers import Listed
from slipway.client.jobs.naming import sweep_id
from slipway.client.service import Service
from slipway.failure import Failure

NEW, OLD, OTHER = "s_abc" + "a" * 21, "s_abc" + "b" * 21, "s_zzz" + "c" * 21
LONG = "x" * 64


class Jobs(Service):
    """The jobs of three sweeps, newest first, and one of none."""

    def __init__(self) -> None:
        self.requests: list[dict[str, str]] = []
        self.held = [
            _job("tune-12", None),
            _job("tune-1-3", OTHER),
            _job("tune-1", NEW),
            _job("tune-0", NEW),
            _job("tune-1", OLD),
            _job(f"{LONG[:60]}-002", OLD),
        ]

    async def jobs(self, conditions: Mapping[str, str] | None = None, limit: int = 50) -> Listed:
        self.requests.append(dict(conditions or {}))
        start = self.requests[-1].get("name", "*").removesuffix("*")
        return Listed([job for job in self.held if job["name"].startswith(start)], None)


def _job(name: str, sweep: str | None) -> dict[str, Any]:
    return {"id": "j_1", "name": name} | ({"sweep": {"id": sweep}} if sweep else {})


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("last", OTHER),
        ("tune", NEW),
        ("tune-1", OTHER),
        (LONG, OLD),
        ("s_zzz", OTHER),
        (NEW[:6], NEW),
        (OTHER, OTHER),
    ],
)
async def test_a_sweep_is_found_by_what_people_call_it(text: str, meaning: str) -> None:
    assert await sweep_id(Jobs(), text) == meaning


class SharedJobs(Jobs):
    """The newest sweep is bob's; ann calls."""

    async def caller_id(self) -> str | None:
        return "ann"

    async def jobs(self, conditions: Mapping[str, str] | None = None, limit: int = 50) -> Listed:
        listed = await super().jobs(conditions, limit)
        owners = {OTHER: "bob", NEW: "ann"}
        return Listed(
            [{**job, "owner": owners.get(job.get("sweep", {}).get("id"), "bob")} for job in listed.jobs], None
        )


async def test_the_sweep_of_another_caller_is_meant_only_by_its_id() -> None:
    assert await sweep_id(SharedJobs(), "last") == NEW
    assert await sweep_id(SharedJobs(), "tune") == NEW
    assert await sweep_id(SharedJobs(), "s_zzz") == OTHER
    with pytest.raises(Failure, match="name it by its whole id"):
        await sweep_id(SharedJobs(), "tune-1")


async def test_an_id_costs_no_call_and_a_name_asks_for_jobs_of_that_name_only() -> None:
    api = Jobs()
    await sweep_id(api, NEW)
    await sweep_id(api, "tune")
    assert api.requests == [{"name": "tune*"}]


@pytest.mark.parametrize("text", ["s_", "s_none", "tun", "*", "tune-12", "none", "../x"])
async def test_what_no_sweep_is_called_is_refused(text: str) -> None:
    with pytest.raises(Failure, match="no sweep of the latest 1,000 jobs has the id or the name"):
        await sweep_id(Jobs(), text)


async def test_a_beginning_of_several_ids_is_refused_with_them() -> None:
    with pytest.raises(Failure, match=f"s_abc begins several ids: {NEW}, {OLD}; write more of it"):
        await sweep_id(Jobs(), "s_abc")
