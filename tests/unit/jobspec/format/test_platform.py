"""The platform of a node in any spelling is not a file server, and inner networks are not part of it."""

from __future__ import annotations

import pytest

from shared.jobspec.checks.rules.platform import is_platform


@pytest.mark.parametrize(
    "host",
    [
        *("169.254.169.254", "169.254.0.1", "169.254.169.254.", "2852039166", "0xA9FEA9FE", "0xa9fea9fe"),
        *("0251.0376.0251.0376", "0xa9.0xfe.0xa9.0xfe", "169.254.43518", "169.16689662", "168.63.129.16"),
        *(
            "0xa83f8110",
            "[fd00:ec2::254]",
            "fd00:ec2::254",
            "FD00:EC2:0:0:0:0:0:254",
            "fe80::1",
            "fe80::1%eth0",
        ),
        *(
            "[::ffff:169.254.169.254]",
            "::ffff:a9fe:a9fe",
            "::a9fe:a9fe",
            "64:ff9b::a9fe:a9fe",
            "2002:a9fe:a9fe::",
        ),
        *("metadata.google.internal", "Metadata.Google.Internal."),
    ],
)
def test_the_platform_of_a_node_is_known_in_any_spelling(host: str) -> None:
    assert is_platform(host)


@pytest.mark.parametrize(
    "host",
    [
        *(
            "10.0.0.4",
            "192.168.1.1",
            "127.0.0.1",
            "168.63.129.17",
            "169.253.1.1",
            "nfs.example.com",
            "nfs",
            "::1",
        ),
        *(
            "fd00::1",
            "fd00:ec2::255",
            "0",
            "1",
            "2049",
            "0x",
            "256.254.169.254",
            "169.254.169.254.1",
            "",
            ".",
            "...",
        ),
        *("169.254.169.254.example.com", "metadata", "9" * 5000, "fe80", "1.2.3.4.5", "08", "x" * 100),
    ],
)
def test_file_servers_of_inner_networks_are_no_platform(host: str) -> None:
    assert not is_platform(host)
