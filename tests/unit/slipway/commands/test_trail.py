"""`slipway trail`: pages of acts, and how people read them."""

from __future__ import annotations

from typing import Any

from slipway.client.service import Service
from slipway.commands.trail import lines, read


class Pages(Service):
    """A service whose trail has these pages."""

    def __init__(self, *answers: dict[str, Any]) -> None:
        self.answers = list(answers)
        self.queries: list[dict[str, str]] = []

    async def trail(self, conditions: Any) -> Any:
        self.queries.append(dict(conditions))
        return self.answers.pop(0)


def act(number: int, **members: Any) -> Any:
    at = f"2026-11-25T12:00:0{number}+00:00"
    return {
        "at": at,
        "by": "ann",
        "operation": "cancel_job",
        "subject": f"j_{number}",
        "status": 202,
        **members,
    }


async def test_pages_are_asked_for_until_there_are_enough_or_no_more() -> None:
    service = Pages(
        {"acts": [act(3)], "unreadable": 1, "next": "b"},
        {"acts": [], "unreadable": 2, "next": "c"},
        {"acts": [act(2), act(1)], "unreadable": 0, "next": "d"},
    )

    result = await read(service, {"by": "ann"}, 3)

    assert [one["subject"] for one in result.acts] == ["j_3", "j_2", "j_1"]
    assert result.unreadable == 3
    assert [(one["by"], one["limit"], one.get("after")) for one in service.queries] == [
        ("ann", "3", None),
        ("ann", "2", "b"),
        ("ann", "2", "c"),
    ]


async def test_a_service_that_names_the_same_place_again_is_asked_no_more() -> None:
    page = {"acts": [], "unreadable": 0, "next": "a"}
    service = Pages(page, page, page)

    assert (await read(service, {}, 5)).acts == []
    assert len(service.queries) == 2


def test_the_newest_act_stands_last() -> None:
    newest = act(2, operation="post_job", subject="", result="/api/jobs/j_2", team="vision")

    assert lines([newest, act(1)], utc=True) == [
        "time                  who  act         about  team    status",
        "2026-11-25 12:00:01Z  ann  cancel_job  j_1            202",
        "2026-11-25 12:00:02Z  ann  post_job    j_2    vision  202",
    ]
    assert lines([]) == ["no act matches"]


def test_a_line_has_the_details_of_an_act() -> None:
    entry = act(1, operation="enter_job", detail="rank 0 on gpu (slurm), certificate 17")

    (_, line) = lines([entry])

    assert "j_1: rank 0 on gpu (slurm), certificate 17" in line
