"""The example training job, and the notebook."""

import json
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "digits"


@pytest.mark.parametrize("key", ["cluster", "mountVolumes", "containerSettings"])
def test_the_job_leaves_to_the_dispatcher_what_it_fills_in(key: str) -> None:
    job = json.loads((EXAMPLE / "job.json").read_text())["properties"]

    assert key not in job
    assert job["nodeCount"] == 2
    assert [output["id"] for output in job["outputDirectories"]] == ["MODEL"]


def test_the_notebook_is_kept_without_outputs() -> None:
    cells = json.loads((EXAMPLE.parent / "train.ipynb").read_text())["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]

    assert code
    assert [cell for cell in code if cell["outputs"] or cell["execution_count"] is not None] == []
