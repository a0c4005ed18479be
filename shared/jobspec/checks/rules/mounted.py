"""Which paths below a mount root have a mount."""

from __future__ import annotations

from collections.abc import Iterable

#: Longer paths are refused where mounts are declared.
_LONGEST = 256


class Mounted:
    """The mount paths below one root. A look-up takes the same time for any number of them."""

    def __init__(self, paths: Iterable[str]) -> None:
        self.paths = tuple(path.strip("/") for path in paths if len(path) <= _LONGEST and path.strip("/"))
        self._paths = frozenset(self.paths)
        self._above = frozenset(above for path in self.paths for above in _levels(path) if above != path)

    def covers(self, path: str) -> bool:
        """Whether the path is a mount or below one."""
        return any(level in self._paths for level in _levels(path))

    def leads_to(self, path: str) -> bool:
        """Whether the path is the root or a directory above a mount."""
        return not path or path in self._above


def _levels(path: str) -> list[str]:
    """The path and its parent directories, down to the greatest depth that a mount can have."""
    short = path[: _LONGEST + 1]
    ends = [index for index, character in enumerate(short) if character == "/"]
    whole = [path] if len(path) <= _LONGEST else []
    return [*(path[:end] for end in ends), *whole]
