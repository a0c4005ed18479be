"""The query of the Batch AI emulator: what no client of the contract sends is refused, with its name."""

from __future__ import annotations

from urllib.parse import quote, urlencode

import pytest

from local.batchai.api.query import parameters
from local.batchai.api.routes import find
from local.batchai.state.errors import ArmError
from tests.names import TREE

PARAMETERS = ("api-version", "directory")
_JOB = "/subscriptions/s/resourceGroups/g/providers/Microsoft.BatchAI/workspaces/w/experiments/e/jobs/j"


def test_every_name_is_what_was_encoded() -> None:
    for path in TREE:
        for text in (urlencode({"directory": path}), f"directory={quote(path, safe='')}"):
            assert parameters(text, PARAMETERS) == {"directory": path}


@pytest.mark.parametrize(
    ("query", "target"),
    [
        ("directory=lr=0.1&wd=0", "wd"),
        ("directory=a&directory=b", "directory"),
        ("directory=100%", "directory"),
        ("directory=%zz", "directory"),
        ("directory=%FF", "directory"),
        ("directory=a b", "directory"),
        ("directory=a#b", "directory"),
        ("directory={0}", "directory"),
        ("directory=ü", "directory"),
    ],
)
def test_what_is_not_encoded_is_refused(query: str, target: str) -> None:
    with pytest.raises(ArmError) as error:
        parameters(query, PARAMETERS)

    assert (error.value.status, error.value.target) == (400, target)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (_JOB, {"api-version"}),
        (f"{_JOB}/terminate", {"api-version"}),
        (_JOB.rpartition("/")[0], {"api-version", "maxresults", "$skiptoken"}),
        (
            f"{_JOB}/listOutputFiles",
            {
                *("api-version", "maxresults", "$skiptoken"),
                *("outputdirectoryid", "directory", "linkexpiryinminutes"),
            },
        ),
    ],
)
def test_an_operation_has_the_parameters_of_the_contract(path: str, expected: set[str]) -> None:
    resource = find(path)

    assert resource is not None
    assert resource.parameters == expected
