"""Groups of tests that one pytest-xdist worker runs in sequence: a module, or all that share a stack."""

from __future__ import annotations

from collections.abc import Mapping

from xdist.scheduler import LoadScopeScheduling

#: By name, the folders and modules whose tests share a stack, which one worker starts once.
STACKS: Mapping[str, tuple[str, ...]] = {
    # Two groups: they would take longest in sequence, and names of scripts repeat among them.
    "pages": tuple(f"tests/acceptance/{name}/" for name in ("commands", "pages", "templates")),
    "door": (
        "tests/acceptance/python/",
        *(
            f"tests/acceptance/test_{name}.py"
            for name in (
                *("bad_input", "canaries", "dead", "direct", "doctor", "doors", "download", "events"),
                *("explain", "nodes", "operate", "receipts", "run"),
            )
        ),
    ),
    "entra": ("tests/acceptance/entra/",),
    "addresses": ("tests/contract/addresses/",),
    # Two groups again: together they take three minutes.
    "nodes": tuple(f"tests/contract/emulator/{name}/" for name in ("launch", "nodes")),
    "emulator": ("tests/contract/emulator/",),
    "host": ("tests/contract/host/",),
}


class StackScheduling(LoadScopeScheduling):  # type: ignore[misc]  # xdist has no types
    """Schedules by module, with all tests of a shared stack as one."""

    def _split_scope(self, nodeid: str) -> str:
        stack = next((name for name, places in STACKS.items() if nodeid.startswith(places)), None)
        return stack or str(super()._split_scope(nodeid))
