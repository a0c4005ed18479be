"""Clusters as they are configured: every mistake is named, and no key is shown."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from shared.configured import ConfiguredEngines
from shared.core.errors import Misconfigured
from shared.engines.slurm.cluster import SlurmCluster, clusters_from
from shared.engines.slurm.wire.key import GivenToken, SigningKey, key_from
from shared.settings import Settings

ROOT = Path(__file__).resolve().parents[4]
GOOD: dict[str, Any] = {"url": "https://head:6820", "user": "slipway", "shared": "/shared/slipway"}


def test_options_are_camel_case_and_the_page_names_all_of_them() -> None:
    (cluster,) = clusters_from({"gpu": {**GOOD, "mountRoot": "/m", "settleSeconds": 2}}, "S").values()
    assert (cluster.name, cluster.mount_root, cluster.settle_seconds) == ("gpu", "/m", 2)

    page = (ROOT / "docs" / "reference" / "engines.md").read_text(encoding="utf-8")
    for name in SlurmCluster.__dataclass_fields__:
        first, *rest = name.split("_")
        assert f"`{first}{''.join(word.capitalize() for word in rest)}`" in page or name == "name"


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ([], "S must be an object"),
        ({"gpu": 1}, "S: gpu must be an object"),
        ({"gpu": {**GOOD, "uri": "x"}}, "no option 'uri'"),
        ({"gpu": {"url": "https://head"}}, "user is missing"),
        ({"gpu": {**GOOD, "gpus": "4"}}, "gpus has the wrong type"),
        ({"gpu": {**GOOD, "gpus": True}}, "gpus has the wrong type"),
        ({"gpu": {**GOOD, "ends": "ends"}}, "not an absolute path"),
        ({"gpu": {**GOOD, "mounts": {"a/b": 1}}}, "mounts has the wrong type"),
        ({"gpu": {**GOOD, "url": "http://head:6820"}}, "plainHttp"),
        ({"gpu": {**GOOD, "url": "head:6820"}}, "url must be"),
        ({"gpu": {**GOOD, "container": "docker"}}, "apptainer, pyxis, oci"),
        ({"gpu": {**GOOD, "container": "pyxis"}}, "set mpi"),
        ({"gpu": {**GOOD, "container": "oci"}}, "set mpi"),
        ({"gpu": {**GOOD, "bundles": {"a": "b"}}}, "not an absolute path"),
        ({"gpu": {**GOOD, "shared": "shared"}}, "not an absolute path"),
        ({"gpu": {**GOOD, "mounts": {"a/b": "/x y\n"}}}, "not an absolute path"),
        ({"gpu": {**GOOD, "path": ""}}, "path: '' is not an absolute directory"),
        ({"gpu": {**GOOD, "path": "/usr/bin:bin"}}, "path: 'bin' is not an absolute directory"),
        ({"gpu": {**GOOD, "path": "$HOME/bin:/bin"}}, "is not an absolute directory; e.g. /opt/bin"),
        ({"gpu": {**GOOD, "path": "/bin:"}}, "path: '' is not an absolute directory"),
        ({"gpu": {**GOOD, "gpus": -1}}, "gpus has to be at least 0"),
        ({"gpu": {**GOOD, "maxNodes": -1}}, "maxNodes has to be at least 0"),
        ({"gpu": {**GOOD, "nodeMemory": -1}}, "nodeMemory has to be at least 0"),
        ({"gpu": {**GOOD, "graceSeconds": 0}}, "graceSeconds has to be from 1 to 600"),
        ({"gpu": {**GOOD, "graceSeconds": 601}}, "graceSeconds has to be from 1 to 600"),
        ({"gpu": {**GOOD, "settleSeconds": -1}}, "settleSeconds has to be from 0 to 600"),
        ({"gpu": {**GOOD, "settleSeconds": float("nan")}}, "settleSeconds has to be from 0 to 600"),
        ({"gpu": {**GOOD, "gpus": 8, "resources": {"gpus": 9}}}, "resources.gpus: a node has 8"),
        ({"gpu": {**GOOD, "priorities": {"urgent": 1}}}, "urgent"),
        ({"gpu": {**GOOD, "resources": [1]}}, "resources has the wrong type"),
        ({"gpu": {**GOOD, "resources": {"gpu": 1}}}, "S: gpu: resources.gpu: unknown property"),
        (
            {"gpu": {**GOOD, "resources": {"memory": "lots"}}},
            "S: gpu: resources.memory: .*write a whole number",
        ),
        ({"gpu": {**GOOD, "resources": {"partition": "x"}}}, "partition is an option itself"),
        ({"gpu": {**GOOD, "resources": {"exclusive": True}}}, "jobs get whole nodes anyway"),
        ({"gpu": {**GOOD, "resources": {"options": {"name": "x", "hold": 1}}}}, "cannot set hold, name"),
        ({"gpu": {**GOOD, "allow": "gpus"}}, "allow has the wrong type"),
        ({"gpu": {**GOOD, "allow": ["gpus", "disk"]}}, "no resource 'disk'; there are exclusive, gpus"),
    ],
)
def test_a_mistake_is_named_with_its_place(document: Any, message: str) -> None:
    with pytest.raises(Misconfigured, match=message):
        clusters_from(document, "S")


def test_plain_http_is_for_this_machine_or_where_it_is_wanted() -> None:
    clusters_from({"gpu": {**GOOD, "url": "http://127.0.0.1:6820"}}, "S")
    clusters_from({"gpu": {**GOOD, "url": "http://head:6820", "plainHttp": True}}, "S")


def test_a_key_is_base64_or_a_token_and_never_shown() -> None:
    assert key_from(base64.b64encode(b"k" * 32).decode(), "K") == SigningKey(b"k" * 32)
    for written in ("eyJh.eyJz.c2ln", "eyJh.eyJz.c2ln\n", " SLURM_JWT=eyJh.eyJz.c2ln\r\n"):
        assert key_from(written, "K") == GivenToken("eyJh.eyJz.c2ln")
    with pytest.raises(Misconfigured, match="K: gpu is neither a token"):
        key_from("canary.a b.c", "K: gpu")
    with pytest.raises(Misconfigured) as caught:
        key_from("canary", "K: gpu")
    assert "K: gpu" in str(caught.value)
    assert "canary" not in str(caught.value)


def test_clusters_of_both_engines_stand_side_by_side() -> None:
    key = base64.b64encode(b"k" * 32).decode()
    values = {
        "SLIPWAY_BATCHAI_URL": "http://127.0.0.1:7080",
        "SLIPWAY_CLUSTERS": json.dumps({"gpu": {"engine": "slurm", **GOOD}, "old": {"engine": "batchai"}}),
        "SLIPWAY_SLURM_KEYS": json.dumps({"gpu": key}),
    }
    engines = ConfiguredEngines(Settings(values))

    by_name = {
        name: (cluster.engine, cluster.id.rpartition("/")[2]) for name, cluster in engines.clusters.items()
    }
    assert by_name == {"gpu": ("slurm", "gpu"), "old": ("batchai", "old")}
    assert engines.get("slurm").version.startswith("slurmrestd")
