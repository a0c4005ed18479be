"""The lock of a timer: its lease lasts a minute, and a host without it tries again each minute."""

from typing import Any, cast

from azure.core.exceptions import ResourceExistsError
from azure.storage.blob.aio import ContainerClient

from local.host.times import Times
from local.host.triggers.lease import hold


class _Lease:
    released = False

    async def renew(self) -> None:
        raise AssertionError("not yet")

    async def release(self) -> None:
        self.released = True


class _Container:
    """A container whose only blob is leased to another host at first."""

    def __init__(self, refusals: int) -> None:
        self.lease = _Lease()
        self.durations: list[int] = []
        self._refusals = refusals

    def get_blob_client(self, _: str) -> "_Container":
        return self

    async def acquire_lease(self, lease_duration: int) -> _Lease:
        self.durations.append(lease_duration)
        if len(self.durations) <= self._refusals:
            raise ResourceExistsError("leased")
        return self.lease


async def test_a_free_lock_is_taken_at_once_for_a_minute_and_handed_back() -> None:
    container = _Container(refusals=0)

    async with hold(_as_client(container), "lock", "timer sweeper", Times()) as lost:
        assert container.durations == [60]
        assert not lost.is_set()

    assert container.lease.released


async def test_a_lock_of_another_host_is_tried_again_after_the_time_of_its_setting() -> None:
    container = _Container(refusals=2)

    async with hold(_as_client(container), "lock", "timer sweeper", Times(timer_retry=0)):
        assert container.durations == [60, 60, 60]


def _as_client(container: Any) -> ContainerClient:
    return cast(ContainerClient, container)
