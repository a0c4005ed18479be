"""The official recipes pass as they are, except for what is really wrong in them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from shared.jobspec import Defaults, complete, read, validate
from shared.jobspec.schema import job_schema
from tests.diagnosis import problems_of
from tests.unit.jobspec.jobs import CLUSTER

RECIPES = Path(os.environ.get("SLIPWAY_RECIPES", Path(__file__).parents[4] / "shared" / "recipes"))
FILES = sorted(RECIPES.glob("*/job.json"))
DEFAULTS = Defaults(
    cluster_id=CLUSTER,
    storage_account="devstoreaccount1",
    drop_container="drop",
    drop_account="devstoreaccount1",
)
#: It uses an input directory that it does not have; it ran, since its script does without.
REALLY_WRONG = {
    "TensorFlow-GPU-Distributed": [
        ("SW044", "/properties/tensorFlowSettings/masterCommandLineArgs"),
        ("SW044", "/properties/tensorFlowSettings/workerCommandLineArgs"),
    ]
}
#: It writes to a share of the cluster, of which nothing is known here.
CLUSTER_MOUNTS = {
    "CNTK-GPU-BrainScript": [
        ("SW034", "/properties/stdOutErrPathPrefix"),
    ]
}

recipes = pytest.mark.parametrize(
    "file", FILES or [None], ids=[file.parent.name for file in FILES] or ["none"]
)


def _document(file: Path | None) -> tuple[str, dict[str, Any]]:
    if file is None:
        pytest.skip(
            "the official recipes are not beside this checkout; SLIPWAY_RECIPES may name their folder"
        )
    document, problems = read(file.read_bytes())
    assert document is not None, problems
    return file.parent.name, document


@recipes
def test_a_recipe_passes_once_it_is_completed(file: Path | None) -> None:
    name, document = _document(file)

    completed, _ = complete(document, DEFAULTS)
    _, problems = validate(completed)

    expected = REALLY_WRONG.get(name, []) + CLUSTER_MOUNTS.get(name, [])
    assert [(one.code, one.pointer) for one in problems] == expected


@recipes
def test_a_recipe_fits_the_published_schema_before_it_is_completed(file: Path | None) -> None:
    import jsonschema

    _, document = _document(file)

    jsonschema.Draft202012Validator(job_schema()).validate(json.loads(json.dumps(document)))


@recipes
def test_a_recipe_gets_exactly_its_problems_from_the_command_line_and_each_has_its_place(
    file: Path | None,
) -> None:
    name, _ = _document(file)
    assert file is not None

    problems = problems_of(file.read_bytes(), file)

    assert "error" not in {one.severity for one in problems}
    wrong = [one for one in problems if one.code == "SW044"]
    assert [(one.code, one.pointer) for one in wrong] == REALLY_WRONG.get(name, [])
    # The image of one has no tag; one writes to a share of the cluster, of which nothing is known here.
    others = {one.code for one in problems} - {"SW044"}
    assert others == {"Caffe2-GPU-Distributed": {"SW072"}, "CNTK-GPU-BrainScript": {"SW034"}}.get(name, set())
    text = file.read_text(encoding="utf-8").split("\n")
    for one in wrong:
        assert one.place is not None
        assert text[one.place.line - 1][one.place.column - 1 :].startswith("AZ_BATCHAI_INPUT_DATASET")
