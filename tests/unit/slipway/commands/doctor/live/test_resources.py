"""What Resource Manager says of a deployment, point by point: in good order, and with one thing wrong."""

from __future__ import annotations

import re
from typing import Any

import pytest

from slipway.commands.doctor.findings import Finding
from slipway.commands.doctor.live import live, pool, resources
from slipway.commands.doctor.live.arm import resource_manager
from slipway.commands.doctor.live.azd import deployment_of
from tests.unit.project.test_infra import code
from tests.unit.routes import BY_EVENT
from tests.unit.slipway.commands.doctor.live import deployed
from tests.unit.slipway.commands.doctor.live.azure import azure

POINTS = {
    "deployment": resources.deployment,
    "secrets": resources.secrets,
    "package": resources.package,
    "keys": resources.keys,
    "identity": resources.identity,
    "events": resources.subscription,
    "telemetry": resources.telemetry,
    "alerts": resources.alerts,
    "network": resources.network,
    "pool": pool.pool,
}


async def result(
    point: str, changed: dict[str, Any], patch: pytest.MonkeyPatch, vnet: str = "false"
) -> Finding:
    async with azure(deployed.answers() | changed, patch) as fake, resource_manager(fake.url) as arm:
        return await POINTS[point](arm, deployment_of(deployed.VALUES | {"VNET_ENABLED": vnet}))


@pytest.mark.parametrize("point", [point for point in POINTS if point != "network"])
async def test_a_deployment_in_good_order_passes(point: str, monkeypatch: pytest.MonkeyPatch) -> None:
    finding = await result(point, {}, monkeypatch)

    assert (finding.subject, finding.outcome) == (point, "ok")


def storage(**members: Any) -> dict[str, Any]:
    account = deployed.answers()[deployed.STORAGE]
    return {deployed.STORAGE: account | {"properties": account["properties"] | members}}


def settings(**members: str) -> dict[str, Any]:
    return {deployed.SETTINGS: {"properties": deployed.answers()[deployed.SETTINGS]["properties"] | members}}


def events(**members: Any) -> dict[str, Any]:
    return {deployed.EVENTS: {"properties": deployed.answers()[deployed.EVENTS]["properties"] | members}}


def account(**members: Any) -> dict[str, Any]:
    return {deployed.ACCOUNT: {"properties": {"allowedAuthenticationModes": ["AAD"]} | members}}


def nodes(**members: Any) -> dict[str, Any]:
    body = deployed.answers()[deployed.POOL]
    return {deployed.POOL: body | {"properties": body["properties"] | members}}


NO_FORMULA = {"autoScale": {"formula": "$TargetDedicatedNodes = 1;"}}
WRONG = {"evaluationTime": "2026-09-01T10:00:00Z", "error": {"code": "AutoScalingFormulaEvaluationError"}}
NO_CORES = {"errors": [{"code": "AccountCoreQuotaReached", "message": "…"}]}
NO_IDENTITY = {"properties": deployed.answers()[deployed.POOL]["properties"]}
FAILED = {"value": [{"name": "events", "properties": {"provisioningState": "Failed"}}]}
UNRESOLVED = {"value": [deployed.reference("SLIPWAY_SEAL_KEY", "seal-key", "AccessToKeyVaultDenied")]}
ONE_ALERT_OFF = {"value": [deployed.METRIC_ALERT, {"properties": {"enabled": False, "actions": []}}]}
NO_PACKAGE = {"name": "func-1", "properties": {"functionAppConfig": {}}}


@pytest.mark.parametrize(
    ("point", "changed", "text"),
    [
        ("deployment", {deployed.DEPLOYMENTS: FAILED}, "events Failed"),
        ("deployment", {deployed.DEPLOYMENTS: {"value": []}}, "rg-dev does not contain a deployment"),
        ("secrets", {deployed.REFERENCES: UNRESOLVED}, "SLIPWAY_SEAL_KEY is AccessToKeyVaultDenied"),
        ("secrets", {deployed.REFERENCES: {"value": []}}, "func-1 does not refer to kv-1"),
        ("package", {f"{deployed.SITE}/functions": {"value": []}}, "knows no function accept_message"),
        (
            "package",
            {
                f"{deployed.SITE}/functions": {
                    "value": [deployed.function(name) for name in resources.NEEDED if name != "bury_wake_up"]
                }
            },
            "knows no function bury_wake_up",
        ),
        (
            "package",
            {
                f"{deployed.SITE}/functions": {
                    "value": [
                        deployed.function(name, disabled=name == "sweeper") for name in resources.NEEDED
                    ]
                }
            },
            "runs no sweeper: disabled",
        ),
        ("package", settings(SLIPWAY_BLOB_SOURCE="LogsAndContainerScan"), "Flex Consumption does not scan"),
        (
            "package",
            settings(**{"AzureWebJobs.sweeper.Disabled": "1"}),
            "AzureWebJobs.sweeper.Disabled disables",
        ),
        (
            "package",
            {f"{deployed.HOST}/host/status": {"state": "Error", "errors": ["no\nway"]}},
            "the host is Error: no",
        ),
        (
            "package",
            {f"{deployed.HOST}/functions/sweeper/status": {"errors": ["weekday 7 is refused\n at X"]}},
            "sweeper is in error, and does not run: weekday 7 is refused",
        ),
        ("keys", storage(allowSharedKeyAccess=True), "allowSharedKeyAccess is True"),
        ("keys", storage(allowSharedKeyAccess=None), "allowSharedKeyAccess is None"),
        ("keys", storage(allowBlobPublicAccess=True), "allowBlobPublicAccess is True"),
        ("keys", storage(minimumTlsVersion="TLS1_0"), "minimumTlsVersion is TLS1_0"),
        ("keys", settings(AzureWebJobsStorage="x;AccountKey=hush"), "AzureWebJobsStorage holds a key"),
        ("identity", settings(SLIPWAY_STORAGE__credential=""), "its storage without identity"),
        ("identity", {deployed.SITE: NO_PACKAGE}, "its package without identity"),
        ("events", events(provisioningState="Failed"), "the subscription of events is Failed"),
        ("events", events(deadLetterWithResourceIdentity=None), "deadLetterWithResourceIdentity is missing"),
        (
            "alerts",
            {f"{deployed.PROVIDERS}/Microsoft.Insights/metricAlerts": ONE_ALERT_OFF},
            "6 of 7 alerts watch",
        ),
        ("pool", account(allowedAuthenticationModes=["AAD", "SharedKey"]), "ba1 takes AAD, SharedKey"),
        ("pool", account(allowedAuthenticationModes=None), "ba1 takes keys"),
        ("pool", {deployed.POOL: NO_IDENTITY}, "it lacks an identity"),
        ("pool", nodes(scaleSettings=NO_FORMULA), "does not scale by the tasks that wait"),
        ("pool", nodes(autoScaleRun=WRONG), "AutoScalingFormulaEvaluationError"),
        ("pool", nodes(resizeOperationStatus=NO_CORES), "nodes do not come: AccountCoreQuotaReached"),
        (
            "telemetry",
            {deployed.QUERY: {"tables": [{"rows": [[0]]}]}},
            "appi-1 does not show a run of sweeper",
        ),
    ],
)
async def test_what_is_wrong_fails_with_its_remedy(
    point: str, changed: dict[str, Any], text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    finding = await result(point, changed, monkeypatch)

    assert (finding.subject, finding.outcome) == (point, "fail")
    assert text in finding.text
    assert finding.remedy
    assert "hush" not in f"{finding}"


async def test_a_network_is_looked_at_where_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    inside = {deployed.SITE: {"properties": {"virtualNetworkSubnetId": "/subscriptions/s-1/…/app"}}}
    closed = storage(networkAcls={"defaultAction": "Deny"})

    without = await result("network", {}, monkeypatch)
    is_open = await result("network", inside, monkeypatch, vnet="true")
    outside = await result("network", closed, monkeypatch, vnet="true")
    good = await result("network", closed | inside, monkeypatch, vnet="true")

    assert [one.outcome for one in (without, is_open, outside, good)] == ["skip", "fail", "fail", "ok"]


async def test_an_account_is_closed_where_there_is_a_network(monkeypatch: pytest.MonkeyPatch) -> None:
    is_open = await result("pool", {}, monkeypatch, vnet="true")
    closed = await result("pool", account(publicNetworkAccess="Disabled"), monkeypatch, vnet="true")

    assert (is_open.outcome, closed.outcome) == ("fail", "ok")


async def test_where_the_template_made_no_pool_there_is_nothing_to_look_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    values = deployed.VALUES | {"AZURE_BATCH_ACCOUNT_NAME": ""}
    async with azure({}, monkeypatch) as fake, resource_manager(fake.url) as arm:
        finding = await pool.pool(arm, deployment_of(values))

    assert finding.outcome == "skip"


async def test_alerts_of_which_no_one_hears_are_said_to_be_so(monkeypatch: pytest.MonkeyPatch) -> None:
    silent = {"value": [{"properties": {"enabled": True, "actions": {"actionGroups": []}}}] * 5}
    rules = f"{deployed.PROVIDERS}/Microsoft.Insights/scheduledQueryRules"

    heard = await result("alerts", {}, monkeypatch)
    unheard = await result("alerts", {rules: silent}, monkeypatch)

    assert (heard.text, unheard.outcome) == ("7 alerts watch, and send messages", "ok")
    assert "ALERT_EMAIL is not set" in unheard.text


def test_the_alerts_are_as_many_as_the_template_makes() -> None:
    template = code("infra/alerts.bicep")
    queries = re.findall(r"^    name: '([\w-]+)'$", template, re.MULTILINE)

    assert len(queries) + template.count("Microsoft.Insights/metricAlerts@") == resources.ALERTS


def test_the_outputs_of_the_template_name_every_resource_that_is_looked_at() -> None:
    outputs = code("infra/main.bicep")
    of_azd = ("AZURE_ENV_NAME", "AZURE_LOCATION", "AZURE_SUBSCRIPTION_ID")

    assert {name for name in deployed.VALUES if f"output {name} " not in outputs} == set(of_azd)


def test_the_list_of_the_first_live_run_is_that_of_the_command() -> None:
    lines = re.findall(r"^\| `([\w ]+)` \|", code("docs/how-to/first-live-run.md"), re.MULTILINE)

    assert lines == [*live.POINTS, *live.BY_HAND]


def test_the_functions_that_are_looked_for_are_those_of_the_app() -> None:
    assert {*resources.NEEDED, resources.DISABLED} == {*BY_EVENT, "health"}


async def test_a_role_that_may_not_ask_the_host_itself_sees_that_much_of_the_package(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    refused = {f"{deployed.HOST}/host/status": (403, "AuthorizationFailed", "no permission")}

    finding = await result("package", refused, monkeypatch)

    assert finding.outcome == "ok"
    assert "whether each of them runs is not known: Azure answers 403" in finding.text
