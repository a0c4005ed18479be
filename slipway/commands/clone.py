"""What only a clone of the project has: the local stack, and what creates a deployment's resources."""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from slipway.failure import Failure

if TYPE_CHECKING:
    from collections.abc import Mapping

    from local.clusters.kind import Kind

__all__ = ["CLUSTERS", "USUAL", "module_of_clone"]

#: The name of the package on the index.
DISTRIBUTION = "slipway-jobs"
CLUSTERS: "Mapping[str, Kind]"
if find_spec("slipway.stack"):
    from local.clusters.registry import CLUSTERS, USUAL
else:  # The command alone was installed. A package `local` that can be imported is another project's.
    CLUSTERS, USUAL = {}, ""


def module_of_clone(name: str) -> Any:
    """A module of the command that needs a clone. Raises Failure, with where to get one."""
    if CLUSTERS:
        return import_module(name)
    raise Failure(
        "this needs a clone of the project, because the installed command works with a deployment only; "
        f"get it from {_source()}, and run `make up` there"
    )


def _source() -> str:
    """Where the project was installed from, as pip recorded it (PEP 610)."""
    import json
    from importlib import metadata

    recorded = metadata.distribution(DISTRIBUTION).read_text("direct_url.json")
    address = json.loads(recorded)["url"] if recorded else ""
    return address.removeprefix("file://") or "where this package is published"
