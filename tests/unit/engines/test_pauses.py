"""A service that asks for a pause gets it from every client: nothing is sent before that is over."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from aiohttp import web

from shared.connections.pauses import LONGEST, Pauses
from shared.core.engine import Engine
from shared.core.errors import Busy
from shared.engines.batch.cluster import BatchCluster
from shared.engines.batch.engine import BatchEngine
from shared.engines.batch.storage.access import Access, blob_errors
from shared.engines.batch.storage.access import SharedKey as AccountKey
from shared.engines.batch.wire.sign import SharedKey
from shared.engines.batchai.client import Workspace
from shared.engines.batchai.engine import BatchAIEngine
from shared.engines.kubernetes.cluster import KubernetesCluster
from shared.engines.kubernetes.engine import KubernetesEngine
from shared.engines.kubernetes.wire.access import Access as KubernetesAccess
from shared.engines.kubernetes.wire.bearer import FixedToken
from shared.engines.kubernetes.wire.client import KubernetesClient
from shared.engines.registry import ENGINES
from shared.engines.slurm.cluster import SlurmCluster
from shared.engines.slurm.engine import SlurmEngine
from shared.engines.slurm.wire.key import SigningKey
from tests.doubles.server import answering

KEY = SharedKey("acct", b"0123456789abcdef0123456789abcdef")
ASKS = "asks for a pause"


def batch(url: str) -> Engine:
    return BatchEngine({"gpu": BatchCluster("gpu", url, "t4", "/shared", max_nodes=4)}, {"gpu": KEY})


def batchai(url: str) -> Engine:
    return BatchAIEngine(Workspace(url, "s", "g", "w"))


def kubernetes(url: str) -> Engine:
    cluster = KubernetesCluster("gpu", shared="/data", volumes={"/data": "pvc:data"}, image="python:3.13")
    return KubernetesEngine(
        {"gpu": cluster}, {"gpu": KubernetesClient(KubernetesAccess(url), FixedToken(""))}
    )


def slurm(url: str) -> Engine:
    cluster = SlurmCluster("gpu", url=url, user="u", shared="/shared")
    return SlurmEngine({"gpu": cluster}, {"gpu": SigningKey(b"k" * 32)})


ENGINE: dict[str, Callable[[str], Engine]] = {
    "batch": batch,
    "batchai": batchai,
    "kubernetes": kubernetes,
    "slurm": slurm,
}


def test_every_engine_is_looked_at() -> None:
    assert ENGINE.keys() == ENGINES.keys()


async def requests_of(call: Callable[[str], Awaitable[object]], status: int, retry_after: str) -> list[str]:
    """What a call sends to a server that always answers so."""
    requests: list[str] = []

    async def answer(request: web.Request) -> web.Response:
        requests.append(request.path)
        return web.Response(status=status, headers={"Retry-After": retry_after})

    async with answering(answer) as url:
        await call(url)
    return requests


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize("name", ENGINE)
async def test_a_cluster_that_asks_for_a_pause_is_sent_nothing_until_it_is_over(
    name: str, status: int
) -> None:
    async def twice(url: str) -> None:
        engine = ENGINE[name](url)
        try:
            with pytest.raises(Busy if status == 429 else Exception):
                await engine.nodes("gpu")
            with pytest.raises(Busy, match=ASKS):
                await engine.nodes("gpu")
        finally:
            await engine.close()

    assert len(await requests_of(twice, status, "60")) == 1


async def test_the_container_of_a_cluster_is_sent_nothing_either() -> None:
    async def twice(url: str) -> None:
        access = Access(
            BatchCluster("gpu", "https://a.b", "t4", blobs=f"{url}/acct/records"),
            key=AccountKey("acct", "a2V5"),
        )
        try:
            for _ in range(2):
                with pytest.raises(Busy, match=ASKS):
                    async with blob_errors("the record"):
                        await access.container.get_container_properties()
        finally:
            await access.close()

    assert len(await requests_of(twice, 503, "60")) == 1


@pytest.mark.parametrize(
    ("status", "header", "seconds"),
    [
        (429, "30", 30.0),
        (503, "30", 30.0),
        (500, "30", 0.0),
        (200, "30", 0.0),
        (429, "0", 0.0),
        (429, None, 0.0),
        (429, "soon", 0.0),
        (429, "86400", LONGEST),
        pytest.param(
            429, format_datetime(datetime.now(UTC) + timedelta(days=2), usegmt=True), LONGEST, id="a time"
        ),
    ],
)
def test_a_pause_lasts_as_long_as_the_service_asks_and_no_longer_than_some_minutes(
    status: int, header: str | None, seconds: float
) -> None:
    now = [100.0]
    pauses = Pauses("it", clock=lambda: now[0])
    pauses.heed("http://a", "GET", status, header)

    pauses.check("http://b", "GET")
    if seconds:
        now[0] = 100.0 + seconds - 0.1
        with pytest.raises(Busy, match=f"^it {ASKS}"):
            pauses.check("http://a", "GET")
    now[0] = 100.0 + seconds
    pauses.check("http://a", "GET")


def test_of_two_answers_in_flight_the_longer_pause_counts() -> None:
    now = [0.0]
    pauses = Pauses("it", clock=lambda: now[0])
    pauses.heed("http://a", "GET", 429, "120")
    pauses.heed("http://a", "GET", 503, "1")

    now[0] = 119.0
    with pytest.raises(Busy):
        pauses.check("http://a", "GET")
    now[0] = 120.0
    pauses.check("http://a", "GET")


def test_a_refused_change_keeps_back_changes_alone_and_a_refused_list_everything() -> None:
    pauses = Pauses("it", clock=lambda: 0.0)
    pauses.heed("http://a", "POST", 503, "30")
    pauses.check("http://a", "GET")
    with pytest.raises(Busy):
        pauses.check("http://a", "DELETE")

    pauses.heed("http://b", "GET", 503, "30")
    for method in ("GET", "HEAD", "POST", "PUT", "DELETE"):
        with pytest.raises(Busy):
            pauses.check("http://b", method)
