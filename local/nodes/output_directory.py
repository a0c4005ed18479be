"""Creates output directories in places where jobs may have put links."""

from collections.abc import Iterable
from pathlib import Path

from confined import Confined
from confined.way import Refused
from local.nodes.machine import Directories


def make_directory(spot: Directories, prefix: str, rest: str, mounted: Iterable[Path]) -> Path:
    """The directory `rest` below the author's prefix, as it really is. Raises OSError.

    Links in a prefix on the node may lead to what is mounted there; none may stand in the rest. A prefix
    elsewhere is on a machine of the author's own.
    """
    written = spot.root / prefix
    allowed = [spot.root, *mounted] if written.is_relative_to(spot.root) else [Path("/")]
    try:
        at = _resolved(written)
        root = next((root.resolve() for root in allowed if at.is_relative_to(root.resolve())), None)
        if root is None:
            raise Refused("a link leads out of the mounts")
        with (
            Confined.real(root) as base,
            base.make_directory(str(at.relative_to(root))) as above,
            above.make_directory(rest),
        ):
            return at / rest.strip("/")
    except Refused as error:
        error.filename = str(written)
        raise


def _resolved(path: Path) -> Path:
    try:
        return path.resolve()
    except RuntimeError as error:  # before Python 3.13
        raise Refused("links lead in a circle") from error
