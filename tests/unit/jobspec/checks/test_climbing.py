"""Levels `.` and `..` in a path: what a node reads there is what is checked, waited for and run."""

from __future__ import annotations

from typing import Any

import pytest

from shared.jobspec import JsonObject, scripts_wanted, validate
from tests.unit.jobspec.jobs import blobs, job, script_toolkit

ROOT = "$AZ_BATCHAI_JOB_MOUNT_ROOT"


def field(path: str) -> JsonObject:
    document = script_toolkit("caffe2Settings")
    document["properties"]["caffe2Settings"]["pythonScriptFilePath"] = path
    return _mounting(document)


def command(path: str) -> JsonObject:
    return _mounting(job(customToolkitSettings={"commandLine": f"python {path} --epochs 3"}))


def _mounting(document: Any) -> JsonObject:
    mounts = blobs(relativeMountPath="scripts", containerName="scripts")["properties"]["mountVolumes"]
    document["properties"]["mountVolumes"] = mounts
    document["properties"]["stdOutErrPathPrefix"] = f"{ROOT}/scripts/logs"
    return document  # type: ignore[no-any-return]


@pytest.mark.parametrize("make", [field, command])
@pytest.mark.parametrize(
    "path", ["d/../x.py", "./d/../x.py", "d/e/../../x.py", "d//../x.py", "./x.py", ".//./x.py"]
)
def test_the_file_that_a_node_reads_is_the_one_that_the_drop_waits_for(make: Any, path: str) -> None:
    document = make(f"{ROOT}/scripts/{path}")

    assert scripts_wanted(document) == ("x.py",)
    assert validate(document).problems == ()


@pytest.mark.parametrize("make", [field, command])
@pytest.mark.parametrize(
    "path", ["scripts/../x.py", "scripts/d/../../x.py", "./x.py", "scripts/../../scripts/x.py"]
)
def test_a_path_that_leaves_its_mount_is_named(make: Any, path: str) -> None:
    document = make(f"{ROOT}/{path}")

    (problem,) = validate(document).problems
    assert problem.code == "SW033"
    assert problem.severity == ("error" if make is field else "warning")
    assert "mounts nothing at" in problem.message
    assert scripts_wanted(document) == ()


@pytest.mark.parametrize("make", [field, command])
def test_a_level_that_changes_nothing_leads_to_the_mount(make: Any) -> None:
    document = make(f"{ROOT}/./scripts/x.py")

    assert validate(document).problems == ()
    assert scripts_wanted(document) == ("x.py",)
