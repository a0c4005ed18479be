"""Faults of the service on demand: the next requests of a kind are refused, or lose their answers."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any

from local.azurebatch.state.errors import BatchError

#: The available faults: the service's codes, each with its status and its sentence.
REFUSALS: Mapping[str, tuple[int, str]] = {
    "ActiveJobAndScheduleQuotaReached": (
        409,
        "The maximum number of active jobs and job schedules allowed for the Batch account has been reached.",
    ),
    "PoolQuotaReached": (409, "The Batch account has reached its quota of pools."),
    "PoolBeingDeleted": (409, "The specified pool is being deleted."),
    "PoolBeingResized": (409, "The specified pool is being resized."),
    "JobBeingDeleted": (409, "The specified job is being deleted."),
    "JobBeingTerminated": (409, "The specified job is being terminated."),
    "TooManyRequests": (429, "Too many requests were sent to the service."),
    "InternalError": (500, "Server encountered an internal error. Please try again after some time."),
    "OperationTimedOut": (500, "Operation could not be completed within the specified time."),
    "ServerBusy": (503, "The server is currently unable to receive requests. Please retry your request."),
    "TooManyEnableAutoScaleRequests": (
        503,
        "The server received too many requests to enable autoscale on the pool; retry after 30 seconds.",
    ),
}


#: With what a pool may fail to grow: the service's codes, each with a sentence.
RESIZE_ERRORS: Mapping[str, str] = {
    "AccountCoreQuotaReached": "The specified account has reached core quota",
    "AccountLowPriorityCoreQuotaReached": "The specified account has reached low priority core quota",
    "AccountSpotCoreQuotaReached": "The specified account has reached spot core quota",
    "AccountVMSeriesCoreQuotaReached": "The specified account has reached VM series core quota",
    "AllocationFailed": "Desired number of nodes could not be allocated",
    "AllocationTimedout": "Desired number of nodes could not be allocated as the resize timeout was reached",
    "CommunicationEnabledPoolReachedMaxVMCount": "Communication enabled pool has reached the most nodes",
    "DependentResourceNotFound": "A resource that the pool depends on was not found",
    "DiskEncryptionFailure": "The disks of the pool could not be encrypted",
    "FailedIdentityOperation": "An operation of the pool's identity failed",
    "IncompatibleVMSize": "The VM size is not compatible with the configuration of the pool",
    "OverconstrainedAllocationRequestError": "No machines fit all that the pool asks for",
    "UnsupportedVMSize": "The VM size is not supported in this region",
}


def resize_error(code: str) -> dict[str, Any]:
    """The error of a resize, as a pool shows it."""
    return {"code": code, "message": RESIZE_ERRORS[code], "values": []}


@dataclass(frozen=True)
class Fault:
    """One fault. `path` may contain `*`. `late`: the request is carried out before the error is sent."""

    code: str
    method: str
    path: str
    times: int
    late: bool = False

    def concerns(self, method: str, path: str) -> bool:
        """Whether a request is of this kind."""
        return self.method in ("*", method) and fnmatchcase(path.lower(), self.path.lower())

    def error(self) -> BatchError:
        """The error to send."""
        status, message = REFUSALS[self.code]
        return BatchError(status, self.code, message)


class Faults:
    """The coming faults, in order. They are lost when the emulator stops."""

    def __init__(self) -> None:
        self._faults: list[Fault] = []

    def add(self, fault: Fault) -> None:
        """Add a fault after the waiting ones."""
        self._faults.append(fault)

    def clear(self) -> None:
        """Remove all faults."""
        self._faults.clear()

    @property
    def waiting(self) -> tuple[Fault, ...]:
        """The faults that have requests left."""
        return tuple(self._faults)

    def take(self, method: str, path: str) -> Fault | None:
        """The fault for a request, which then has one request less."""
        for place, fault in enumerate(self._faults):
            if fault.concerns(method, path):
                self._faults[place : place + 1] = (
                    [replace(fault, times=fault.times - 1)] if fault.times > 1 else []
                )
                return fault
        return None
