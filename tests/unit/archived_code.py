"""Archives of code in a world."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from tests.doubles.memory_snapshots import UPLOAD
from tests.unit.world import World


def archived(world: World, data: bytes = b"an archive", scope: str = "all") -> dict[str, Any]:
    """What a message names an archive by that a client of this scope has sent."""
    digest = sha256(data).hexdigest()
    world.snapshots.uploaded(f"https://acct.example/snapshots/{scope}/{digest}?{UPLOAD}", data)
    return {"sha256": digest}


def blob(code: dict[str, Any], scope: str = "all") -> str:
    """The name of its blob."""
    return f"{scope}/{code['sha256']}"
