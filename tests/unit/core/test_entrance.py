"""The coordinates of a running job: each value has a form that means nothing to a program or a shell."""

from __future__ import annotations

from typing import Any

import pytest

from shared.core.errors import Busy
from shared.core.relations.entrance import FORMS, entrance, node_of, ranks_of
from slipway.client.entry.places import place_of
from slipway.failure import Failure

JOB = "j_" + "a" * 24
GOOD: dict[str, dict[str, Any]] = {
    "kubectl": {
        "server": "https://10.0.0.1:6443",
        "namespace": "slipway",
        "pod": "train-1-0-x7k2p",
        "container": "main",
    },
    "srun": {
        "job": "4711",
        "node": "gpu-3.cluster",
        "login": "login.example.org",
        "user": "slipway",
        "certificate": f"ssh-ed25519-cert-v01@openssh.com {'A' * 500}==",
    },
    "ssh": {"host": "127.0.1.1", "port": 50000, "user": "azureuser"},
    "task": {
        "pool": "t4",
        "node": "tvmps_1a",
        "job": "gpu-normal",
        "task": "digits-1",
        "directory": "workitems/gpu-normal/job-1/digits-1",
    },
}
HOSTILE = [
    "-oProxyCommand=touch x",
    "--kubeconfig=/tmp/x",
    "a;touch x",
    "$(touch x)",
    "`touch x`",
    "a b",
    "a\nb",
    "a\n",
    "a'b",
    'a"b',
    "a|b",
    "a&b",
    "a>b",
    "~x",
    "*",
    "{a,b}",
    "\u0661\u0662",
    "\u00e9",
    "a" * 600,
]


@pytest.mark.parametrize("tool", FORMS)
def test_what_clusters_report_is_taken(tool: str) -> None:
    values = GOOD[tool]
    assert {name.rstrip("?") for name in FORMS[tool]} == values.keys()

    assert entrance(tool, **values).place == values
    place = place_of({"job": JOB, "attempt": 1, "rank": 0, tool: values})
    assert place.values == {name: str(value) for name, value in values.items()}


@pytest.mark.parametrize("value", [*HOSTILE, ""])
@pytest.mark.parametrize(("tool", "form"), [(tool, form) for tool in FORMS for form in FORMS[tool]])
def test_a_value_that_means_something_to_a_program_is_refused_by_the_app_and_by_the_client(
    tool: str, form: str, value: str
) -> None:
    name = form.rstrip("?")
    if not value and form.endswith("?"):
        assert name not in entrance(tool, **{**GOOD[tool], name: ""}).place
        return

    with pytest.raises(Busy, match=f"reports no {name}"):
        entrance(tool, **{**GOOD[tool], name: value})
    with pytest.raises(Failure, match=f"{tool}.{name} is not one"):
        place_of({"job": JOB, "attempt": 1, "rank": 0, tool: {**GOOD[tool], name: value}})


@pytest.mark.parametrize("member", [{"job": "-x"}, {"attempt": "1"}, {"rank": True}, {"job": f"{JOB}\n"}])
def test_an_answer_about_no_job_is_refused(member: dict[str, object]) -> None:
    answer = {"job": JOB, "attempt": 1, "rank": 0, "srun": GOOD["srun"], **member}

    with pytest.raises(Failure, match="names no job"):
        place_of(answer)


def test_a_certificate_for_no_login_node_is_refused() -> None:
    place = {**GOOD["srun"], "login": None}

    with pytest.raises(Failure, match="a certificate for no login node"):
        place_of({"job": JOB, "attempt": 1, "rank": 0, "srun": place})


def test_an_answer_of_a_newer_version_names_the_remedy() -> None:
    with pytest.raises(Failure, match="install a newer one"):
        place_of({"job": JOB, "attempt": 1, "rank": 0, "tunnel": {}})


@pytest.mark.parametrize(
    ("properties", "ranks", "nodes"),
    [
        ({"nodeCount": 1, "customToolkitSettings": {"commandLine": "x"}}, 1, [0]),
        ({"nodeCount": 2, "customToolkitSettings": {"commandLine": "x"}}, 2, [0, 1]),
        ({"nodeCount": 2, "pyTorchSettings": {"processCount": 4}}, 4, [0, 0, 1, 1]),
        ({"nodeCount": 2, "horovodSettings": {"processCount": 3}}, 3, [0, 0, 1]),
        ({"nodeCount": 3, "pyTorchSettings": {"processCount": 1}}, 3, [0, 1, 2]),
        ({"nodeCount": 1, "containerSettings": {}, "customMpiSettings": None}, 1, [0]),
    ],
)
def test_ranks_fill_the_nodes_in_blocks(properties: dict[str, object], ranks: int, nodes: list[int]) -> None:
    spec = {"properties": properties}

    assert ranks_of(spec) == ranks
    assert [node_of(spec, rank) for rank in range(ranks)] == nodes
