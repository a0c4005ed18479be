"""When deaths of workers end the host."""

from __future__ import annotations

import pytest

from local.host.worker.deaths import Deaths

_HALF_AN_HOUR = 30 * 60


@pytest.mark.parametrize(
    ("processes", "gaps", "restarted"),
    [
        (1, [0, 0, 0], [True, True, False]),
        (1, [10, _HALF_AN_HOUR - 1, _HALF_AN_HOUR - 1], [True, True, False]),
        (1, [0, 0, _HALF_AN_HOUR, 0, 0], [True, True, True, True, False]),
        (2, [0] * 6, [True] * 5 + [False]),
        (1, [0, 0, 0, 0], [True, True, False, False]),
    ],
)
def test_three_deaths_of_a_process_with_less_than_half_an_hour_between_them_end_the_host(
    processes: int, gaps: list[int], restarted: list[bool]
) -> None:
    now = 0.0
    deaths = Deaths(processes, lambda: now)

    result = []
    for gap in gaps:
        now += gap
        result.append(deaths.add())

    assert result == restarted
    assert deaths.too_many.is_set() is (False in restarted)
