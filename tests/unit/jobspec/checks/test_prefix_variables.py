"""Results below a variable that only the node has are lost with it; every known variable is judged."""

from __future__ import annotations

import pytest

from shared.jobspec import has_errors, validate
from shared.jobspec.checks.rules.variables import KNOWN_VARIABLES
from tests.unit.jobspec.jobs import job

#: Variables that a path of results may begin with; what the others hold goes with the node.
_MOUNT_ROOTS = {"AZ_BATCHAI_MOUNT_ROOT", "AZ_BATCHAI_JOB_MOUNT_ROOT"}


@pytest.mark.parametrize("form", ["${}/logs", "${{{}}}/logs", "${}"])
@pytest.mark.parametrize("name", sorted({*KNOWN_VARIABLES, "PWD", "TMPDIR", "USER"} - _MOUNT_ROOTS))
def test_results_below_a_variable_of_the_node_are_a_warning(name: str, form: str) -> None:
    prefix = form.format(name)
    document = job(stdOutErrPathPrefix=prefix, outputDirectories=[{"id": "A", "pathPrefix": prefix}])

    warned = [one.pointer for one in validate(document).problems if one.code == "SW033"]
    expected = ["/properties/stdOutErrPathPrefix", "/properties/outputDirectories/0/pathPrefix"]
    if name == "AZ_BATCHAI_STDOUTERR_DIR":
        del expected[1]  # it is made first, so other directories may be below it
    assert sorted(warned) == sorted(expected)
    assert not has_errors(validate(document).problems)
