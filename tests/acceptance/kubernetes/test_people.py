"""Who may enter pods: people with a Role for that, and not Slipway's own account."""

from __future__ import annotations

import asyncio
import base64
import uuid
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path

import pytest
import pytest_asyncio

from local.kubernetes import Kubernetes
from local.kubernetes.kubeconfig import save, with_token
from local.patience import Patience
from shared.engines.kubernetes.rights import ENTERING, rules_of
from slipway.client.entry.places import Place
from slipway.client.entry.run import check_rights, person_of
from slipway.failure import Failure
from tests.acceptance.kubernetes.jobs import PATIENCE, Jobs, is_running
from tests.acceptance.kubernetes.kubectl import Kubectl

pytestmark = pytest.mark.asyncio(loop_scope="session")
_RBAC = "rbac.authorization.k8s.io"


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def pod(jobs: Jobs) -> AsyncIterator[str]:
    """The name of a pod that runs."""
    name = await jobs.start("while :; do sleep 0.1; done")
    yield (await jobs.pod_of(name, is_running))["metadata"]["name"]
    await jobs.delete(name)


async def person(cluster: Kubernetes, rights: Mapping[str, Sequence[str]], folder: Path) -> Path:
    """The kubeconfig of a new person with these rights in Slipway's namespace."""
    name, core = f"p-{uuid.uuid4().hex[:8]}", "/api/v1/namespaces/slipway"
    roles = f"/apis/{_RBAC}/v1/namespaces/slipway"
    meta = {"metadata": {"name": name}}
    rules = rules_of({resource: tuple(verbs) for resource, verbs in rights.items()})
    subject = {"kind": "ServiceAccount", "name": name, "namespace": "slipway"}
    binding = {"roleRef": {"apiGroup": _RBAC, "kind": "Role", "name": name}, "subjects": [subject]}
    await cluster.api.make(f"{core}/serviceaccounts", meta)
    await cluster.api.make(f"{roles}/roles", meta | {"rules": rules})
    await cluster.api.make(f"{roles}/rolebindings", meta | binding)
    of_account = {"name": name, "annotations": {"kubernetes.io/service-account.name": name}}
    token = {"metadata": of_account, "type": "kubernetes.io/service-account-token"}
    await cluster.api.make(f"{core}/secrets", token)
    patience = Patience(PATIENCE)
    while "token" not in (
        data := (await cluster.api.insist("GET", f"{core}/secrets/{name}")).get("data") or {}
    ):
        assert not patience.is_over(data)
        await asyncio.sleep(0.1)
    file = folder / f"{name}.kubeconfig"
    text = base64.b64decode(data["token"]).decode()
    save(file, with_token(cluster.url, cluster.home / "keys" / "ca.pem", text, "default"))
    return file


def place(cluster: Kubernetes, pod: str) -> Place:
    """The pod as the place of a job."""
    values = {"server": cluster.url, "namespace": "slipway", "pod": pod, "container": "main"}
    return Place(f"j_{'a' * 24}", 1, 0, "kubectl", values)


async def test_a_person_with_the_role_lacks_nothing(
    cluster: Kubernetes, pod: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBECONFIG", str(await person(cluster, ENTERING, tmp_path)))
    pod_place = place(cluster, pod)

    await asyncio.to_thread(check_rights, pod_place, await asyncio.to_thread(person_of, pod_place))


async def test_a_person_with_the_role_enters_and_forwards_and_may_do_no_more(
    cluster: Kubernetes, pod: str, tmp_path: Path
) -> None:
    kubectl = Kubectl(await person(cluster, ENTERING, tmp_path), "slipway")

    answer = await kubectl.run("exec", pod, "--container=main", "--", "echo", "in")
    async with kubectl.forward(pod, 1):
        pass
    refused = [
        await kubectl.run(*words)
        for words in (
            ("delete", "pod", pod),
            ("get", "secrets"),
            ("get", "jobs"),
            ("--namespace=default", "get", "pods"),
        )
    ]

    assert (answer.code, answer.out) == (0, b"in\n"), answer.error
    assert ["Forbidden" in one.error for one in refused] == [True] * 4


async def test_the_account_of_slipway_enters_no_pod(cluster: Kubernetes, pod: str) -> None:
    kubectl = Kubectl(cluster.slipway, "slipway")

    entered = await kubectl.run("exec", pod, "--", "echo", "in")
    forwarded = await kubectl.run("port-forward", f"pod/{pod}", ":1")
    questions = [
        await kubectl.run("auth", "can-i", verb, "pods", f"--subresource={part}")
        for verb in ("get", "create")
        for part in ("exec", "portforward", "attach")
    ]

    assert (entered.code, entered.out, forwarded.code) == (1, b"", 1)
    assert "Forbidden" in entered.error
    assert "Forbidden" in forwarded.error
    assert {answer.out for answer in questions} == {b"no\n"}


@pytest.mark.parametrize(
    ("rights", "lacking"),
    [
        ({"pods/exec": ("create",)}, "get pods"),
        ({"pods": ("get",), "pods/exec": ("create",)}, "get pods/exec"),
        ({"pods": ("get",), "pods/exec": ("get",)}, "create pods/exec"),
    ],
)
async def test_a_right_that_is_missing_is_named(
    cluster: Kubernetes,
    pod: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    rights: Mapping[str, Sequence[str]],
    lacking: str,
) -> None:
    """Which of them a server asks for depends on its version, and on that of kubectl."""
    monkeypatch.setenv("KUBECONFIG", str(await person(cluster, rights, tmp_path)))
    pod_place = place(cluster, pod)
    who = await asyncio.to_thread(person_of, pod_place)

    with pytest.raises(Failure, match=f"may not {lacking} in the namespace slipway; .* get and create"):
        await asyncio.to_thread(check_rights, pod_place, who)
