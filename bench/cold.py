"""Cold start: processor time and modules of importing the app, against importing every SDK it may need."""

from __future__ import annotations

import statistics
import subprocess
import sys

from bench.world import ROOT

_EAGER = (
    "azure.functions, azure.storage.blob.aio, azure.storage.queue.aio, azure.data.tables.aio, "
    "azure.identity.aio, azure.mgmt.batchai.aio, aiohttp, cryptography.fernet, function_app"
)
_SHOW = "; import resource; u = resource.getrusage(0); print(u.ru_utime + u.ru_stime, len(sys.modules))"
_CASES = {"nothing": "import sys", "app": "import sys, function_app", "eager": f"import sys, {_EAGER}"}


def cold() -> dict[str, float]:
    """Milliseconds above those of an empty interpreter, the median of five."""
    found: dict[str, list[tuple[float, int]]] = {name: [] for name in _CASES}
    for _ in range(5):
        for name, code in _CASES.items():
            ran = subprocess.run(
                [sys.executable, "-c", code + _SHOW], cwd=ROOT, capture_output=True, text=True, check=True
            )
            seconds, modules = ran.stdout.split()
            found[name].append((float(seconds) * 1000, int(modules)))
    empty = statistics.median(one[0] for one in found["nothing"])
    shown: dict[str, float] = {}
    for name in ("app", "eager"):
        shown[f"import {name} ms"] = statistics.median(one[0] for one in found[name]) - empty
        shown[f"import {name} modules"] = found[name][0][1]
    return shown
