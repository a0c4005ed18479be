"""The `slipway` command, which people install, and the client for Python, `slipway.Client`.

`commands` has a file or a room for each command, `library` is the client for Python; both know `client`,
which talks to the HTTP API. `stack` starts the local stack and makes the resources of a deployment.

In: the words of a command, or a call of the client. Out: answers for people and scripts.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from slipway.failure import Failure
    from slipway.library.aio import AsyncClient
    from slipway.library.blocking import Client, Job, Sweep
    from slipway.library.job import AsyncJob, JobFailed
    from slipway.library.sweep import AsyncSweep

__all__ = ["AsyncClient", "AsyncJob", "AsyncSweep", "Client", "Failure", "Job", "JobFailed", "Sweep"]

_MODULES = {
    "AsyncClient": "library.aio",
    "AsyncJob": "library.job",
    "AsyncSweep": "library.sweep",
    "Client": "library.blocking",
    "Failure": "failure",
    "Job": "library.blocking",
    "JobFailed": "library.job",
    "Sweep": "library.blocking",
}


def __getattr__(name: str) -> Any:
    """The public names, imported when they are asked for: the command starts without them."""
    if name not in __all__:
        raise AttributeError(f"module 'slipway' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"slipway.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    """The public names also before they are imported, for a notebook that completes them."""
    return sorted({*globals(), *__all__})
