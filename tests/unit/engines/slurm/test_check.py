"""What a Slurm cluster cannot honour is refused with its field; everything else passes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from shared.engines.slurm.cluster import SlurmCluster
from shared.engines.slurm.engine import SlurmEngine
from shared.engines.slurm.wire.key import SigningKey
from shared.jobspec import JobSpec, has_errors, validate
from shared.jobspec.format.models import JobProperties
from tests.unit.engines.slurm.launch_plans import CLUSTER, EVERYTHING, TOOLKITS, order

_VAULT = {"sourceVault": {"id": "/v"}, "secretUrl": "https://v.vault.azure.net/secrets/s"}
_SHARE = EVERYTHING["mountVolumes"]["azureFileShares"][0]
_BLOBS = EVERYTHING["mountVolumes"]["azureBlobFileSystems"][0]
_IMAGE = {"imageSourceRegistry": {"image": "pytorch/pytorch:2"}}
_LOGIN = {"username": "u", "password": "p"}
_SERVER = {"fileServer": {"id": "/servers/nfs"}, "relativeMountPath": "nfs"}


def refused(cluster: SlurmCluster = CLUSTER, **properties: Any) -> list[str]:
    document = order(TOOLKITS["custom"], **properties).document
    spec = JobSpec.model_validate(document)
    problems = SlurmEngine({"gpu": cluster}, {"gpu": SigningKey(b"k" * 32)}).check(spec)
    assert {problem.code for problem in problems} <= {"SW109"}
    return [problem.pointer.removeprefix("/properties") for problem in problems]


def test_a_job_leaves_the_gpus_to_slurm_where_nodes_may_be_shared() -> None:
    variables = [{"name": "CUDA_VISIBLE_DEVICES", "value": "0"}]
    assert refused(environmentVariables=variables) == []
    for shared in (replace(CLUSTER, allow=["gpus"]), replace(CLUSTER, resources={"cpus": 1})):
        assert refused(shared, environmentVariables=variables) == ["/environmentVariables/0/name"]


@pytest.mark.parametrize("block", TOOLKITS.values(), ids=TOOLKITS)
def test_every_toolkit_with_everything_else_is_honoured(block: dict[str, Any]) -> None:
    assert refused(**{"customToolkitSettings": None, **block, **EVERYTHING}) == []


@pytest.mark.parametrize(
    ("properties", "at"),
    [
        (
            {
                "mountVolumes": {
                    "azureFileShares": [{**_SHARE, "azureFileUrl": "https://b.file.core.windows.net/x"}]
                }
            },
            "/mountVolumes/azureFileShares/0",
        ),
        (
            {"mountVolumes": {"azureFileShares": [{**_SHARE, "fileMode": "0700"}]}},
            "/mountVolumes/azureFileShares/0/fileMode",
        ),
        (
            {"mountVolumes": {"azureBlobFileSystems": [{**_BLOBS, "accountName": "other"}]}},
            "/mountVolumes/azureBlobFileSystems/0",
        ),
        (
            {"mountVolumes": {"azureBlobFileSystems": [{**_BLOBS, "mountOptions": "-o ro"}]}},
            "/mountVolumes/azureBlobFileSystems/0/mountOptions",
        ),
        ({"mountVolumes": {"fileServers": [_SERVER]}}, "/mountVolumes/fileServers/0"),
        (
            {"mountVolumes": {"unmanagedFileSystems": [{"mountCommand": "mount", "relativeMountPath": "x"}]}},
            "/mountVolumes/unmanagedFileSystems/0",
        ),
        ({"containerSettings": _IMAGE}, "/containerSettings"),
        ({"secrets": [{"name": "S", "valueSecretReference": _VAULT}]}, "/secrets/0/valueSecretReference"),
        ({"environmentVariables": [{"name": "SLURM_HINT", "value": "x"}]}, "/environmentVariables/0/name"),
        ({"customToolkitSettings": {"commandLine": "x" * 60_000}}, ""),
    ],
)
def test_what_it_cannot_honour_is_refused_with_its_field(properties: dict[str, Any], at: str) -> None:
    assert refused(**properties) == [at]


def test_a_priority_needs_one_that_is_configured() -> None:
    assert refused(schedulingPriority="high") == []
    assert refused(replace(CLUSTER, priorities={}), schedulingPriority="high") == ["/schedulingPriority"]
    assert refused(replace(CLUSTER, priorities={}), schedulingPriority="normal") == []


def test_a_file_server_may_be_mounted_by_the_nodes() -> None:
    assert (
        refused(replace(CLUSTER, mounts={"/servers/nfs": "/nfs"}), mountVolumes={"fileServers": [_SERVER]})
        == []
    )


@pytest.mark.parametrize("runtime", ["apptainer", "pyxis", "oci"])
def test_containers_are_honoured_where_the_cluster_has_them_but_for_what_they_cannot(runtime: str) -> None:
    bundles = {_IMAGE["imageSourceRegistry"]["image"]: "/shared/bundles/one"} if runtime == "oci" else {}
    cluster = replace(CLUSTER, container=runtime, mpi="pmix", bundles=bundles)
    mpi = {"customToolkitSettings": None, "customMpiSettings": {"commandLine": "hostname"}}
    private = {
        "imageSourceRegistry": {**_IMAGE["imageSourceRegistry"], "credentials": _LOGIN},
        "shmSize": "2g",
    }

    assert refused(cluster, **mpi, containerSettings=_IMAGE) == []
    assert refused(cluster, nodeCount=1, containerSettings=_IMAGE) == []
    assert refused(cluster, containerSettings=_IMAGE) == ["/customToolkitSettings"]
    assert refused(cluster, **mpi, containerSettings=private) == [
        "/containerSettings/imageSourceRegistry/credentials",
        "/containerSettings/shmSize",
    ]
    prepared = refused(cluster, **mpi, containerSettings=_IMAGE, jobPreparation={"commandLine": "true"})
    assert prepared == ([] if runtime == "pyxis" else ["/jobPreparation"])


def test_an_image_without_a_bundle_is_refused_with_those_that_have_one() -> None:
    bundles = {"reg.example/torch:2": "/bundles/torch"}
    cluster = replace(CLUSTER, container="oci", mpi="pmix", bundles=bundles)
    settings = {"imageSourceRegistry": {"serverUrl": "https://reg.example", "image": "torch:2"}}
    spec = JobSpec.model_validate(order(TOOLKITS["pytorch"], containerSettings=_IMAGE).document)

    (problem,) = SlurmEngine({"gpu": cluster}, {"gpu": SigningKey(b"k" * 32)}).check(spec)

    assert problem.pointer == "/properties/containerSettings/imageSourceRegistry/image"
    assert "pytorch/pytorch:2" in problem.message
    assert "`bundles`" in problem.message
    assert "reg.example/torch:2" in problem.remedy
    assert refused(cluster, nodeCount=1, containerSettings=settings) == []


#: What becomes of each property of a job.json on Slurm; docs/reference/engines.md has the same in words.
MAPPED = {
    "cluster", "nodeCount", "stdOutErrPathPrefix", "schedulingPriority", "mountVolumes", "jobPreparation",
    "containerSettings", "inputDirectories", "outputDirectories", "environmentVariables", "secrets",
    "constraints", *(name for block in TOOLKITS.values() for name in block),
    "toolType",  # a word for the toolkit, which decides nothing
}  # fmt: skip


def test_no_property_of_the_format_is_forgotten() -> None:
    names = {field.alias or name for name, field in JobProperties.model_fields.items()}
    assert names == MAPPED


def test_what_is_everything_is_a_valid_job() -> None:
    _, problems = validate(order(TOOLKITS["custom"], **EVERYTHING).document)
    assert not has_errors(problems), problems
