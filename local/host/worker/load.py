"""Which runtime a worker loads: Microsoft's library, or one of azure-functions' own converters."""

from pathlib import Path

from local.host.worker.contract import LoadError, Runtime, RuntimeName


def load_runtime(name: RuntimeName, app: Path) -> Runtime:
    """The runtime of that name, imported now; raises LoadError if it is not installed."""
    if name == "sdk":
        from local.host.worker.sdk import SdkRuntime  # a worker loads one runtime only

        return SdkRuntime(app)
    try:
        from local.host.worker.library import LibraryRuntime  # absent before Python 3.13
    except ModuleNotFoundError as error:
        raise LoadError(
            f"the runtime 'library' needs azure-functions-runtime (Python 3.13 or later): {error.name} is "
            "missing. Install requirements.txt, or choose --runtime sdk."
        ) from error
    return LibraryRuntime(app)
