"""What only a clone of the project has: the local stack, and what creates a deployment's resources."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from slipway.failure import Failure

if TYPE_CHECKING:
    from collections.abc import Mapping

    from local.clusters.kind import Kind

__all__ = ["CLUSTERS", "USUAL", "module_of_clone"]

CLUSTERS: "Mapping[str, Kind]"
try:
    from local.clusters.registry import CLUSTERS, USUAL
except ModuleNotFoundError:  # the command alone was installed
    CLUSTERS, USUAL = {}, ""


def module_of_clone(name: str) -> Any:
    """A module of the command that needs a clone. Raises Failure, with where to get one."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if not str(error.name).startswith(("local", "slipway.stack")):
            raise
        raise Failure(
            "this needs a clone of the project, because the installed command works with a deployment only; "
            f"get it from {_source()}, and run `make up` there"
        ) from None


def _source() -> str:
    """Where the project was installed from, as pip recorded it (PEP 610)."""
    import json
    from importlib import metadata

    recorded = metadata.distribution("slipway").read_text("direct_url.json")
    address = json.loads(recorded)["url"] if recorded else ""
    return address.removeprefix("file://") or "where this package is published"
