"""JSON answers have a validator, so that a caller that asks again gets 304 while nothing has changed."""

from __future__ import annotations

import pytest

from tests.unit.functions.calls import call, use
from tests.unit.world import World, job_json


@pytest.fixture(autouse=True)
def api(world: World, monkeypatch: pytest.MonkeyPatch) -> World:
    use(world, monkeypatch)
    return world


async def test_an_answer_that_is_still_the_same_is_304_without_a_body(api: World) -> None:
    await api.message(job_json())
    first = await call("GET", "/api/jobs")
    tag = first.headers["ETag"]

    again = await call("GET", "/api/jobs", {"If-None-Match": tag})
    weak = await call("GET", "/api/jobs", {"If-None-Match": f'"other", W/{tag}'})

    assert (again.status_code, again.get_body(), again.headers["ETag"]) == (304, b"", tag)
    assert weak.status_code == 304


async def test_a_changed_answer_comes_whole(api: World) -> None:
    tag = (await call("GET", "/api/jobs")).headers["ETag"]
    await api.message(job_json())

    answer = await call("GET", "/api/jobs", {"If-None-Match": tag})

    assert answer.status_code == 200
    assert answer.headers["ETag"] != tag


async def test_neither_refusals_nor_answers_to_other_methods_have_one() -> None:
    refused = await call("GET", "/api/jobs?state=none", {"If-None-Match": "*"})
    posted = await call("POST", "/api/resume", {"If-None-Match": "*"})

    assert (refused.status_code, posted.status_code) == (400, 200)
    assert "ETag" not in refused.headers
    assert "ETag" not in posted.headers
