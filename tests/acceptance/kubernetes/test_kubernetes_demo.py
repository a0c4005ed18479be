"""`slipway demo --cluster kubernetes`: the same jobs with one node each, on a real Kubernetes."""

from tests.acceptance.test_demo import shown


async def test_the_demo_runs_on_a_real_kubernetes() -> None:
    await shown("--cluster=kubernetes")
