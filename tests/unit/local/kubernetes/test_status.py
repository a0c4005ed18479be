"""What a node says of its pods."""

from __future__ import annotations

import pytest

from local.kubernetes.kubelet import status

POD = {"metadata": {"uid": "u-1"}, "spec": {"containers": [{"name": "main", "image": "any"}]}}


@pytest.mark.parametrize(
    ("end", "phase"),
    [
        (status.ended(0), "Succeeded"),
        (status.ended(3), "Failed"),
        (status.End(0, "Completed", "too long", "DeadlineExceeded"), "Failed"),
    ],
)
def test_a_pod_succeeds_only_with_the_exit_code_0_and_for_no_other_reason(
    end: status.End, phase: str
) -> None:
    report = status.terminated(POD, [end], "2026-01-01T00:00:00Z")

    assert report["status"]["phase"] == phase
    (container,) = report["status"]["containerStatuses"]
    assert container["state"]["terminated"]["exitCode"] == end.code
    assert report["status"].get("reason", "") == end.pod_reason


@pytest.mark.parametrize(("codes", "phase"), [((0, 0), "Succeeded"), ((0, 3), "Failed"), ((3, 0), "Failed")])
def test_a_pod_of_several_containers_succeeds_only_with_all_of_them(
    codes: tuple[int, int], phase: str
) -> None:
    pod = {**POD, "spec": {"containers": [{"name": "main"}, {"name": "side"}]}}

    report = status.terminated(pod, [status.ended(code) for code in codes], "2026-01-01T00:00:00Z")

    assert report["status"]["phase"] == phase
    ends = {
        one["name"]: one["state"]["terminated"]["exitCode"] for one in report["status"]["containerStatuses"]
    }
    assert ends == dict(zip(("main", "side"), codes, strict=True))


def test_what_is_said_of_a_pod_names_its_uid_so_that_no_later_one_of_its_name_takes_it() -> None:
    for report in (
        status.waiting(POD, "CreateContainerConfigError", 'secret "x" not found'),
        status.running(POD, "127.0.0.1", "2026-01-01T00:00:00Z"),
        status.terminated(POD, [status.ended(0)], "2026-01-01T00:00:00Z"),
        status.initializing(POD, {"name": "first"}, {"running": {"startedAt": "2026-01-01T00:00:00Z"}}),
        status.failed_first(POD, status.ended(3)),
    ):
        assert report["metadata"] == {"uid": "u-1"}


def test_a_node_has_gpus_only_where_it_was_given_some() -> None:
    assert status.node_status("n", 1, 2, 8)["status"]["capacity"]["nvidia.com/gpu"] == "2"
    assert "nvidia.com/gpu" not in status.node_status("n", 1, 0, 8)["status"]["allocatable"]
