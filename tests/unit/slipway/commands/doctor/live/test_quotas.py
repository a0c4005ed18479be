"""GPU quotas, from Resource Manager's own words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from slipway.commands.doctor.findings import Finding, Options
from slipway.commands.doctor.live.quotas import check
from tests.unit.slipway.commands.doctor.live import deployed
from tests.unit.slipway.commands.doctor.live.azure import TOKEN, azure

MACHINES = "/subscriptions/s-1/providers/Microsoft.Compute/locations/westeurope/usages"
ACCOUNTS = "/subscriptions/s-1/providers/Microsoft.Batch/batchAccounts"
T4, A100 = "Standard NCASv3_T4 Family", "standardNCADSA100v4Family"


def usage(family: str, used: int, limit: int) -> dict[str, Any]:
    return {
        "currentValue": used,
        "limit": limit,
        "unit": "Count",
        "name": {"value": family, "localizedValue": family},
    }


def account(name: str = "b1", **properties: Any) -> dict[str, Any]:
    return {
        "name": name,
        "location": "westeurope",
        "properties": {"poolAllocationMode": "BatchService"} | properties,
    }


async def quotas(
    answers: dict[str, Any], patch: pytest.MonkeyPatch, region: str = "West Europe"
) -> list[Finding]:
    async with azure({ACCOUNTS: {"value": []}} | answers, patch) as fake:
        return await check(Options("", "", subscription="s-1", region=region, arm=fake.url))


def shown(findings: list[Finding]) -> list[tuple[str, str]]:
    return [(one.outcome, one.text) for one in findings]


async def test_a_new_subscription_has_no_cores_with_gpus_and_the_remedy_says_how_to_ask(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    usages = [usage("cores", 0, 10), usage("standardNPSFamily", 0, 0), usage(T4, 0, 0), usage(A100, 0, 0)]

    findings = await quotas({MACHINES: {"value": [*usages, usage("standardDSv5Family", 2, 10)]}}, monkeypatch)

    assert shown(findings) == [("warn", f"westeurope: 0 cores in {T4}, {A100}")]
    assert "az quota update" in findings[0].remedy
    assert "/subscriptions/s-1/providers/Microsoft.Compute/locations/westeurope" in findings[0].remedy


async def test_families_that_have_cores_are_named_with_what_is_used_over_all_pages(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with azure({ACCOUNTS: {"value": []}}, monkeypatch) as fake:
        following = f"{fake.url}{MACHINES}?api-version=2024-07-01&$skiptoken=2"
        fake.answers[MACHINES] = {"value": [usage(T4, 4, 24)], "nextLink": following}
        fake.answers[f"{MACHINES}#2"] = {"value": [usage(A100, 0, 0), usage("lowPriorityCores", 0, 0)]}

        findings = await check(Options("", "", subscription="s-1", region="westeurope", arm=fake.url))

    assert shown(findings) == [
        ("ok", f"westeurope: 24 cores in {T4}, 4 used"),
        ("ok", f"westeurope: 0 cores in {A100}"),
        ("warn", "westeurope: 0 cores for spot nodes of any family"),
    ]


async def test_the_token_goes_to_no_other_address(monkeypatch: pytest.MonkeyPatch) -> None:
    page = {"value": [], "nextLink": "https://elsewhere.example/next"}

    (finding,) = await quotas({MACHINES: page}, monkeypatch)

    assert (finding.outcome, finding.text) == (
        "skip",
        "not checked: Azure names a next page at another address",
    )


@pytest.mark.parametrize(
    ("properties", "expected"),
    [
        (
            {
                "dedicatedCoreQuotaPerVMFamilyEnforced": True,
                "dedicatedCoreQuotaPerVMFamily": [
                    {"name": "standardAv2Family", "coreQuota": 828},
                    {"name": A100, "coreQuota": 0},
                ],
            },
            [
                ("warn", f"account b1: 0 cores in {A100}"),
                ("warn", "account b1: 0 cores in spot nodes of any family"),
            ],
        ),
        (
            {
                "dedicatedCoreQuotaPerVMFamilyEnforced": False,
                "dedicatedCoreQuota": 20,
                "lowPriorityCoreQuota": 8,
            },
            [
                ("ok", "account b1: 20 cores in any family"),
                ("ok", "account b1: 8 cores in spot nodes of any family"),
            ],
        ),
        ({"poolAllocationMode": "UserSubscription"}, []),
    ],
)
async def test_an_account_has_quotas_of_its_own(
    properties: dict[str, Any], expected: list[tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = account("b2", dedicatedCoreQuotaPerVMFamilyEnforced=False) | {"location": "eastus"}
    answers = {
        MACHINES: {"value": [usage(T4, 0, 8)]},
        ACCOUNTS: {"value": [account(**properties), elsewhere]},
    }

    findings = await quotas(answers, monkeypatch)

    assert shown(findings)[1:] == expected


async def test_a_provider_that_was_never_used_has_no_accounts(monkeypatch: pytest.MonkeyPatch) -> None:
    refused = (409, "MissingSubscriptionRegistration", "The subscription is not registered.")

    findings = await quotas({MACHINES: {"value": [usage(T4, 0, 8)]}, ACCOUNTS: refused}, monkeypatch)

    assert shown(findings) == [("ok", f"westeurope: 8 cores in {T4}, 0 used")]


async def test_what_azure_refuses_is_said_in_its_words(monkeypatch: pytest.MonkeyPatch) -> None:
    refused = (403, "AuthorizationFailed", "The client 'me' does not have authorization to perform action.")

    (finding,) = await quotas({MACHINES: refused}, monkeypatch)

    assert finding.outcome == "skip"
    assert "403 AuthorizationFailed: The client 'me' does not have authorization" in finding.text
    assert TOKEN not in finding.text


async def test_a_region_that_is_none_is_sent_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    (finding,) = await quotas({}, monkeypatch, region="../../resourceGroups")

    assert (finding.outcome, finding.remedy) == ("fail", "--subscription ID --region NAME")


async def test_azd_names_the_subscription_and_the_region(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    directory = tmp_path / ".azure" / "dev"
    directory.mkdir(parents=True)
    (tmp_path / ".azure" / "config.json").write_text('{"version": 1, "defaultEnvironment": "dev"}')
    (directory / ".env").write_text('AZURE_SUBSCRIPTION_ID="s-1"\nAZURE_LOCATION="westeurope"\n')
    (tmp_path / "docs").mkdir()
    monkeypatch.chdir(tmp_path / "docs")
    monkeypatch.delenv("AZURE_ENV_NAME", raising=False)
    answers = {MACHINES: {"value": [usage(T4, 0, 8)]}, ACCOUNTS: {"value": []}}

    async with azure(answers, monkeypatch) as fake:
        findings = await check(Options("", "", arm=fake.url))

    assert shown(findings) == [("ok", f"westeurope: 8 cores in {T4}, 0 used")]


async def test_the_region_of_the_nodes_goes_before_that_of_all_else(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    deployed.environment(tmp_path, AZURE_LOCATION="northeurope", BATCH_LOCATION="westeurope")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("AZURE_ENV_NAME", raising=False)
    answers = {MACHINES: {"value": [usage(T4, 0, 8)]}, ACCOUNTS: {"value": []}}

    async with azure(answers, monkeypatch) as fake:
        findings = await check(Options("", "", arm=fake.url))

    assert shown(findings) == [("ok", f"westeurope: 8 cores in {T4}, 0 used")]


async def test_without_azure_nothing_is_said_of_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)

    assert await check(Options("", "")) == []
