"""The delays of a function's retry policy."""

import pytest

from local.host.invoker import delay_of
from local.host.worker.contract import RetryPolicy


def test_a_fixed_delay_stays() -> None:
    policy = RetryPolicy(strategy="fixed_delay", limit=3, delay=5)

    assert [delay_of(policy, n) for n in range(3)] == [5, 5, 5]


@pytest.mark.parametrize(("attempt", "seconds"), [(0, 2), (1, 4), (2, 8), (9, 10), (5000, 10)])
def test_an_exponential_delay_doubles_up_to_its_maximum(attempt: int, seconds: float) -> None:
    policy = RetryPolicy(strategy="exponential_backoff", limit=-1, minimum=2, maximum=10)

    assert delay_of(policy, attempt) == seconds
