"""The nodes of a Slurm job, from the list in which Slurm writes them."""

from __future__ import annotations

import pytest

from shared.core.errors import Busy, Misconfigured
from shared.engines.slurm.cluster import clusters_from
from shared.engines.slurm.configure import configure
from shared.engines.slurm.entrance import names
from shared.settings import Settings
from tests.unit.engines.slurm.test_options import GOOD


@pytest.mark.parametrize(
    ("text", "nodes"),
    [
        ("n1", ["n1"]),
        ("n1,n7", ["n1", "n7"]),
        ("gpu-[1-3]", ["gpu-1", "gpu-2", "gpu-3"]),
        ("gpu-[08-10,12],cpu", ["gpu-08", "gpu-09", "gpu-10", "gpu-12", "cpu"]),
        ("r[1-2]n[1,3]-a", ["r1n1-a", "r1n3-a", "r2n1-a", "r2n3-a"]),
        ("", []),
    ],
)
def test_a_list_of_nodes_is_unfolded_in_its_order(text: str, nodes: list[str]) -> None:
    assert list(names(text)) == nodes


@pytest.mark.parametrize("text", ["n[1-", "n]1", "n[a-b]", "n[1-999999999]", ",", "n[]", "n[1--2]"])
def test_a_list_that_cannot_be_read_names_no_node(text: str) -> None:
    with pytest.raises(Busy):
        list(names(text))


@pytest.mark.parametrize(
    "enter",
    [
        {},
        {"local": True},
        {"login": "head"},
        {"login": "head", "user": "ann"},
        {"login": "head", "user": "ann", "certificates": True},
    ],
)
def test_an_operator_says_how_jobs_are_entered(enter: dict[str, object]) -> None:
    (cluster,) = clusters_from({"gpu": {**GOOD, "enter": enter}}, "S").values()

    assert cluster.enter == enter


@pytest.mark.parametrize(
    "enter",
    [
        {"local": False},
        {"local": "yes"},
        {"user": "ann"},
        {"login": "-oProxyCommand=x"},
        {"login": "head", "user": "-x"},
        {"login": "head", "local": True},
        {"login": ["head"]},
        {"local": True, "certificates": True},
        {"certificates": True},
        {"login": "head", "certificates": "yes"},
        {"host": "head"},
    ],
)
def test_another_way_in_is_refused_with_the_two_that_there_are(enter: dict[str, object]) -> None:
    with pytest.raises(Misconfigured, match=r'enter: write {"local": true}, or {"login": "host"'):
        clusters_from({"gpu": {**GOOD, "enter": enter}}, "S")


def test_a_cluster_that_wants_certificates_needs_the_key_that_signs_them() -> None:
    options = {"gpu": {**GOOD, "enter": {"login": "head", "certificates": True}}}

    with pytest.raises(Misconfigured, match="gpu: enter: certificates need SLIPWAY_ENTER_CA"):
        configure(options, Settings({}))
