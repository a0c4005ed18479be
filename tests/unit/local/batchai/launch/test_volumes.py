"""What a job or a cluster mounts."""

import pytest

from local.batchai.api.rules import job_problems
from local.batchai.launch.volumes import volumes
from tests.unit.local.batchai.documents import job_document


def test_unmanaged_file_systems_are_volumes_where_they_are_allowed() -> None:
    mounts = {"unmanagedFileSystems": [{"mountCommand": "mount  -t nfs\nh:/x", "relativeMountPath": "x"}]}

    (volume,) = volumes(mounts)

    assert job_problems(job_document(mountVolumes=mounts), unmanaged=True) == []
    assert (volume.name, volume.label) == ("mount -t nfs h:/x", "x")


@pytest.mark.parametrize(
    ("url", "share", "inside"),
    [
        ("https://acct.file.core.windows.net/logs", "logs", ""),
        ("https://acct.file.core.windows.net/logs/a/b%20c/", "logs", "a/b c"),
        ("http://127.0.0.1:99/acct/logs", "logs", ""),
        ("https://acct.file.core.windows.net/acct", "acct", ""),
    ],
)
def test_a_share_is_found_in_its_address(url: str, share: str, inside: str) -> None:
    mount = {
        "accountName": "acct",
        "azureFileUrl": url,
        "credentials": {"accountKey": "k"},
        "relativeMountPath": "x",
    }

    (volume,) = volumes({"azureFileShares": [mount]})

    assert (volume.name, volume.inside) == (share, inside)
