"""What a container has in its environment, from fields of its pod and by references."""

from __future__ import annotations

import pytest

from local.kubernetes.kubelet.environment import expand, field, hostname

POD = {
    "metadata": {"name": "job-abc", "namespace": "slipway", "uid": "u-1", "labels": {"a/b": "c"}},
    "spec": {"nodeName": "node-0"},
    "status": {},
}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("metadata.name", "job-abc"),
        ("metadata.uid", "u-1"),
        ("metadata.labels['a/b']", "c"),
        ("metadata.annotations['a/b']", ""),
        ("spec.nodeName", "node-0"),
        ("spec.serviceAccountName", ""),
        ("status.podIP", "127.0.0.1"),
    ],
)
def test_a_field_of_a_pod_is_found_by_its_path(path: str, value: str) -> None:
    assert field(POD, path, "127.0.0.1") == value


@pytest.mark.parametrize(
    ("text", "expanded"),
    [
        ("$(A) and $(B)", "1 and $(B)"),
        ("$$(A)", "$(A)"),
        ("$A ${A}", "$A ${A}"),
        ("", ""),
    ],
)
def test_a_reference_is_replaced_where_its_name_is_known(text: str, expanded: str) -> None:
    assert expand(text, {"A": "1"}) == expanded


def test_a_pod_is_a_machine_of_its_name_or_of_the_one_that_it_was_given() -> None:
    assert hostname(POD) == "job-abc"
    assert hostname({**POD, "spec": {"hostname": "rank-0"}}) == "rank-0"
    assert len(hostname({"metadata": {"name": "n" * 90}, "spec": {}})) == 63
