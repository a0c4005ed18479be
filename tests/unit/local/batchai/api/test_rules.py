"""What a body must keep beyond its shape."""

from typing import Any

import pytest

from local.batchai.api.rules import cluster_problems, job_problems
from tests.unit.local.batchai.documents import job_document, secret


def blob(at: str, **credentials: Any) -> dict[str, Any]:
    key = credentials or {"accountKey": "k"}
    return {"accountName": "a", "containerName": "c", "credentials": key, "relativeMountPath": at}


@pytest.mark.parametrize(
    ("more", "places"),
    [
        ({}, []),
        ({"customToolkitSettings": {}}, ["/customToolkitSettings/commandLine"]),
        ({"customMpiSettings": {"commandLine": "x"}}, [""]),
        (
            {"mountVolumes": {"unmanagedFileSystems": [{"mountCommand": "m", "relativeMountPath": "a"}]}},
            ["/mountVolumes/unmanagedFileSystems"],
        ),
        (
            {"mountVolumes": {"azureBlobFileSystems": [blob("a"), blob("a/b"), blob("../c"), blob("/d")]}},
            [f"/mountVolumes/azureBlobFileSystems/{index}/relativeMountPath" for index in (1, 2, 3)],
        ),
        (
            {
                "mountVolumes": {
                    "azureBlobFileSystems": [blob("a", accountKeySecretReference=secret("http://x"))]
                }
            },
            ["/mountVolumes/azureBlobFileSystems/0/credentials/accountKeySecretReference/secretUrl"],
        ),
        (
            {
                "inputDirectories": [
                    {"id": "A", "path": "x"},
                    {"id": "A", "path": "y"},
                    {"id": "1-", "path": "z"},
                ]
            },
            ["/inputDirectories/1/id", "/inputDirectories/2/id"],
        ),
        (
            {"outputDirectories": [{"id": "stdouterr", "pathPrefix": "x", "pathSuffix": "../y"}]},
            ["/outputDirectories/0/id", "/outputDirectories/0/pathSuffix"],
        ),
        (
            {"environmentVariables": [{"name": "A", "value": "x"}], "secrets": [{"name": "A", "value": "y"}]},
            ["/secrets/0/name"],
        ),
        ({"secrets": [{"name": "A"}]}, ["/secrets/0/value"]),
        ({"secrets": [{"name": "A", "valueSecretReference": secret("https://v.net/secrets/a")}]}, []),
        (
            {"secrets": [{"name": "A", "valueSecretReference": secret("secrets/a")}]},
            ["/secrets/0/valueSecretReference/secretUrl"],
        ),
        *(
            ({"containerSettings": {"imageSourceRegistry": {"image": image}}}, [])
            for image in ("ubuntu:16.04", "batchaitraining/chainermn:openMPI", "a.io:5000/x/y@sha256:0123")
        ),
        (
            {"containerSettings": {"imageSourceRegistry": {"image": "--privileged", "serverUrl": "-x"}}},
            [f"/containerSettings/imageSourceRegistry/{name}" for name in ("image", "serverUrl")],
        ),
        (
            {"containerSettings": {"imageSourceRegistry": {"image": "x"}, "shmSize": "lots"}},
            ["/containerSettings/shmSize"],
        ),
        (
            {"containerSettings": {"imageSourceRegistry": {"image": "x", "credentials": {"username": "u"}}}},
            ["/containerSettings/imageSourceRegistry/credentials/password"],
        ),
        ({"constraints": {"maxWallClockTime": "P8D"}}, ["/constraints/maxWallClockTime"]),
        ({"constraints": {"maxWallClockTime": "soon"}}, ["/constraints/maxWallClockTime"]),
    ],
)
def test_a_job_is_checked_beyond_its_shape(more: dict[str, Any], places: list[str]) -> None:
    problems = job_problems(job_document(**more))

    assert [problem.target for problem in problems] == [f"/properties{place}" for place in places]


@pytest.mark.parametrize(
    ("scale", "place"),
    [
        ({"manual": {"targetNodeCount": 1}, "autoScale": {}}, ""),
        ({"autoScale": {"minimumNodeCount": 2, "maximumNodeCount": 1}}, "/autoScale"),
        ({"autoScale": {"minimumNodeCount": 0, "maximumNodeCount": 101}}, "/autoScale/maximumNodeCount"),
        ({"manual": {"targetNodeCount": 101}}, "/manual/targetNodeCount"),
    ],
)
def test_a_scale_that_cannot_be_is_refused(scale: dict[str, Any], place: str) -> None:
    if len(scale) > 1:
        scale = scale | {"autoScale": {"minimumNodeCount": 0, "maximumNodeCount": 1}}
    user = {"adminUserName": "u", "adminUserPassword": "p"}

    (problem,) = cluster_problems(
        {"vmSize": "STANDARD_D1", "userAccountSettings": user, "scaleSettings": scale}
    )

    assert problem.target == f"/properties/scaleSettings{place}"
