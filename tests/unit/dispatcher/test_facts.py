"""What is configured of a cluster becomes warnings about jobs that it cannot serve."""

from __future__ import annotations

from typing import Any

import pytest

from shared.message import Request
from shared.prepare import prepare
from shared.settings import Settings
from shared.spec import Envelope
from shared.wiring import build
from tests.unit.dispatcher.world import job_json

SETTINGS = {
    "SLIPWAY_STORAGE": "AccountName=acct;AccountKey=a2V5;BlobEndpoint=http://127.0.0.1:1/acct",
    "SLIPWAY_CLUSTER_NODES": "2",
    "SLIPWAY_CLUSTER_GPUS": "1",
    "SLIPWAY_CLUSTER_WALL_CLOCK_HOURS": "24",
}


@pytest.mark.parametrize(
    ("properties", "code"),
    [
        ({"nodeCount": 3}, "SW075"),
        ({"constraints": {"maxWallClockTime": "P2D"}}, "SW074"),
        (
            {
                "customToolkitSettings": None,
                "customMpiSettings": {"commandLine": "true", "processCount": 4},
            },
            "SW076",
        ),
    ],
)
def test_a_job_beyond_the_cluster_is_warned_of(properties: dict[str, Any], code: str) -> None:
    document = job_json(**properties)
    document["properties"] = {n: v for n, v in document["properties"].items() if v is not None}
    request = Request(Envelope(), document, "p")

    prepared = prepare(build(Settings(SETTINGS)), request, key="k")
    quiet = prepare(build(Settings({**SETTINGS, **_UNKNOWN})), request, key="k")

    assert code in {problem.code for problem in prepared.problems}
    assert prepared.valid
    assert code not in {problem.code for problem in quiet.problems}


_UNKNOWN = dict.fromkeys(list(SETTINGS)[1:], "0")
