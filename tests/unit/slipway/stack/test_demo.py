"""The jobs of the demo."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from slipway.stack.demo_jobs import EXAMPLES, demo_jobs

_FILES = ("digits/job.json", "message.json", "request.json")


def _nodes(folder: Path, name: str) -> int:
    document = json.loads((folder / name).read_text())
    count = document.get("spec", document)["properties"]["nodeCount"]
    assert isinstance(count, int)
    return count


def test_where_jobs_have_several_nodes_the_examples_are_as_they_are(tmp_path: Path) -> None:
    folder = demo_jobs(tmp_path, spread=True)

    assert folder == EXAMPLES
    assert max(_nodes(folder, name) for name in _FILES) == 2


@pytest.mark.parametrize("name", _FILES)
def test_where_they_have_one_each_of_them_has_one(tmp_path: Path, name: str) -> None:
    folder = demo_jobs(tmp_path, spread=False)

    assert _nodes(folder, name) == 1
    assert (folder / "digits/train.py").read_text() == (EXAMPLES / "digits/train.py").read_text()
    mistakes = "mistakes/job.json"
    assert (folder / mistakes).read_text() == (EXAMPLES / mistakes).read_text()
