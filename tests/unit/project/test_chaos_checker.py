"""The verdict of the chaos run: it has to see each kind of violation."""

from __future__ import annotations

from dataclasses import replace

from tests.chaos.checker import Delivery, Record, Verdict, judge

JOB = Record("j_1", "one", "succeeded", attempts=1)
DELIVERY = Delivery("j_1", "e_1", terminal=True, verified=True, accepted=True, body="b")


def _judge(
    *,
    messages: tuple[str, ...] = ("one",),
    records: tuple[Record, ...] = (JOB,),
    started: tuple[tuple[str, str], ...] = (("j_1", "1"),),
    reports: tuple[Delivery, ...] = (DELIVERY,),
) -> Verdict:
    return judge(messages, records, started, reports)


def test_a_job_that_ran_once_and_was_reported_is_good() -> None:
    verdict = _judge()
    assert verdict.good
    assert (verdict.attempted, verdict.accepted) == (1, 1)


def test_the_same_event_may_come_twice() -> None:
    assert _judge(reports=(DELIVERY, DELIVERY)).good


def test_an_acknowledged_job_without_a_record_is_lost() -> None:
    assert _judge(messages=("one", "two")).lost == ["two has no record"]


def test_a_job_that_never_ran_is_lost() -> None:
    assert _judge(started=()).lost == ["one never ran"]


def test_a_job_that_did_not_succeed_is_lost() -> None:
    assert _judge(records=(replace(JOB, state="lost"),)).lost == ["one is lost"]


def test_two_records_of_one_job_are_a_duplicate() -> None:
    second = replace(JOB, id="j_2")
    verdict = _judge(records=(JOB, second), started=(("j_1", "1"), ("j_2", "1")))
    assert verdict.duplicated == ["one has 2 records"]


def test_two_starts_of_one_attempt_are_a_duplicate() -> None:
    verdict = _judge(started=(("j_1", "1"), ("j_1", "1")))
    assert verdict.duplicated == ["one ran 2 times in attempt 1"]


def test_an_attempt_that_its_cluster_began_again_may_start_once_more_and_no_other() -> None:
    twice = (("j_1", "1"), ("j_1", "1"))

    assert judge(("one",), (JOB,), twice, (DELIVERY,), {"j_1.1": 1}).good
    for others in ({"j_1.2": 1}, {"j_2.1": 1}, {"j_1.1": 0}):
        assert judge(("one",), (JOB,), twice, (DELIVERY,), others).duplicated


def test_a_start_of_an_attempt_that_no_one_recorded_is_a_duplicate() -> None:
    verdict = _judge(started=(("j_1", "1"), ("j_1", "2")))
    assert verdict.duplicated == ["one ran 2 attempts of 1"]


def test_a_start_without_a_record_is_seen() -> None:
    verdict = _judge(started=(("j_1", "1"), ("j_9", "1")))
    assert verdict.other == ["the cluster ran j_9, which has no record"]


def test_an_end_that_no_one_took_is_undelivered() -> None:
    assert _judge(reports=(replace(DELIVERY, accepted=False),)).undelivered == [
        "no receiver took the end of one"
    ]


def test_an_event_on_the_way_is_not_the_end() -> None:
    assert _judge(reports=(replace(DELIVERY, terminal=False),)).undelivered


def test_an_end_under_two_ids_is_a_duplicate() -> None:
    verdict = _judge(reports=(DELIVERY, replace(DELIVERY, event="e_2")))
    assert verdict.duplicated == ["the end of one was reported under 2 ids"]


def test_an_event_with_two_bodies_is_seen() -> None:
    assert _judge(reports=(DELIVERY, replace(DELIVERY, body="other"))).other == ["event e_1 has 2 bodies"]


def test_a_signature_that_does_not_verify_is_seen_and_does_not_count() -> None:
    verdict = _judge(reports=(replace(DELIVERY, verified=False),))
    assert verdict.other == ["the signature of e_1 did not verify"]
    assert verdict.undelivered


def test_rows_that_still_wait_are_seen() -> None:
    assert _judge(records=(replace(JOB, waiting=1),)).other == ["one has ended and 1 rows still wait"]


def test_the_lines_tell_every_number_and_some_of_the_names() -> None:
    lines = _judge(started=()).lines()
    assert "lost                    1" in lines
    assert "  lost: one never ran" in lines
