"""What the ends of other jobs mean for a job that waits for them."""

from __future__ import annotations

from shared.core.relations.dependency import Dependency, judge
from shared.core.states import JobState

A, B = Dependency(job="j_a", name="a"), Dependency(job="j_b", name="b")
MET = A.model_copy(update={"met": True})


def test_what_is_met_stays_met_after_any_other_word_of_that_job() -> None:
    assert judge([MET, B], {"j_a": JobState.FAILED}) == ((MET, B), None)
    assert judge([MET, B], {}, {"j_a"}) == ((MET, B), None)


def test_the_first_that_can_no_longer_be_met_is_named() -> None:
    ends = {"j_a": JobState.FAILED, "j_b": JobState.LOST}
    assert judge([A, B], ends).broken is A
    assert judge([A, B], {"j_b": JobState.LOST}, {"j_a"}).broken is A
    assert judge([A, B], {"j_a": JobState.SUCCEEDED}, {"j_b"}) == ((MET, B), B)
