"""What Kubernetes is sent for an attempt."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from shared.core.errors import Misconfigured
from shared.engines.kubernetes.job.pod import size
from shared.engines.kubernetes.job.request import belongings, job, programs
from shared.engines.kubernetes.wire.version import Version
from shared.engines.launch import plan as launch
from tests.unit.engines.kubernetes.job.job_goldens import (
    CLUSTER,
    EVERYTHING,
    FOLDER,
    ORDERS,
    goldens,
    objects,
    order,
)


def test_the_objects_are_the_golden_ones() -> None:
    """`python -m tests.unit.engines.kubernetes.job.job_goldens` writes them anew."""
    assert goldens() == {file.name: file.read_text(encoding="utf-8") for file in FOLDER.iterdir()}


@pytest.mark.parametrize("minor", range(26, 38))
@pytest.mark.parametrize("name", ["one-node", "everything"])
def test_the_objects_fit_the_schemas_of_kubernetes(name: str, minor: int) -> None:
    validator = pytest.importorskip("kubernetes_validate", reason="kubernetes-validate is not installed")
    if name == "everything" and minor < 31:
        pytest.skip("several nodes need 1.31")
    cluster, attempt, _ = ORDERS[name]
    version = Version(1, minor)

    for one in (job(cluster, attempt, version), programs(cluster), *belongings(cluster, attempt)):
        validator.validate(one.body, f"{version}.0", strict=True)


def test_secret_values_are_in_secrets_only() -> None:
    places: dict[tuple[str, str], set[str]] = {}
    for one in objects("everything"):
        text = json.dumps(one.body)
        for value in one.body.get("data", {}).values() if one.body["kind"] == "Secret" else ():
            text += base64.b64decode(value).decode()
        place = (one.body["kind"], one.body["metadata"]["name"])
        places[place] = {word for word in ("a $b", "canary", "account-", "sig=code") if word in text}

    assert {name: words for name, words in places.items() if words} == {
        ("Secret", "digits-abc-1"): {"a $b"},
        ("Secret", "digits-abc-1-code"): {"sig=code"},
        ("Secret", "digits-abc-1-pull"): {"canary"},
    }


def test_no_autoscaler_ends_a_run_to_empty_its_node() -> None:
    metadata = job(CLUSTER, order(**EVERYTHING), Version(1, 36)).body["spec"]["template"]["metadata"]

    undisturbed = {
        "cluster-autoscaler.kubernetes.io/safe-to-evict": "false",
        "karpenter.sh/do-not-disrupt": "true",
    }
    assert metadata["annotations"].items() >= undisturbed.items()


def test_a_job_is_never_deleted_by_itself_and_never_repeats_a_pod() -> None:
    spec = job(CLUSTER, order(), Version(1, 36)).body["spec"]

    assert "ttlSecondsAfterFinished" not in spec
    assert spec["backoffLimit"] == 0
    assert "activeDeadlineSeconds" not in spec, "it would count the time in the queue"


def test_an_old_server_gets_one_node_jobs_without_what_it_does_not_know() -> None:
    spec = job(CLUSTER, order(), Version(1, 20)).body["spec"]

    assert not {"completionMode", "podFailurePolicy", "successPolicy", "suspend"} & set(spec)
    for version in (Version(1, 20), Version(1, 30)):
        with pytest.raises(Misconfigured, match=r"need Kubernetes 1\.31"):
            job(CLUSTER, order(nodeCount=2), version)


def test_every_submission_of_an_attempt_is_the_same_but_for_owner_and_key() -> None:
    cluster, attempt, _ = ORDERS["everything"]
    one, other = (belongings(cluster, attempt, uid, "key") for uid in ("a", "b"))

    def without_owner(body: Any) -> Any:
        return {**body, "metadata": {**body["metadata"], "ownerReferences": []}}

    assert [without_owner(x.body) for x in one] == [without_owner(x.body) for x in other]
    assert one[0].body["metadata"]["ownerReferences"][0]["uid"] == "a"


def test_the_programs_are_those_of_all_engines() -> None:
    data = programs(CLUSTER).body["data"]

    assert data["run.py"] == launch.script()
    assert data["spread.py"] == launch.spreading()


@pytest.mark.parametrize(
    ("text", "count"), [("256m", 256 << 20), ("2g", 2 << 30), ("16GB", 16 << 30), ("1.5k", 1536), ("7", 7)]
)
def test_a_size_is_read_as_docker_reads_it(text: str, count: int) -> None:
    assert size(text) == count


def test_jobs_are_not_root_unless_an_operator_says_so() -> None:
    spec = job(CLUSTER, order(**EVERYTHING), Version(1, 36)).body["spec"]["template"]["spec"]

    assert spec["securityContext"]["runAsNonRoot"]
    assert spec["containers"][0]["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert spec["automountServiceAccountToken"] is False
