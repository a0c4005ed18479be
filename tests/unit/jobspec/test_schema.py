"""The published schema takes what people write, before completion, and refuses the gross mistakes."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from shared.jobspec.schema import job_schema
from tests.unit.jobspec.bad_jobs import SHAPE, Bad
from tests.unit.jobspec.jobs import everything, job, script_toolkit, share, toolkit

#: Completion supplies these, or only the dispatcher knows the limit.
_ONLY_LATER = {"no cluster", "no output prefix", "text for an object", "too many nodes", "endless text"}
#: JSON Schema sees no difference, or cannot say it.
_BEYOND_SCHEMA = {"fraction for a number", "control character", "hidden direction mark"}


@cache
def validator() -> Any:
    """Made late: to import jsonschema takes two seconds, in every collection of the tests."""
    import jsonschema

    return jsonschema.Draft202012Validator(job_schema())


def test_the_schema_itself_is_valid() -> None:
    import jsonschema

    jsonschema.Draft202012Validator.check_schema(job_schema())


@pytest.mark.parametrize(
    "document",
    [
        everything(),
        job(cluster=None, stdOutErrPathPrefix=None),
        job(cluster="dev-cluster-00"),
        share(accountName=None),
        script_toolkit("pyTorchSettings"),
        toolkit("caffeSettings", configFilePath="a"),
    ],
)
def test_what_people_write_fits(document: dict[str, Any]) -> None:
    validator().validate(document)


@pytest.mark.parametrize(
    "bad", [bad for bad in SHAPE if bad.name not in _ONLY_LATER | _BEYOND_SCHEMA], ids=lambda bad: bad.name
)
def test_mistakes_of_shape_do_not_fit(bad: Bad) -> None:
    assert not validator().is_valid(bad.document)


@pytest.mark.parametrize("document", [{}, job(customToolkitSettings=None), job(caffeSettings={})])
def test_a_job_has_exactly_one_toolkit(document: dict[str, Any]) -> None:
    assert not validator().is_valid(document)
