"""The version of an API server, and its features. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from shared.core.errors import Transient

_VERSION = re.compile(r"v(\d+)\.(\d+)", re.ASCII)


class Version(NamedTuple):
    """Major and minor number."""

    major: int
    minor: int

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}"

    @property
    def is_supported(self) -> bool:
        """Whether it has Indexed Jobs with a pod failure policy.

        Others run jobs on one node only, for tests.
        """
        return self >= (1, 26)

    @property
    def has_success_policy(self) -> bool:
        """Whether a Job can end with its first rank."""
        return self >= (1, 31)

    @property
    def has_words(self) -> bool:
        """Whether its table of Jobs has a column for their state."""
        return self >= (1, 31)


#: Assumed for a server that was not queried.
NEWEST = Version(1, 37)


def version_of(document: Mapping[str, Any]) -> Version:
    """The version from the answer of GET /version. Raises Transient if another program answers there."""
    match = _VERSION.match(str(document.get("gitVersion") or ""))
    if match is None:
        raise Transient("Kubernetes: /version names no version: does another program answer there?")
    return Version(int(match[1]), int(match[2]))
