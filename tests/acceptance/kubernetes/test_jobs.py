"""Jobs on a real Kubernetes, made by hand: they run, end, wait and go as the documentation says."""

from __future__ import annotations

import asyncio
import base64

import pytest

from local.patience import Patience
from tests.acceptance.kubernetes.jobs import PATIENCE, Jobs, code_of, is_running, waits_for

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_a_job_completes_with_the_exit_code_and_the_log_of_its_process(jobs: Jobs) -> None:
    name = await jobs.start("echo one; echo two >&2")

    assert await jobs.end_of(name) == "Complete"
    assert code_of(await jobs.pod_of(name)) == 0
    assert sorted((await jobs.log_of(name)).splitlines()) == ["one", "two"]
    assert await jobs.log_of(name, "tailLines=1") == "two\n"


async def test_a_job_that_fails_keeps_its_exit_code(jobs: Jobs) -> None:
    name = await jobs.start("echo before; exit 3")

    assert await jobs.end_of(name) == "Failed"
    assert code_of(await jobs.pod_of(name)) == 3
    assert await jobs.log_of(name) == "before\n"


async def test_a_log_is_followed_until_the_job_ends(jobs: Jobs) -> None:
    name = await jobs.start("for n in 1 2 3; do echo $n; sleep 0.3; done")
    await jobs.pod_of(name, lambda pod: pod["status"]["phase"] != "Pending")

    assert await jobs.log_of(name, "follow=true") == "1\n2\n3\n"


async def test_a_deleted_job_has_time_to_end_and_is_gone_afterwards(jobs: Jobs) -> None:
    script = "trap 'echo asked; sleep 1; echo ended; exit 0' TERM; echo begun; while :; do sleep 0.1; done"
    name = await jobs.start(script)
    pod = await jobs.pod_of(name, is_running)
    path = jobs.path("pods", pod["metadata"]["name"])
    await jobs.wrote(path, "begun")

    await jobs.delete(name)
    log = await jobs.api.insist("GET", f"{path}/log?follow=true")

    assert log == "begun\nasked\nended\n"
    await _disappears(jobs, path)


async def test_a_pod_that_does_not_end_when_asked_is_killed_after_its_grace(jobs: Jobs) -> None:
    pod = {"terminationGracePeriodSeconds": 1}
    name = await jobs.start("trap '' TERM; while :; do sleep 0.1; done", pod=pod)
    path = jobs.path("pods", (await jobs.pod_of(name, is_running))["metadata"]["name"])

    await jobs.delete(name)

    await _disappears(jobs, path)


async def test_a_pod_ends_at_its_limit_of_time(jobs: Jobs) -> None:
    limits = {"activeDeadlineSeconds": 2, "terminationGracePeriodSeconds": 1}
    name = await jobs.start("while :; do sleep 0.1; done", pod=limits)

    assert await jobs.end_of(name) == "Failed"
    assert (await jobs.pod_of(name))["status"]["reason"] == "DeadlineExceeded"


async def test_a_container_has_the_variables_and_volumes_of_its_pod(jobs: Jobs) -> None:
    secret = await jobs.make("secrets", {"data": {"key": base64.b64encode(b"hidden").decode()}})
    settings = await jobs.make("configmaps", {"data": {"plain": "text", "file.txt": "of a file\n"}})
    variables = [
        {"name": "POD", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
        {"name": "LABEL", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['job-name']"}}},
        {"name": "SECRET", "valueFrom": {"secretKeyRef": {"name": secret, "key": "key"}}},
        {"name": "PLAIN", "valueFrom": {"configMapKeyRef": {"name": settings, "key": "plain"}}},
        {"name": "BOTH", "value": "$(PLAIN) and $(UNKNOWN)"},
    ]
    volumes = [
        {"name": "settings", "configMap": {"name": settings}},
        {"name": "secret", "secret": {"secretName": secret}},
        {"name": "own", "emptyDir": {}},
    ]
    places = {"settings": "/etc/of/the/job", "secret": "/secret", "own": "/scratch/deep"}
    mounts = [{"name": name, "mountPath": place} for name, place in places.items()]
    script = """
        echo "$POD $LABEL $SECRET $PLAIN $BOTH $key"; hostname
        cat /etc/of/the/job/file.txt /secret/key; echo
        echo kept > /scratch/deep/file && cat /scratch/deep/file
    """

    name = await jobs.start(
        script,
        pod={"volumes": volumes},
        env=variables,
        envFrom=[{"secretRef": {"name": secret}}],
        volumeMounts=mounts,
    )

    assert await jobs.end_of(name) == "Complete", await jobs.log_of(name)
    pod = (await jobs.pod_of(name))["metadata"]["name"]
    assert (await jobs.log_of(name)).splitlines() == [
        f"{pod} {name} hidden text text and $(UNKNOWN) hidden",
        pod,
        "of a file",
        "hidden",
        "kept",
    ]


async def test_a_pod_waits_for_a_secret_and_says_so(jobs: Jobs) -> None:
    name_later = f"later-{(await jobs.make('configmaps', {'data': {}}))[2:]}"
    name = await jobs.start("echo $key", envFrom=[{"secretRef": {"name": name_later}}])
    await jobs.pod_of(name, lambda pod: name_later in waits_for(pod))

    secret = {"metadata": {"name": name_later}, "data": {"key": base64.b64encode(b"now").decode()}}
    await jobs.api.insist("POST", jobs.path("secrets"), secret)

    assert await jobs.end_of(name) == "Complete"
    assert await jobs.log_of(name) == "now\n"


async def test_a_pod_that_fits_on_no_node_says_why_it_waits(jobs: Jobs) -> None:
    amounts = {"nvidia.com/gpu": "100"}
    name = await jobs.start("true", resources={"limits": amounts, "requests": amounts})

    pod = await jobs.pod_of(name, lambda pod: bool(pod["status"].get("conditions")))

    (condition,) = pod["status"]["conditions"]
    assert (condition["type"], condition["reason"]) == ("PodScheduled", "Unschedulable")
    await jobs.delete(name)


async def _disappears(jobs: Jobs, path: str) -> None:
    patience = Patience(PATIENCE)
    while (answer := await jobs.find(path)) is not None:
        assert not patience.is_over(answer), answer
        await asyncio.sleep(0.1)
