"""What is not a job.json but well known gets one problem, which names it and the nearest thing to do."""

from __future__ import annotations

import base64
import bz2
import gzip
import json
import lzma
from pathlib import Path

import pytest

from shared.intake.message import read_message, read_request
from shared.jobspec import Limits, Problem
from tests.diagnosis import problems_of
from tests.unit.jobspec.jobs import CLUSTER

JOB = json.dumps(
    {"properties": {"nodeCount": 1, "customToolkitSettings": {"commandLine": "hostname"}}}
).encode()
TEXTS: dict[str, tuple[bytes, str, str]] = {
    "YAML": (b"# a job\n---\nproperties:\n  nodeCount: 1\n", "YAML", "as JSON"),
    "Kubernetes": (
        b"apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: digits\nspec:\n  template: {}\n",
        "Kubernetes",
        "containerSettings",
    ),
    "AML command job": (
        b"$schema: https://azuremlschemas.azureedge.net/latest/commandJob.schema.json\ncommand: python a.py\n"
        b"environment: azureml:a@latest\ncompute: azureml:gpu\n",
        "Azure Machine Learning",
        "instance_count",
    ),
    "SkyPilot": (
        b"resources:\n  accelerators: V100:1\nnum_nodes: 2\nrun: |\n  python a.py\n",
        "SkyPilot",
        "num_nodes",
    ),
    "sbatch": (b"#!/bin/bash\n#SBATCH --nodes=2\nsrun python a.py\n", "Slurm", "--time"),
    "a script": (b"#!/bin/sh\npython a.py\n", "a script", "toolkit"),
    "Python": (b"import sys\nprint(1)\n", "a script", "toolkit"),
    "HTML": (b"\n<!DOCTYPE html>\n<html><body>404</body></html>", "HTML", "raw view"),
    "XML": (b'<?xml version="1.0"?><job/>', "XML", "properties"),
    "base64": (base64.encodebytes(JOB), "base64", "base64 -d"),
    "gzip": (gzip.compress(JOB), "gzip", "gunzip"),
    "ZIP": (b"PK\x03\x04\x14\x00\x00\x00", "ZIP", "unpack"),
    "bzip2": (bz2.compress(JOB), "bzip2", "bunzip2"),
    "xz": (lzma.compress(JOB), "xz", "unxz"),
    "zstd": (b"\x28\xb5\x2f\xfd\x24\x01", "zstd", "unzstd"),
    "7-Zip": (b"7z\xbc\xaf\x27\x1c\x00\x04", "7-Zip", "unpack"),
    "PDF": (b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n", "PDF", "text file"),
    "base64 in one line": (base64.b64encode(JOB), "base64", "base64 -d"),
    "base64 for addresses": (base64.urlsafe_b64encode(JOB + b" ~~~?").rstrip(b"="), "base64", "base64 -d"),
    "base64 of UTF-16": (base64.b64encode(JOB.decode().encode("utf-16")), "base64", "base64 -d"),
    "base64 of a packed file": (base64.b64encode(bz2.compress(JOB)), "base64", "base64 -d"),
    "YAML with quoted names": (b'"properties":\n  "nodeCount": 1\n', "YAML", "as JSON"),
    "YAML below comments": (b"# a job\n# of mine\n\nproperties:\n  nodeCount: 1\n", "YAML", "as JSON"),
    "a list in YAML": (b"- properties:\n    nodeCount: 1\n", "YAML", "as JSON"),
    "a list of Kubernetes": (
        b"apiVersion: v1\nkind: List\nitems:\n- apiVersion: batch/v1\n  kind: Job\n",
        "Kubernetes",
        "containerSettings",
    ),
    "runconfig": (
        b"script: train.py\narguments: []\ntarget: gpu\nframework: Python\n",
        "Machine Learning",
        "command",
    ),
    "sbatch without its first line": (b"#SBATCH --nodes=2\nsrun python a.py\n", "Slurm", "--time"),
    "an answer": (b"404: Not Found", "web server", "address"),
    "merge conflict": (
        b'{\n<<<<<<< HEAD\n"nodeCount": 1\n=======\n"nodeCount": 2\n>>>>>>> main\n}\n',
        "merge conflict",
        "marks",
    ),
    "message of a command": (b"ERROR: The client has no authorization\n", "output of a command", "again"),
    "a code block": (b"```json\n" + JOB + b"\n```\n", "Markdown", "```"),
    "messages of a command": (
        b"WARNING: The command is in preview.\n" + JOB,
        "messages of a command",
        "bracket",
    ),
}
DOCUMENTS = {
    "Kubernetes": (
        {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "a"}, "spec": {"template": {}}},
        "Kubernetes",
    ),
    "AML": (
        {"command": "python a.py", "environment": "azureml:a", "compute": "azureml:gpu"},
        "Machine Learning",
    ),
    "Azure Batch task": (
        {
            "id": "task",
            "commandLine": "python a.py",
            "containerSettings": {"imageName": "ubuntu"},
            "constraints": {"maxTaskRetryCount": 3},
        },
        "Azure Batch",
    ),
    "Azure Batch job": ({"id": "job", "poolInfo": {"poolId": "p"}}, "Azure Batch"),
    "SkyPilot": ({"resources": {}, "run": "python a.py"}, "SkyPilot"),
    "a list of Kubernetes": ({"kind": "List", "items": [{"kind": "Job"}]}, "Kubernetes"),
    "AML over REST": (
        {"properties": {"jobType": "Command", "command": "a", "environmentId": "b"}},
        "Machine",
    ),
    "AML by its type": (
        {"type": "Microsoft.MachineLearningServices/workspaces/jobs", "properties": {"jobType": "Command"}},
        "Machine Learning",
    ),
    "runconfig": ({"script": "a.py", "target": "gpu", "framework": "Python"}, "Machine Learning"),
    "Azure Batch task without id": ({"commandLine": "a", "resourceFiles": []}, "Azure Batch"),
    "virtual machine": (
        {"type": "Microsoft.Compute/virtualMachines", "apiVersion": "1", "properties": {"vmSize": "canary"}},
        "an Azure resource",
    ),
    "cluster": (
        {"properties": {"vmSize": "STANDARD_NC6", "scaleSettings": {}, "userAccountSettings": {}}},
        "a Batch AI cluster",
    ),
    "cluster by its id": (
        {"id": f"{CLUSTER}", "properties": {"creationTime": "a", "provisioningState": "b", "nodeSetup": {}}},
        "a Batch AI cluster",
    ),
    "file server": ({"properties": {"vmSize": "a", "sshConfiguration": {}, "dataDisks": {}}}, "file server"),
    "template of a cluster": (
        {"contentVersion": "1.0.0.0", "resources": [{"type": "Microsoft.BatchAI/workspaces/clusters"}]},
        "without a Batch AI job",
    ),
    "error": ({"error": {"code": "AuthorizationFailed", "message": "a"}}, "an error"),
    "notebook": ({"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 2}, "a notebook"),
    "Docker Compose": ({"services": {"a": {"image": "b"}}, "version": "3"}, "Docker Compose"),
    "as_dict": ({"node_count": 1, "custom_toolkit_settings": {"command_line": "a"}}, "as_dict"),
}


def _problems(data: bytes) -> tuple[Problem, ...]:
    return problems_of(data, Path("/nowhere/digits/job.json"))


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_that_is_no_json_is_called_by_its_name(name: str) -> None:
    data, what, remedy = TEXTS[name]

    (problem,) = _problems(data)

    assert problem.code == "SW003"
    assert what in problem.message
    assert remedy in problem.remedy
    assert problem.place is not None
    assert problem.place.line == (2 if name == "HTML" else 1)
    assert problem.fix is None


@pytest.mark.parametrize("name", DOCUMENTS)
@pytest.mark.parametrize("in_message", [False, True])
def test_a_document_of_another_format_is_called_by_its_name_and_no_more_is_said(
    name: str, in_message: bool
) -> None:
    document, what = DOCUMENTS[name]
    data = json.dumps({"name": "a", "spec": document} if in_message else document).encode()

    (problem,) = _problems(data)

    assert problem.code == "SW086"
    assert what in problem.message
    assert not read_request(data, Limits()).readable


def test_nothing_of_a_foreign_document_is_shown() -> None:
    for document in (
        {"command": "a", "environment": "b", "environment_variables": {"HF": "canary"}},
        {"kind": "List", "items": ["canary"]},
        [{"run": "canary", "setup": "x"}, "canary"],
    ):
        (problem,) = _problems(json.dumps(document).encode())

        assert problem.code == "SW086"
        assert "canary" not in json.dumps(problem.as_dict())


def test_a_message_on_a_queue_may_be_in_base64() -> None:
    (request,) = read_message(base64.b64encode(JOB), Limits())

    assert request == read_request(JOB, Limits())


@pytest.mark.parametrize(
    "text",
    [
        "nodeCount: 1}",
        "// a job\n{}",
        "# a job\n{}",
        "{a: 1}",
        "",
        "nonsense",
        '"properties": {"nodeCount": 1}',
        '{"id": 1}',
        '{"run": 1}',
        '{"command": "a"}',
        '{"spec": {"properties": {}}, "name": "a"}',
        '"nodeCount": 1}',
        '{"properties": {"nodeCount": 1}, "type": "x", "kind": "y"}',
        '{"command": "python a.py"}',
        '{"properties": {"vmSize": "a", "nodeCount": 1}}',
    ],
)
def test_what_may_be_meant_as_a_job_is_not_called_foreign(text: str) -> None:
    for one in _problems(text.encode()):
        assert one.code != "SW086"
        assert "this is a" not in one.message.replace("this is a name", "")


def test_what_cannot_be_seen_between_the_tokens_is_named_and_mended() -> None:
    for character, called in (("\u00a0", "U+00A0 (NO-BREAK SPACE)"), ("\u200b", "U+200B (ZERO WIDTH SPACE)")):
        text = JOB.decode().replace("{", "{" + character, 1)

        first = _problems(text.encode())[0]

        assert first.code == "SW003"
        assert called in first.message
        assert first.fix is not None
