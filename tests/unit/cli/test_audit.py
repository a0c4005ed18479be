"""`slipway audit`, for people."""

from cli.audit import lines


def test_one_difference_is_counted_in_the_singular() -> None:
    one = {"kind": "drop", "what": "x", "message": "is not recorded"}
    counted = {"jobs": 3}

    for differences, verdict in (
        ([], "no difference"),
        ([one], "1 difference"),
        ([one] * 2, "2 differences"),
    ):
        found = {"differences": differences, "counted": counted, "unknown": []}
        assert lines(found)[-1] == f"{verdict} (3 jobs)"
