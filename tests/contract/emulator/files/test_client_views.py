"""What clients of Batch AI list of a job: what the service and the job wrote there, and nothing else."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from azure.core.exceptions import HttpResponseError

from local.azurite import ACCOUNT
from local.batchai.launch.layout import USAGE
from tests.contract.emulator.conftest import Lab, autoscale, custom, share_mount
from tests.contract.emulator.files.test_files import shares_of

_PREPARED = {"jobPreparation": {"commandLine": "true"}}
_ON_EACH = {"execution-{}.log", "stderr-job_prep-{}.txt", "stdout-job_prep-{}.txt"}
_NODES = ("FIRST", "SECOND")
_WRITES = 'echo 1 > "$AZ_BATCHAI_OUTPUT_MODEL/model.pt"'
_SCRIPT = {"pythonScriptFilePath": "-c", "commandLineArgs": "pass"}
#: What a job is → the whole listing of its standard output.
VIEWS: Mapping[str, tuple[dict[str, Any], set[str]]] = {
    "one node": (custom(_WRITES), {"stderr.txt", "stdout.txt"}),
    "prepared": (
        custom(_WRITES) | _PREPARED,
        {"stderr.txt", "stdout.txt", "stderr-job_prep.txt", "stdout-job_prep.txt"},
    ),
    "prepared on two nodes": (
        custom(_WRITES) | _PREPARED | {"nodeCount": 2},
        {"stderr.txt", "stdout.txt"} | {one.format(node) for one in _ON_EACH for node in _NODES},
    ),
    "PyTorch": (
        {"pyTorchSettings": _SCRIPT | {"processCount": 2}},
        {f"{stream}-{rank}.txt" for stream in ("stderr", "stdout") for rank in range(2)},
    ),
    "TensorFlow": (
        {"tensorFlowSettings": {"pythonScriptFilePath": "-c", "masterCommandLineArgs": "pass"}},
        {"stderr-wk-0.txt", "stdout-wk-0.txt"},
    ),
    "Caffe2": ({"caffe2Settings": _SCRIPT}, {"stderr-0.txt", "stdout-0.txt"}),
    "an image": (
        custom(_WRITES) | {"containerSettings": {"imageSourceRegistry": {"image": "ubuntu"}}},
        {"stderr.txt", "stdout.txt"},
    ),
    "failed": (custom(f"{_WRITES}; exit 3"), {"stderr.txt", "stdout.txt"}),
    "its preparation failed": (
        custom(_WRITES) | {"jobPreparation": {"commandLine": "exit 3"}},
        {"stderr-job_prep.txt", "stdout-job_prep.txt"},
    ),
}


@pytest.mark.parametrize("what", VIEWS)
async def test_every_list_of_a_job_holds_what_it_held_with_the_service(lab: Lab, what: str) -> None:
    job, expected = VIEWS[what]
    expected = expected | ({"execution.log"} if job.get("nodeCount") != 2 else set())

    names, outputs, tree = await _views(lab, job)

    wrote = {"model.pt"} if _WRITES in str(job) and what != "its preparation failed" else set()
    assert (names, outputs) == (expected, wrote)
    assert tree == {f"stdouterr/{name}" for name in expected} | {f"outputs/{name}" for name in wrote}


async def test_the_reports_of_nodes_are_apart_and_only_of_a_job_that_asks_for_them(lab: Lab) -> None:
    asks = {"environmentVariables": [{"name": "SLIPWAY_USAGE", "value": "1"}]}

    names, outputs, tree = await _views(lab, custom(_WRITES) | asks, list_reports=True)

    usual = {"execution.log", "stderr.txt", "stdout.txt"}
    assert (names, outputs) == (usual, {"model.pt"})
    assert tree == {*(f"stdouterr/{name}" for name in usual), "outputs/model.pt", "usage/usage.jsonl"}

    await lab.submit("without", **custom("true"))
    await lab.ends("without")
    with pytest.raises(HttpResponseError, match="is not present on a mount root"):
        await lab.files("without", USAGE)


async def test_the_list_of_a_setup_task_holds_its_two_streams(lab: Lab) -> None:
    share = await _share(lab)
    mounts = {"azureFileShares": [share_mount(share, "here")]}
    task = {"commandLine": "true", "stdOutErrPathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/here"}
    await lab.make_cluster(autoscale(1), nodeSetup={"mountVolumes": mounts, "setupTask": task})
    await lab.submit("job", **custom("true"))
    await lab.ends("job")

    suffix = (await lab.cluster()).node_setup.setup_task.std_out_err_path_suffix

    written = {re.sub(r"tvm-\S+(?=\.txt)", "NODE", path) for path in _tree(lab, share, suffix)}
    assert written == {"stderr-NODE.txt", "stdout-NODE.txt"}


async def _views(
    lab: Lab, job: dict[str, Any], *, list_reports: bool = False
) -> tuple[set[str], set[str], set[str]]:
    """The listings of standard output and of the output directory, and all files of the run on the share."""
    share, prefix = await _share(lab), "$AZ_BATCHAI_JOB_MOUNT_ROOT/here"
    await lab.make_cluster(autoscale(2))
    await lab.submit(
        "job",
        **{"nodeCount": 1, **job},
        mountVolumes={"azureFileShares": [share_mount(share, "here")]},
        stdOutErrPathPrefix=prefix,
        outputDirectories=[{"id": "MODEL", "pathPrefix": prefix}],
    )
    ended = await lab.ends("job")
    names, outputs = set(await lab.files("job")), set(await lab.files("job", "MODEL"))
    if list_reports:
        assert set(await lab.files("job", USAGE)) == {"usage.jsonl"}
    tree = _tree(lab, share, ended.job_output_directory_path_segment)
    nodes = sorted({node for name in names for node in re.findall(r"tvm-[\w-]+", name)})

    def named(name: str) -> str:
        for node, ordinal in zip(nodes, _NODES, strict=False):
            name = name.replace(node, ordinal)
        return name

    return set(map(named, names)), outputs, set(map(named, tree))


async def _share(lab: Lab) -> str:
    name = f"views-{uuid.uuid4().hex[:12]}"
    async with shares_of(lab) as service:
        await service.create_share(name)
    return name


def _tree(lab: Lab, share: str, segment: str) -> set[str]:
    """The files of the share, all of which are of one run, below its segment."""
    root = lab.emulator.data / "shares" / ACCOUNT / share
    files = {path for path in root.rglob("*") if path.is_file()}
    return {str(path.relative_to(root / Path(segment))) for path in files}


async def test_an_address_of_a_file_needs_no_certificate_also_for_a_client_by_https(lab: Lab) -> None:
    """curl and wget know no authority of this machine, and `az` passes the address on to people."""
    await lab.make_cluster(autoscale(1))
    await lab.submit("job", **custom("echo fetched"))
    await lab.ends("job")
    https = json.loads((lab.emulator.data / "https.json").read_text())["url"]
    query = {"api-version": "2018-05-01", "outputdirectoryid": "stdouterr"}

    async with aiohttp.ClientSession() as session:
        address = f"{https}{lab.path}/experiments/digits/jobs/job/listOutputFiles"
        async with session.post(address, params=query, ssl=False) as answer:
            files = {one["name"]: one["downloadUrl"] for one in (await answer.json())["value"]}
        async with session.get(files["stdout.txt"]) as answer:
            content = await answer.text()

    assert (files["stdout.txt"].partition("/download/")[0], content) == (lab.emulator.upstream, "fetched\n")
