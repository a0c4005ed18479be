"""What the Batch AI engine is asked, and what a script finds on its nodes, before anything is sent."""

from __future__ import annotations

import ast
import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest

from shared.core.code.record import WORK, CodeSource
from shared.core.engine import Order
from shared.core.job import Target
from shared.engines.batchai import client
from shared.engines.batchai.client import Workspace, address
from shared.engines.batchai.code import TOKEN
from shared.engines.batchai.engine import BatchAIEngine
from shared.engines.batchai.page import page_of
from shared.jobspec import JobSpec
from tests.names import TREE
from tests.unit.world import job_json

GOLDEN = Path(__file__).resolve().parents[3] / "golden" / "batchai-submission.json"
WORKSPACE = Workspace("https://management.azure.com", "s", "g", "w")


def test_the_request_is_the_one_of_the_golden_file() -> None:
    document = {
        "properties": {
            "cluster": {"id": f"{WORKSPACE.id}/clusters/dev"},
            "nodeCount": 2,
            "schedulingPriority": None,
            "stdOutErrPathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/logs",
            "pyTorchSettings": {"pythonScriptFilePath": "$AZ_BATCHAI_JOB_MOUNT_ROOT/scripts/train.py"},
            "environmentVariables": [{"name": "SLIPWAY_JOB_ID", "value": "j_x"}],
            "constraints": {"maxWallClockTime": "PT36H"},
        }
    }
    (job_order,) = BatchAIEngine(WORKSPACE).submissions(_order(document))
    written = {"method": job_order.method, "path": job_order.path, "body": job_order.body}
    assert written == json.loads(GOLDEN.read_text(encoding="utf-8"))


@pytest.mark.parametrize("code", [None, CodeSource("https://code", "0" * 64, 1, WORK)])
def test_a_page_of_jobs_as_slipway_sends_them_is_read_at_once(code: CodeSource | None) -> None:
    """Whose token is not the first variable is read by the standard library, with all jobs of its page."""
    variables = [{"name": TOKEN, "value": "t"}, {"name": "SLIPWAY_JOB_ID", "value": "j_x"}]
    document = job_json(environmentVariables=variables)

    (job_order,) = BatchAIEngine(WORKSPACE).submissions(replace(_order(document), code=code))
    page = page_of(json.dumps({"value": [{"name": "n", **job_order.body}]}).encode())

    assert job_order.body["properties"]["environmentVariables"][0]["name"] == TOKEN
    assert "cluster" not in page["value"][0]["properties"]


def _order(document: dict[str, Any]) -> Order:
    return Order(Target(engine="batchai", cluster="dev", experiment="e", name="n", token="t"), document)


def test_the_environment_of_batch_ai_has_the_documented_names_with_their_values() -> None:
    document = {
        "properties": {
            "nodeCount": 2,
            "stdOutErrPathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/logs",
            "pyTorchSettings": {"pythonScriptFilePath": "x.py", "communicationBackend": "gloo"},
            "inputDirectories": [{"id": "DATA", "path": "$AZ_BATCHAI_JOB_MOUNT_ROOT/data"}],
            "outputDirectories": [{"id": "MODEL", "pathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/logs"}],
            "environmentVariables": [
                {"name": "WHERE", "value": "${AZ_BATCHAI_INPUT_DATA}/x"},
                {"name": "SLIPWAY_JOB_ID", "value": "j_x"},
            ],
            "secrets": [
                {"name": "PLAIN", "value": "***"},
                {
                    "name": "VAULT",
                    "valueSecretReference": {"secretUrl": "https://v.vault.azure.net/secrets/s"},
                },
            ],
        }
    }
    by_name = {v.name: v for v in BatchAIEngine(WORKSPACE).environment(_order(document))}

    job = "/mnt/batch/tasks/shared/LS_root/jobs/w/e/n"
    assert by_name["AZ_BATCHAI_JOB_MOUNT_ROOT"].value == f"{job}/mounts"
    assert by_name["AZ_BATCHAI_INPUT_DATA"].value == f"{job}/mounts/data"
    assert by_name["WHERE"].value == f"{job}/mounts/data/x"
    assert by_name["WHERE"].exact
    assert not by_name["AZ_BATCHAI_OUTPUT_MODEL"].exact
    assert by_name["AZ_BATCHAI_OUTPUT_MODEL"].value.startswith(
        "/mnt/batch/tasks/shared/LS_root/mounts/logs/s/g/"
    )
    assert by_name["AZ_BATCHAI_PYTORCH_BACKEND"].value == "gloo"
    assert (by_name["SLIPWAY_JOB_ID"].source, by_name["PLAIN"].value) == ("slipway", "***")
    assert "vault.azure.net" in by_name["VAULT"].value


def test_a_preparation_makes_the_directory_that_outlives_the_attempts() -> None:
    for own in ({}, {"jobPreparation": {"commandLine": "echo mine"}}):
        document = {"properties": {"stdOutErrPathPrefix": "/logs/", **own}}
        target = Target(engine="batchai", cluster="dev", experiment="e", name="n-2", token="j_x.2")

        (request,) = BatchAIEngine(WORKSPACE).submissions(Order(target, document))

        properties = request.body["properties"]
        assert {"name": "SLIPWAY_SAVED", "value": "/logs/saved/j_x"} in properties["environmentVariables"]
        lines = properties.get("jobPreparation", {}).get("commandLine", "").splitlines()
        assert lines[1:] == (["echo mine"] if own else [])
        assert all('mkdir -p -m 700 -- "$SLIPWAY_SAVED"' in line for line in lines[:1])


def test_no_request_of_the_sdk_gets_its_query_from_params() -> None:
    """It sends them as they are (Azure/azure-sdk-for-python#31721)."""
    calls = [
        f"{file.name}:{node.lineno}"
        for file in Path(client.__file__).parent.glob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "HttpRequest"
        if any(keyword.arg == "params" for keyword in node.keywords)
    ]
    assert calls == []


def test_a_query_is_decoded_to_what_was_given() -> None:
    for path in TREE:
        path_part, _, query = address("/jobs/j/listOutputFiles", {"directory": path, "a": "b"}).partition("?")
        assert (path_part, parse_qsl(query)) == ("/jobs/j/listOutputFiles", [("directory", path), ("a", "b")])


def test_a_variable_that_shows_whether_a_job_has_code_is_no_name_for_its_own() -> None:
    """With it, and a preparation that ends so, an attempt would cost no retry and count no use."""
    names = [
        "SLIPWAY_CODE",
        "SLIPWAY_CODES",
        "SLIPWAY_CODE_ADDRESS",
        "BASH_ENV",
        "SHELLOPTS",
        "SLIPWAY_USAGE",
    ]
    document = job_json(
        cluster={"id": f"{WORKSPACE.id}/clusters/dev"},
        environmentVariables=[{"name": name, "value": "x"} for name in names],
        secrets=[{"name": "SLIPWAY_CODE", "value": "x"}],
    )

    emulator = Workspace("http://127.0.0.1:9", "s", "g", "w")
    problems = BatchAIEngine(emulator).check(JobSpec.model_validate(document))

    assert [(one.code, one.pointer) for one in problems] == [
        ("SW109", "/properties/environmentVariables/0/name"),
        ("SW109", "/properties/environmentVariables/2/name"),
        ("SW109", "/properties/environmentVariables/3/name"),
        ("SW109", "/properties/environmentVariables/4/name"),
        ("SW109", "/properties/environmentVariables/5/name"),
        ("SW109", "/properties/secrets/0/name"),
    ]
