"""A file that a job wrote, as the API lists it."""

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase


@dataclass(frozen=True)
class Remote:
    """A file that a job wrote. `modified` is Unix time, None if the cluster does not give it."""

    directory: str
    path: str
    size: int
    modified: float | None
    #: whether it is a program; None if the cluster does not say
    executable: bool | None = None

    @property
    def name(self) -> str:
        """Its name for people, and its path below the destination."""
        return f"{self.directory}/{self.path}"

    def fits(self, patterns: Sequence[str]) -> bool:
        """Whether one of the patterns matches it, or a folder above it; without patterns every file fits."""
        return not patterns or any(
            name == pattern or fnmatchcase(name, pattern) or name.startswith(f"{pattern.rstrip('/')}/")
            for pattern in patterns
            for name in (self.name, self.path)
        )
