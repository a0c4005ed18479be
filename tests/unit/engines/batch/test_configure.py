"""The clusters on Azure Batch by the settings, and the pool that is made for one."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime
from typing import Any

import pytest

from shared.core.errors import Misconfigured
from shared.engines.batch.configure import configure
from shared.engines.batch.entry import ENTRY
from shared.engines.batch.provision import IMAGE, image_trouble, provision
from shared.engines.batch.sizes import size_trouble
from shared.engines.provisioning import Plan, Step
from shared.settings import Settings, table_of
from tests.unit.engines.batch.account import Reply, Request, account, error
from tests.unit.engines.batch.service import CLUSTER, KEY
from tests.unit.engines.batch.test_quota import DEPLOYED, GOOD, PROPERTIES, Manager

BARE = {"url": "https://acct.westeurope.batch.azure.com", "pool": "t4", "shared": "/s", "maxNodes": 4}
SECRET = base64.b64encode(b"k" * 32).decode()
NOW = datetime(2026, 9, 7, tzinfo=UTC)
PLAN = Plan()


def settings(**values: str) -> Settings:
    return Settings(values, table_of({"batch": ENTRY}))


def test_clusters_are_configured_with_a_key_or_the_identity() -> None:
    keys = json.dumps({"gpu": SECRET})
    configured = configure({"gpu": BARE, "cpu": BARE}, settings(SLIPWAY_BATCH_KEYS=keys))

    assert list(configured.clusters) == ["gpu", "cpu"]
    assert configured.clusters["gpu"].max_nodes == 4
    assert configured.load().version == "Azure Batch 2025-06-01"


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        ("[]", "SLIPWAY_BATCH_KEYS must be an object"),
        ('{"gpu": 7}', "SLIPWAY_BATCH_KEYS must be an object"),
        ('{"gpu": "secret"}', "SLIPWAY_BATCH_KEYS: gpu is not a key of a Batch account"),
    ],
)
def test_a_key_that_is_none_is_named_by_its_place_only(keys: str, text: str) -> None:
    with pytest.raises(Misconfigured, match=text) as caught:
        configure({"gpu": BARE}, settings(SLIPWAY_BATCH_KEYS=keys))
    assert "secret" not in str(caught.value)


async def steps(
    replies: dict[str, Reply], manager: Manager | None = None
) -> tuple[list[Step], list[Request]]:
    async with (
        account(lambda request: replies[f"{request.method} {request.path}"], strict=True) as running,
        (manager or Manager(GOOD)).account(DEPLOYED if manager else CLUSTER) as described,
    ):
        configured = type(CLUSTER)("gpu", running.url, "t4", "/s", max_nodes=4)
        done = [step for stage in provision(configured, KEY, PLAN, described) async for step in stage.steps]
        return done, running.requests


SUPPORTED: Reply = (200, {"value": [{**IMAGE, "batchSupportEndOfLife": "2099-01-01T00:00:00Z"}]})


async def test_a_pool_that_is_missing_is_made_and_one_that_is_there_stays_as_it_is() -> None:
    replies: dict[str, Reply] = {
        "GET /pools/t4": (404, error("PoolNotFound")),
        "POST /pools": (201, None),
        "GET /supportedimages": SUPPORTED,
    }
    new, requests = await steps(replies)
    existing, _ = await steps({**replies, "GET /pools/t4": (200, {"virtualMachineConfiguration": IMAGE})})
    raced, _ = await steps({**replies, "POST /pools": (409, error("PoolExists"))})

    old = {"virtualMachineConfiguration": IMAGE, "vmSize": "STANDARD_NC6"}
    retired, _ = await steps({**replies, "GET /pools/t4": (200, old)})

    assert "Azure has retired STANDARD_NC6: Standard_NC4as_T4_v3 is the nearest" in retired[0].note
    assert new == [Step("pool", "t4", created=True)]
    assert [one.body["vmSize"] for one in requests if one.method == "POST"] == ["Standard_NC4as_T4_v3"]
    assert existing == raced == [Step("pool", "t4", created=False)]
    assert [one.body["id"] for one in requests if one.method == "POST"] == ["t4"]


async def test_the_quota_of_the_account_is_compared_with_the_most_nodes_of_the_pool() -> None:
    replies: dict[str, Reply] = {
        "GET /pools/t4": (200, {"virtualMachineConfiguration": IMAGE, "vmSize": "Standard_NC4as_T4_v3"}),
        "GET /supportedimages": SUPPORTED,
    }
    enough = {"properties": PROPERTIES | {"dedicatedCoreQuotaPerVMFamilyEnforced": False}}
    (short,), _ = await steps(replies, Manager(GOOD))
    (fits,), _ = await steps(replies, Manager((200, enough)))
    (refused,), _ = await steps(replies, Manager((403, "")))

    assert short.note.endswith("2 nodes of Standard_NC4as_T4_v3; for 4 ask Azure for 16")
    assert fits.note == ""
    assert refused.note.startswith("its quota is not known: Azure Resource Manager refuses")


@pytest.mark.parametrize(
    ("end", "text"),
    [
        (None, ""),
        ("2027-06-30T00:00:00Z", ""),
        ("2026-12-31T00:00:00Z", "ends on 2026-12-31"),
        ("2026-03-31T00:00:00Z", "ended on 2026-03-31: move to microsoft-dsvm ubuntu-hpc 2404"),
    ],
)
def test_the_end_of_an_image_is_said_half_a_year_before(end: str | None, text: str) -> None:
    old = {"imageReference": {"publisher": "Canonical", "offer": "jammy", "sku": "22_04"}}
    images: list[Any] = [{**old, "batchSupportEndOfLife": end}]

    trouble = image_trouble(old, images, NOW)
    assert (text in trouble) if text else not trouble


def test_an_image_that_is_not_listed_is_not_supported_and_one_of_ones_own_is_not_judged() -> None:
    strange = {"imageReference": {"publisher": "x", "offer": "y", "sku": "z"}}
    own = {"imageReference": {"virtualMachineImageId": "/subscriptions/x"}}

    assert "does not support its image x y z" in image_trouble(strange, [IMAGE], NOW)
    assert image_trouble(own, [IMAGE], NOW) == ""


@pytest.mark.parametrize(
    ("size", "living"),
    [
        ("Standard_NC6", "Standard_NC4as_T4_v3"),
        ("Standard_NC6_Promo", "Standard_NC4as_T4_v3"),
        ("standard_nc24rs_v3", "Standard_NC96ads_A100_v4"),
        ("Standard_NC6s_v3", "Standard_NC24ads_A100_v4"),
        ("Standard_NC4as_T4_v3", ""),
        ("Standard_D2s_v5", ""),
    ],
)
def test_a_size_that_azure_has_retired_is_answered_with_the_living_one(size: str, living: str) -> None:
    text = size_trouble(size)
    assert (f"{living} is the nearest in GPU memory (table of 2026-09)" in text) if living else not text
