"""Which request meets which bad moment."""

from __future__ import annotations

from local.azurebatch.state.faults import Fault, Faults


def test_a_bad_moment_meets_as_many_requests_of_its_kind_as_it_says_and_no_others() -> None:
    faults = Faults()
    faults.add(Fault("ServerBusy", "POST", "/jobs/*/tasks", 2))

    met = [
        faults.take(*request)
        for request in (
            ("GET", "/jobs/a/tasks"),
            ("POST", "/jobs"),
            ("POST", "/Jobs/a/tasks"),
            ("POST", "/jobs/b/tasks"),
            ("POST", "/jobs/b/tasks"),
        )
    ]

    assert [one is not None for one in met] == [False, False, True, True, False]
    assert faults.waiting == ()


def test_bad_moments_come_in_their_order_and_can_be_forgotten() -> None:
    faults = Faults()
    for code in ("ServerBusy", "InternalError", "OperationTimedOut"):
        faults.add(Fault(code, "*", "/*", 1))

    first, second = faults.take("GET", "/pools"), faults.take("DELETE", "/jobs/j")
    faults.clear()

    assert [one.code for one in (first, second) if one] == ["ServerBusy", "InternalError"]
    assert faults.take("GET", "/pools") is None
