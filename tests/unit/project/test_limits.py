"""The limit of time of a test, by a clock and a timer that these tests own."""

from __future__ import annotations

from pathlib import Path

import pytest

from local import patience
from tests.limits import LIMITS, LastResort, Watch, limit_of

ROOT = Path(__file__).resolve().parents[3]


class Timer:
    """What a watch sets: the timer that it looks at, and the end of its process."""

    def __init__(self, limit: float) -> None:
        self.now, self.rings, self.ends, self.interruptions = 0.0, 0.0, 0.0, 0
        self.watch = Watch(limit, self._interrupt, lambda: self.now, self._ring, self._end)
        self.watch.start()

    def _ring(self, seconds: float) -> None:
        self.rings = self.now + seconds

    def _end(self, seconds: float) -> None:
        self.ends = self.now + seconds

    def _interrupt(self) -> None:
        self.interruptions += 1

    def run_until(self, moment: float) -> None:
        """Let time pass, and the timer ring."""
        while self.rings <= moment:
            self.now = self.rings
            self.watch.check()
        self.now = moment


def test_what_makes_no_progress_is_interrupted_at_its_limit_and_again_and_its_process_ends_later() -> None:
    timer = Timer(60)
    timer.run_until(59)
    assert timer.interruptions == 0

    timer.run_until(60)
    assert timer.interruptions == 1
    timer.run_until(100)
    assert timer.interruptions == 3
    assert timer.ends == 120


def test_the_limit_counts_from_the_last_progress() -> None:
    timer = Timer(60)
    for moment in range(10, 1000, 50):
        timer.run_until(moment)
        timer.watch.progress()

    assert (timer.interruptions, timer.now) == (0, 960)
    assert timer.ends > timer.now + 60
    timer.run_until(1019)
    assert timer.interruptions == 0
    timer.run_until(1021)
    assert timer.interruptions == 1
    assert timer.ends == 960 + 120


def test_the_end_of_a_process_stays_armed_while_its_moment_is_late_enough() -> None:
    moments: list[float] = []
    now = [0.0]
    end = LastResort(
        lambda seconds: moments.append(now[0] + seconds), lambda: moments.append(0), lambda: now[0]
    )

    for now[0] in range(0, 1000, 10):
        end(100)
        assert now[0] + 100 <= moments[-1] <= now[0] + 125
    assert len(moments) == 34

    end(10)  # the next test may take less time
    assert moments[-1] == now[0] + 12.5
    end(100)
    assert moments[-1] == now[0] + 125
    end.cancel()
    end(100)
    assert moments[-2:] == [0, now[0] + 125]


def test_every_change_that_a_patience_sees_is_progress(request: pytest.FixtureRequest) -> None:
    changes: list[str] = []
    observers = patience.observers
    request.addfinalizer(lambda: observers.remove(watcher))

    def watcher() -> None:
        changes.append("progress")

    observers.append(watcher)
    one = patience.Patience(10)
    for state in ("queued", "queued", "running", "running", "ended"):
        one.is_over(state)

    assert len(changes) == 3


def test_these_tests_are_watched_themselves(pytestconfig: pytest.Config) -> None:
    assert pytestconfig.pluginmanager.has_plugin("limits") is (pytestconfig.getoption("limit") != 0)


@pytest.mark.parametrize(
    ("path", "seconds"),
    [
        ("tests/unit/core/test_each.py::test_x", 180),
        ("tests/contract/host/test_worker.py::test_x[1]", 1200),
        ("tests/crash/test_crashes.py::test_x", 2400),
    ],
)
def test_a_test_s_folder_says_how_long_it_may_take(path: str, seconds: float) -> None:
    assert limit_of(path) == seconds


def test_the_folders_with_limits_exist_and_the_shortest_limit_is_that_of_pure_tests() -> None:
    assert all((ROOT / folder).is_dir() for folder in LIMITS)
    assert min(LIMITS, key=LIMITS.__getitem__) == "tests/unit/"
