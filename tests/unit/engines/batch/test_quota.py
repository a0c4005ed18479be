"""The quota of an account, by Azure Resource Manager, and what follows for its pool."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
from aiohttp import web
from azure.core.credentials import AccessToken

from shared.core.errors import EngineError
from shared.engines.batch.account import Account
from shared.engines.batch.cluster import BatchCluster
from shared.engines.batch.pools import view, why
from shared.engines.batch.quota import Quota, quota_of
from tests.doubles.server import answering
from tests.unit.engines.batch.service import CLUSTER

ID = (
    "/subscriptions/0b1f6471-1bf0-4dda-aec3-cb9272f09590/resourceGroups/rg-1"
    "/providers/Microsoft.Batch/batchAccounts/acct"
)
DEPLOYED = replace(CLUSTER, url="https://acct.westeurope.batch.azure.com", resource=ID)
T4, A100 = "Standard_NC4as_T4_v3", "Standard_NC24ads_A100_v4"
FAMILIES = {"standardNCASv3_T4Family": 8, "standardNCADSA100v4Family": 0, "standardDv3Family": 20}
PROPERTIES: dict[str, Any] = {
    "poolAllocationMode": "BatchService",
    "dedicatedCoreQuota": 300,
    "dedicatedCoreQuotaPerVMFamily": [{"name": name, "coreQuota": n} for name, n in FAMILIES.items()],
    "dedicatedCoreQuotaPerVMFamilyEnforced": True,
    "lowPriorityCoreQuota": 12,
}


@pytest.mark.parametrize(
    ("size", "family"),
    [
        (T4, "standardNCASv3_T4Family"),
        (T4.upper(), "Standard NCASv3_T4 Family"),
        (A100, "standardNCADSA100v4Family"),
        ("Standard_NV36ads_A10_v5", "StandardNVADSA10v5Family"),
        ("Standard_NC40ads_H100_v5", "StandardNCadsH100v5Family"),
        ("Standard_NC6s_v3", "standardNCSv3Family"),
        ("Standard_NC6", "standardNCFamily"),
        ("Standard_NC6_Promo", "standardNCFamily"),
        ("Standard_D2s_v3", "standardDSv3Family"),
        ("Standard_F4s_v2", "standardFSv2Family"),
        ("Standard_NC24rs_v3", "standardNCSv3Family"),
        ("Standard_ND40rs_v2", "standardNDSv2Family"),
        ("Standard_ND96asr_v4", "standardNDASv4_A100Family"),
        ("Standard_ND96amsr_A100_v4", "standardNDAMSv4_A100Family"),
        ("Standard_ND96isr_H100_v5", "standardNDSH100v5Family"),
        ("Standard_NC80adis_H100_v5", "StandardNCadsH100v5Family"),
        ("Standard_HB120rs_v2", "standardHBrsv2Family"),
    ],
)
def test_the_family_of_a_size_is_found_by_its_name(size: str, family: str) -> None:
    families = [{"name": "standardNVSv4Family", "coreQuota": 1}, {"name": family, "coreQuota": 48}]
    quota = quota_of("acct", {"dedicatedCoreQuotaPerVMFamily": families}, size, spot=False)

    assert quota is not None
    assert (quota.kind, quota.cores) == (family, 48)


@pytest.mark.parametrize(
    ("changes", "size", "spot", "cores", "nodes"),
    [
        ({}, T4, False, 8, 2),
        ({}, A100, False, 0, 0),
        ({}, T4, True, 12, 3),
        ({}, A100, True, 12, 0),
        ({"dedicatedCoreQuota": 4}, T4, False, 4, 1),
        ({"dedicatedCoreQuotaPerVMFamilyEnforced": False}, A100, False, 300, 12),
    ],
)
def test_the_least_of_the_limits_that_azure_applies_counts(
    changes: dict[str, Any], size: str, spot: bool, cores: int, nodes: int
) -> None:
    quota = quota_of("acct", PROPERTIES | changes, size, spot=spot)

    assert quota is not None
    assert (quota.cores, quota.nodes) == (cores, nodes)


@pytest.mark.parametrize(
    ("properties", "size", "spot"),
    [
        (PROPERTIES | {"poolAllocationMode": "UserSubscription"}, T4, False),
        (PROPERTIES, "", False),
        (PROPERTIES, "Standard_E4-2ds_v5", False),
        (PROPERTIES, "Standard_NC0", False),
        ({}, T4, False),
        ({"lowPriorityCoreQuota": "12"}, T4, True),
        ({"lowPriorityCoreQuota": True}, T4, True),
        ({"dedicatedCoreQuota": None, "dedicatedCoreQuotaPerVMFamily": {}}, T4, False),
        ({"dedicatedCoreQuotaPerVMFamily": [7, {"coreQuota": 4}]}, T4, False),
        (PROPERTIES, "Standard_NC24s_v3", False),
        (PROPERTIES | {"dedicatedCoreQuotaPerVMFamily": [{"name": "standardNCASv3_T4Family"}]}, T4, False),
    ],
)
def test_what_an_account_does_not_say_is_unknown(properties: dict[str, Any], size: str, spot: bool) -> None:
    assert quota_of("acct", properties, size, spot=spot) is None


def test_a_job_that_the_quota_has_no_room_for_waits_for_it_and_no_other_job_does() -> None:
    pool = {"id": "t4", "vmSize": T4, "allocationState": "steady", "enableAutoScale": True}
    current = view(CLUSTER, pool, {}, Quota("acct", 8, "standardNCASv3_T4Family", T4, 4))
    large, small = why(3, current), why(2, current)

    assert large is not None
    assert small is not None
    assert (large.word, large.lacks_capacity, large.never) == ("Quota", True, False)
    assert f"8 cores for standardNCASv3_T4Family: 2 nodes of {T4}: ask Azure for more" in large.text
    assert small.word == "NodesMissing"
    assert current.supply.most == 2


def test_a_job_does_not_wait_for_the_quota_where_the_pool_has_its_nodes() -> None:
    pool = {"id": "t4", "vmSize": T4, "allocationState": "resizing", "currentDedicatedNodes": 3}
    reason = why(3, view(CLUSTER, pool | {"targetDedicatedNodes": 3}, {}, Quota("acct", 8, "family", T4, 4)))

    assert reason is not None
    assert reason.word == "Resizing"


class Credential:
    """An identity that is signed in."""

    async def get_token(self, scope: str) -> AccessToken:
        """A token that shows what it is for."""
        return AccessToken(f"for {scope}", 2**40)

    async def close(self) -> None:
        """Nothing is open."""


class Manager:
    """Azure Resource Manager with one account. `replies` are used up, the last one stays."""

    def __init__(self, *replies: tuple[int, Any]) -> None:
        self.replies, self.calls = list(replies), list[tuple[str, str]]()
        self.address = ""
        #: opened for the answer to a reply of status 0
        self.gate = asyncio.Event()

    @asynccontextmanager
    async def account(
        self, cluster: BatchCluster = DEPLOYED, *, now: list[float] | None = None, patience: float = 30.0
    ) -> AsyncIterator[Account]:
        times = now or [0.0]
        async with answering(self._answer) as self.address:
            account = Account(
                cluster,
                address=self.address,
                credential=Credential(),
                patience=patience,
                clock=lambda: times[0],
            )
            try:
                yield account
            finally:
                await account.close()

    async def _answer(self, request: web.Request) -> web.Response:
        self.calls.append((request.raw_path, request.headers["Authorization"]))
        status, body = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        if status == 0:
            await self.gate.wait()
            status, body = GOOD
        return (
            web.Response(status=status, text=body)
            if isinstance(body, str)
            else web.json_response(body, status=status)
        )


GOOD = (200, {"id": ID, "properties": PROPERTIES})


async def test_the_quota_is_read_once_an_hour_with_a_token_for_resource_manager() -> None:
    manager, now = Manager(GOOD), [0.0]
    async with manager.account(now=now) as account:
        first = await account.quota(T4)
        now[0] = 3599.0
        assert await account.quota(A100) == quota_of("acct", PROPERTIES, A100, spot=False)
        now[0] = 3601.0
        assert await account.quota(T4) == first == quota_of("acct", PROPERTIES, T4, spot=False)

    assert manager.calls == 2 * [
        (f"{ID}?api-version=2025-06-01", "Bearer for https://management.azure.com/.default")
    ]


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        ((403, {"error": {"code": "AuthorizationFailed"}}), "the role Azure Batch Data Contributor"),
        ((404, {"error": {"code": "ResourceNotFound"}}), "an account with the id in `resource`"),
        ((429, "slow down"), "answers 429, without the properties"),
        ((200, "<html>"), "answers 200, without the properties"),
        ((200, {"properties": []}), "answers 200, without the properties"),
    ],
)
async def test_without_an_answer_the_quota_is_unknown_and_is_asked_for_again_later(
    reply: tuple[int, Any], text: str, caplog: pytest.LogCaptureFixture
) -> None:
    manager, now = Manager(reply, reply, GOOD), [0.0]
    async with manager.account(now=now) as account:
        with pytest.raises(EngineError, match=text):
            await account.read_quota(T4)
        assert await account.quota(T4) is None
        assert await account.quota(T4) is None
        now[0] = 301.0
        assert await account.quota(T4) is not None

    assert len(manager.calls) == 3
    assert text in caplog.text


async def test_a_known_quota_stays_known_while_azure_does_not_answer() -> None:
    now = [0.0]
    async with Manager(GOOD, (500, "")).account(now=now) as account:
        first = await account.quota(T4)
        now[0] = 4000.0
        assert await account.quota(T4) == first is not None
        now[0] = 7201.0
        assert await account.quota(T4) is None, "it may have changed by now"


async def test_a_view_does_not_wait_for_a_late_answer_which_the_next_one_has() -> None:
    manager = Manager((0, ""))
    async with manager.account(patience=0.01) as account:
        assert await account.quota(T4) is None
        manager.gate.set()
        async with asyncio.timeout(30):
            while await account.quota(T4) is None:  # noqa: ASYNC110 - a question on its way
                await asyncio.sleep(0.01)

    assert len(manager.calls) == 1


async def test_without_an_id_nothing_is_asked() -> None:
    manager = Manager(GOOD)
    async with manager.account(CLUSTER) as account:
        assert await account.quota(T4) is None
        assert await account.read_quota(T4) is None

    assert manager.calls == []


@pytest.mark.parametrize(
    ("end", "address"),
    [
        ("batch.azure.com", "https://management.azure.com"),
        ("batch.chinacloudapi.cn", "https://management.chinacloudapi.cn"),
        ("batch.usgovcloudapi.net", "https://management.usgovcloudapi.net"),
    ],
)
def test_each_cloud_has_a_resource_manager_of_its_own(end: str, address: str) -> None:
    assert replace(CLUSTER, url=f"https://acct.region.{end}").management == address
