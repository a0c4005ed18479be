"""One real Kubernetes for the session: started on this machine, or the one of SLIPWAY_TEST_KUBECONFIG."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from local.kubernetes import Kubernetes, Options, find_programs, kubernetes
from local.kubernetes.api import api
from local.kubernetes.kubeconfig import connection
from tests.acceptance.kubernetes.jobs import Jobs
from tests.acceptance.kubernetes.kubectl import Kubectl

#: A file with a kubeconfig as `kubectl config view --raw --flatten --minify -o json` prints it.
FOREIGN = os.environ.get("SLIPWAY_TEST_KUBECONFIG", "")


def pytest_report_header() -> str:
    return f"Kubernetes: {FOREIGN or find_programs().folder}"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    lacking = find_programs().missing_programs()
    reason = f"Kubernetes is not here ({', '.join(lacking)} not found): run `make install-kubernetes`"
    for item in items:
        if "acceptance/kubernetes" not in str(item.path):
            continue
        fixtures = getattr(item, "fixturenames", ())
        needs_own = "cluster" in fixtures or "jobs" not in fixtures
        if FOREIGN and needs_own:
            item.add_marker(pytest.mark.skip(reason="it needs a cluster of its own, and this one is yours"))
        elif lacking and not FOREIGN:
            item.add_marker(pytest.mark.skip(reason=reason))


@pytest_asyncio.fixture(scope="package", loop_scope="session")
async def own(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Kubernetes | None]:
    """The cluster on this machine; None if the tests use another one."""
    if FOREIGN:
        yield None
        return
    options = Options(data=tmp_path_factory.mktemp("kubernetes"), lost_seconds=16)
    async with kubernetes(options) as running:
        yield running


@pytest.fixture
def cluster(own: Kubernetes | None) -> Kubernetes:
    """For tests that kill parts of it, or read its files."""
    assert own is not None
    return own


@pytest_asyncio.fixture(scope="package", loop_scope="session")
async def jobs(own: Kubernetes | None, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Jobs]:
    """Starts jobs by hand, in the kubeconfig's namespace."""
    if own is not None:
        yield Jobs(own.api, "slipway")
        return
    document = json.loads(await asyncio.to_thread(Path(FOREIGN).read_text))
    namespace = document["contexts"][0]["context"].get("namespace", "default")
    async with api(connection(document, tmp_path_factory.mktemp("keys"))) as server:
        yield Jobs(server, namespace)


@pytest.fixture
def kubectl(own: Kubernetes | None, jobs: Jobs) -> Kubectl:
    """kubectl as a user who may do everything that the tests do."""
    return Kubectl(own.admin if own else Path(FOREIGN), jobs.namespace)
