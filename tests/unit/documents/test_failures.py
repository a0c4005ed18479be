"""docs/reference/engines.md: a table of failures for each engine, and each names a test of that engine."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

import pytest

from tests.unit.documents.corpus import ROOT

PAGE = (ROOT / "docs/reference/engines.md").read_text(encoding="utf-8")
#: The engine of a table → what is in the path, or in the text, of each file with a test of it.
ENGINES = {
    "Batch AI": "batchai",
    "Slurm": "slurm",
    "Azure Batch": "azure ?batch|engines/batch/",
    "Kubernetes": "kubernetes",
}
#: What can go wrong with every scheduler.
REQUIRED = (
    *("no capacity", "quota", "setup", "image", "node lost", "maintenance", "paused", "deleted by others"),
    *("token", "rights", "throttled", "version too old", "version too new", "disk full"),
)
OF_ONE = {
    "Slurm": ("suspended", "drained", "account", "QOS", "partition limits"),
    "Kubernetes": ("suspended", "drained"),
}


class Failure(NamedTuple):
    """A row: the failure, what a person sees, what Slipway does, and the tests that show it."""

    failure: str
    seen_as: str
    done: str
    tests: str

    @property
    def words(self) -> list[str]:
        """The kinds of failure that it is about."""
        return self.failure.partition(":")[0].split(", ")


def failures_of(engine: str) -> list[Failure]:
    """The rows of the table of an engine."""
    (part,) = re.findall(rf"^### Failures of {engine}$.*?(?=^##)", PAGE, re.MULTILINE | re.DOTALL)
    lines = [line for line in part.splitlines() if line.startswith("| ")][1:]
    return [Failure(*(cell.strip() for cell in line.strip("| ").split(" | "))) for line in lines]


@cache
def places() -> Mapping[str, Sequence[str]]:
    """The name of each test → the paths and texts of the files that have it, or collect it as well."""
    result = defaultdict(list)
    for path in (ROOT / "tests").rglob("test_*.py"):
        text = path.read_text(encoding="utf-8")
        for name in re.findall(r"^(?:.*def |    )(test_\w+)[(,]", text, re.MULTILINE):
            result[name].append(f"{path.relative_to(ROOT)}\n{text}".lower())
    return result


def test_every_engine_has_its_table() -> None:
    assert re.findall(r"^### Failures of (.*)$", PAGE, re.MULTILINE) == list(ENGINES)


@pytest.mark.parametrize("engine", ENGINES)
def test_every_failure_that_schedulers_have_is_in_the_table(engine: str) -> None:
    words = [word for one in failures_of(engine) for word in one.words]

    required = (*REQUIRED, *OF_ONE.get(engine, ()))
    assert [name for name in required if not any(word.startswith(name) for word in words)] == []


@pytest.mark.parametrize("engine", ENGINES)
def test_each_failure_of_a_service_names_tests_of_its_engine(engine: str) -> None:
    existing = places()
    rows = failures_of(engine)

    named = {name for one in rows for name in re.findall(r"`(test_\w+)`", one.tests)}
    assert [one.failure for one in rows if not re.fullmatch(r"`test_\w+`(, `test_\w+`)*", one.tests)] == []
    assert [one.failure for one in rows if not (one.seen_as and one.done)] == []
    own = {name for name in named if any(re.search(ENGINES[engine], text) for text in existing[name])}
    assert named - own == set()
