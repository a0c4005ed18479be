"""The server on a local port, and everything behind it, in the test's event loop."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aiohttp import web

from tests.doubles.kubernetes.api import Api
from tests.doubles.kubernetes.errors import Refusal, resource
from tests.doubles.kubernetes.job_controller import JobController
from tests.doubles.kubernetes.kueue import Kueue
from tests.doubles.kubernetes.nodes import Nodes
from tests.doubles.kubernetes.object_store import KINDS, Store
from tests.doubles.kubernetes.requests import Subject, subject
from tests.doubles.server import serving

TOKEN, POWERLESS = "admin-token", "slipway-token"
_LARGEST = 3 * 1024 * 1024
_TICK = 0.02


@dataclass
class Kubernetes:
    """A cluster. `fault` may answer a request instead, before or after it is carried out."""

    url: str
    store: Store
    jobs: JobController
    nodes: Nodes
    kueue: Kueue
    api: Api
    #: method and path of each request, in order
    calls: list[str] = field(default_factory=list)
    #: gets method, path and query; returns an answer, or None for the true one, or CUT_AFTER or CUT_BEFORE
    fault: Callable[[str, str, dict[str, str]], Refusal | str | None] = lambda *_: None


#: The request is carried out and its answer lost; or the request is lost.
CUT_AFTER, CUT_BEFORE = "after", "before"


@asynccontextmanager
async def kubernetes(
    data: Path, *, version: str = "v1.36.2", namespaces: tuple[str, ...] = ("default",)
) -> AsyncIterator[Kubernetes]:
    """Run the cluster for the length of the block; it has no nodes yet."""
    store, is_old = Store(), version.startswith("v1.20")
    jobs = JobController(store, is_old=is_old)
    nodes, kueue = Nodes(store, jobs, data), Kueue(store)
    api = Api(store, jobs, kueue, is_old=is_old)
    cluster = Kubernetes("", store, jobs, nodes, kueue, api)
    for name in namespaces:
        store.add("namespaces", "", {"metadata": {"name": name}})
    app = web.Application(client_max_size=2 * _LARGEST)
    app.router.add_route("*", "/{path:.*}", _Handler(cluster, version).handle)
    async with serving(app) as cluster.url:
        looking = asyncio.create_task(_reconcile(cluster))
        try:
            yield cluster
        finally:
            looking.cancel()
            with suppress(asyncio.CancelledError):
                await looking
            await nodes.close()


async def _reconcile(cluster: Kubernetes) -> None:
    """Run the controllers in turn, repeatedly."""
    while True:
        cluster.jobs.reconcile()
        cluster.kueue.reconcile()
        cluster.nodes.reconcile()
        cluster.api.reconcile()
        await asyncio.sleep(_TICK)


class _Handler:
    def __init__(self, cluster: Kubernetes, version: str) -> None:
        self._cluster, self._version = cluster, version

    async def handle(self, request: web.Request) -> web.StreamResponse:
        query = dict(request.query)
        self._cluster.calls.append(f"{request.method} {request.path}")
        fault = self._cluster.fault(request.method, request.path, query)
        if fault == CUT_BEFORE:
            return self._cut(request)
        try:
            if isinstance(fault, Refusal):
                raise fault
            answer = await self._answer(request, query)
        except Refusal as refusal:
            answer = web.json_response(refusal.body, status=refusal.code)
        return self._cut(request) if fault == CUT_AFTER else answer

    async def _answer(self, request: web.Request, query: dict[str, str]) -> web.StreamResponse:
        if request.path == "/readyz":
            return web.Response(text="ok")
        self._authenticate(request)
        if request.path == "/version":
            return web.json_response({"major": "1", "minor": "36", "gitVersion": self._version})
        if request.path == "/apis/kueue.x-k8s.io" and self._cluster.kueue.is_installed:
            preferred = {"groupVersion": "kueue.x-k8s.io/v1beta2", "version": "v1beta2"}
            return web.json_response({"kind": "APIGroup", "preferredVersion": preferred})
        is_of_kueue = request.path.startswith("/apis/kueue.x-k8s.io")
        if is_of_kueue and not self._cluster.kueue.is_installed:  # the group is unknown
            return web.Response(status=404, text="404 page not found\n")
        about, content = subject(request.path), await request.read()
        self._authorise(request, about)
        if len(content) > _LARGEST:
            text = f"Request entity too large: limit is {_LARGEST}"
            raise Refusal(413, "RequestEntityTooLarge", text)
        body = _parsed(content)
        api, method = self._cluster.api, request.method
        if method == "GET" and about.below == "log":
            return web.Response(body=self._log(about))
        as_table = "as=Table" in request.headers.get("Accept", "")
        code, document = api.answer(method, request.path, query, body, as_table=as_table)
        return web.json_response(document, status=code)

    def _log(self, about: Subject) -> bytes:
        pod = self._cluster.store.get("pods", about.namespace, about.name)
        return self._cluster.nodes.log(pod)

    def _authenticate(self, request: web.Request) -> None:
        words = request.headers.get("Authorization", "")
        if words and words.removeprefix("Bearer ") not in (TOKEN, POWERLESS):
            raise Refusal(401, "Unauthorized", "Unauthorized")

    def _authorise(self, request: web.Request, about: Subject) -> None:
        words = request.headers.get("Authorization", "")
        if words.endswith(TOKEN):
            return
        user = "slipway" if words else "system:anonymous"
        kind = KINDS[about.plural]
        group = f'in API group "{kind["group"]}" in the namespace "{about.namespace}"'
        text = f'{resource(kind)} is forbidden: User "{user}" cannot create resource "{about.plural}" {group}'
        raise Refusal(403, "Forbidden", text, group=kind["group"], kind=about.plural)

    def _cut(self, request: web.Request) -> web.Response:
        if request.transport is not None:
            request.transport.abort()
        return web.Response()


def _parsed(content: bytes) -> Any:
    if not content:
        return {}
    try:
        return json.loads(content)
    except ValueError:
        return None
