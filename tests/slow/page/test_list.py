"""What the page makes of the pages of a search that has looked back only so far."""

from __future__ import annotations

from typing import Any

from tests.slow.page.programs import answer_of


def _at(minute: int) -> str:
    return f"2026-01-01T00:{minute:02}:00Z"


def _page(*minutes: int, following: str | None, searched_to: int | None = None) -> dict[str, Any]:
    jobs = [{"id": f"j{minute}", "createdAt": _at(minute)} for minute in minutes]
    cut = {"searchedTo": _at(searched_to)} if searched_to is not None else {}
    return {"jobs": jobs, "next": following, **cut}


def _lists(*steps: tuple[str, dict[str, Any]]) -> list[tuple[list[str], str | None, str | None]]:
    (answer,) = answer_of("list.mjs", [steps])
    return [(one["ids"], one["next"], one["searchedTo"]) for one in answer]


def test_what_a_search_found_further_back_stays_when_its_first_page_is_read_again() -> None:
    lists = _lists(
        ("again", _page(following="a", searched_to=40)),
        ("more", _page(30, following="b", searched_to=20)),
        ("again", _page(50, following="c", searched_to=41)),
        ("more", _page(10, following=None)),
        ("again", _page(51, 50, following="d", searched_to=42)),
    )

    assert lists == [
        ([], "a", _at(40)),
        (["j30"], "b", _at(20)),
        (["j50", "j30"], "b", _at(20)),
        (["j50", "j30", "j10"], None, None),
        (["j51", "j50", "j30", "j10"], None, None),
    ]


def test_a_search_that_went_on_without_a_find_begins_no_second_time() -> None:
    lists = _lists(
        ("again", _page(50, following="a", searched_to=40)),
        ("more", _page(following="b", searched_to=20)),
        ("again", _page(50, following="c", searched_to=41)),
    )

    assert lists[-1] == (["j50"], "b", _at(20))


def test_a_job_that_fits_no_more_leaves_the_list_and_what_was_looked_at_counts() -> None:
    lists = _lists(
        ("again", _page(50, following="a", searched_to=40)),
        ("again", _page(52, following="b", searched_to=42)),
    )

    assert lists[-1] == (["j52"], "a", _at(40))
