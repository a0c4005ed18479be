"""What a document costs: `python -m bench.spec`. A clean one is to take less than a millisecond.

Prints microseconds of processor time, the best of many rounds, for reading, completing, validating and
linting a document; how many times longer that is than parsing its text; and what wrong documents cost:
bombs, and each of those in the tables of the tests.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from shared.jobspec import Defaults, Source, complete, read, report, validate, with_lint

_ROUNDS, _REPEATS = 40, 20
_CLUSTER = (
    "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/slipway"
    "/providers/Microsoft.BatchAI/workspaces/dev/clusters/dev-cluster-00"
)
_DEFAULTS = Defaults(cluster_id=_CLUSTER, storage_account="account", std_out_err_path_prefix="$HOME")
_SCRIPT = "$AZ_BATCHAI_JOB_MOUNT_ROOT/scripts/train.py"
_MOUNTS: dict[str, Any] = {
    "azureFileShares": [
        {
            "azureFileUrl": f"https://<AZURE_BATCHAI_STORAGE_ACCOUNT>.file.core.windows.net/{name}",
            "relativeMountPath": name,
        }
        for name in ("logs", "scripts")
    ]
}
_DISTRIBUTED: dict[str, Any] = {
    "nodeCount": 2,
    "pyTorchSettings": {
        "pythonScriptFilePath": _SCRIPT,
        "commandLineArgs": "--epochs 10 --rank $AZ_BATCHAI_TASK_INDEX",
        "communicationBackend": "gloo",
    },
    "stdOutErrPathPrefix": "$AZ_BATCHAI_JOB_MOUNT_ROOT/logs",
    "mountVolumes": _MOUNTS,
    "containerSettings": {"imageSourceRegistry": {"image": "pytorch/pytorch:0.4_cuda9_cudnn7"}},
}
CLEAN: dict[str, dict[str, Any]] = {
    "small": {"nodeCount": 1, "customToolkitSettings": {"commandLine": "hostname"}},
    "distributed": _DISTRIBUTED,
    "with everything": {
        **_DISTRIBUTED,
        "jobPreparation": {"commandLine": "pip install -r $AZ_BATCHAI_JOB_MOUNT_ROOT/scripts/needs.txt"},
        "inputDirectories": [{"id": "DATA", "path": "$AZ_BATCHAI_JOB_MOUNT_ROOT/scripts/data"}],
        "outputDirectories": [{"id": "MODEL", "pathPrefix": "$AZ_BATCHAI_JOB_MOUNT_ROOT/logs"}],
        "environmentVariables": [{"name": f"NAME_{number}", "value": "value"} for number in range(5)],
        "secrets": [{"name": "TOKEN", "value": "sealed"}],
        "constraints": {"maxWallClockTime": "PT12H"},
    },
}
_NAMES = ", ".join(f'"k{number}": {number}' for number in range(9_000))
WRONG: dict[str, str] = {
    "a misspelt name": json.dumps({"properties": {**_DISTRIBUTED, "nodeCuont": 2}}, indent=2),
    "twenty commas": '{"properties": {' + ", ".join(f'"k{n}": [1,]' for n in range(20)) + "}}",
    "9,000 unknown names": '{"properties": {' + _NAMES + "}}",
    "one long line": json.dumps({"properties": {"x": "a" * 900_000}}),
    "brackets": "[" * 500_000,
    "quotes": '{"a": "' + '\\"' * 250_000,
    "words": '{"a": ' + "b " * 250_000,
    "values": "[" + "1," * 250_000 + "1]",
    "variables": json.dumps({"properties": {"jobPreparation": {"commandLine": "$AZ_BATCHAI_X " * 2000}}}),
}


def diagnosed(data: bytes) -> int:
    """How many problems there are; everything that a door does with a document, without storage."""
    source = Source(data)
    document, problems = read(data)
    if document is not None:
        completed, _ = complete(document, _DEFAULTS)
        problems = with_lint(validate(completed)[1], completed)
    located = source.locate(problems)
    return len(report.text(report.problems_as_json(located))) if located else 0


def of_the_tests() -> list[bytes]:
    """The wrong documents of the tests, each with its rule, line and column."""
    from tests.unit.jobspec.bad_jobs import BAD_JOBS
    from tests.unit.jobspec.bad_texts import TEXTS
    from tests.unit.jobspec.checks.lint_jobs import LINTED
    from tests.unit.jobspec.reader.test_reading import BAD_TEXTS

    documents = [*(bad.document for bad in BAD_JOBS), *(linted.document for linted in LINTED)]
    written = [*map(json.dumps, documents), *(bad.text for bad in TEXTS)]
    return [*(text.encode() for text in written), *(bad[0] for bad in BAD_TEXTS)]


def best(work: Callable[[], object], rounds: int = _ROUNDS, repeats: int = _REPEATS) -> float:
    """Seconds of processor time for one call: the best round, so that neighbours do not count."""
    least = float("inf")
    for _ in range(rounds):
        start = time.process_time()
        for _ in range(repeats):
            work()
        least = min(least, (time.process_time() - start) / repeats)
    return least


def clean() -> dict[str, tuple[float, float]]:
    """Seconds for each document without problems: all that a door does with it, and parsing its text."""
    figures = {}
    for name, properties in CLEAN.items():
        data = json.dumps({"properties": properties}, indent=2).encode()
        assert diagnosed(data) == 0, name
        figures[name] = best(partial(diagnosed, data)), best(partial(json.loads, data))
    return figures


def main() -> None:
    """Measure each step of reading a document, and print the table."""
    write = sys.stdout.write
    write(f"{'without problems':24}{'µs':>8}{'json.loads':>12}{'times':>8}\n")
    for name, (ours, theirs) in clean().items():
        write(f"{name:24}{ours * 1e6:8.0f}{theirs * 1e6:12.1f}{ours / theirs:8.0f}\n")
    write(f"\n{'with problems':24}{'ms':>8}{'bytes':>12}\n")
    for name, text in WRONG.items():
        data = text.encode()
        assert diagnosed(data) > 0, name
        spent = best(partial(diagnosed, data), rounds=3, repeats=1)
        write(f"{name:24}{spent * 1e3:8.1f}{len(data):12}\n")
    times = sorted(best(partial(diagnosed, data), rounds=3, repeats=1) * 1e3 for data in of_the_tests())
    write(
        f"\n{len(times)} of the tests: median {times[len(times) // 2]:.1f} ms, slowest {times[-1]:.1f} ms\n"
    )


if __name__ == "__main__":
    main()
