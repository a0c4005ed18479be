"""Groups of tests that one pytest-xdist worker runs in sequence: a module, or all that share a stack."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

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


#: Modules that wait for minutes, and whose tests start all that they need: each test is a group of its own.
ALONE = ("tests/contract/slurm/test_faults.py",)


class StackScheduling(LoadScopeScheduling):  # type: ignore[misc]  # xdist has no types
    """Schedules by module, with all tests of a shared stack as one."""

    def _split_scope(self, nodeid: str) -> str:
        stack = next((name for name, places in STACKS.items() if nodeid.startswith(places)), None)
        return stack or (nodeid if nodeid.startswith(ALONE) else str(super()._split_scope(nodeid)))

    def remove_node(self, node: Any) -> str | None:
        """Take a worker out. The test that ended it has failed; xdist would have the next worker run it."""
        units = self.assigned_work[node].values()
        unfinished = [(unit, test) for unit in units for test, is_done in unit.items() if not is_done]
        if not unfinished:
            return super().remove_node(node)  # type: ignore[no-any-return]
        unit, crashed = unfinished[0]
        unit[crashed] = True
        super().remove_node(node)
        return str(crashed)
