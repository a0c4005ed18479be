"""What an exit code says is in the message of every attempt that failed by it, once."""

import pytest

from shared.core.engine import Observation
from shared.core.job import JobState, Reason
from shared.lifecycle.exit_codes import with_meaning

FAILED = "Job failed with non-zero exit code"


def _end(code: int | None, message: str = FAILED, reason: Reason = Reason.USER) -> Observation:
    return Observation(JobState.FAILED, reason, message, code)


@pytest.mark.parametrize(
    ("code", "word"),
    [(137, "memory"), (139, "crashed (signal 11)"), (143, "told to end (signal 15)"), (127, "not found")],
)
def test_a_code_is_explained(code: int, word: str) -> None:
    assert word in with_meaning(_end(code)).message
    assert with_meaning(with_meaning(_end(code))) == with_meaning(_end(code))
    assert with_meaning(_end(code, "")).message.startswith("the job failed: ")


@pytest.mark.parametrize(
    "end",
    [
        _end(1),
        _end(None),
        _end(137, "ended by the cluster: it used more memory than its limit (OOMKilled)"),
        _end(137, f"{FAILED}: killed (signal 9), usually because it used more memory than there is"),
        _end(143, "preempted", Reason.PREEMPTED),
        Observation(JobState.SUCCEEDED, exit_code=0),
    ],
)
def test_what_the_engine_says_stays(end: Observation) -> None:
    assert with_meaning(end) is end
