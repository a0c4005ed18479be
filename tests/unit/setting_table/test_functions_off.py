"""Settings of the host that turn functions off, which the app, its health and `doctor` report."""

from __future__ import annotations

from dataclasses import replace

import pytest

from shared.operate.ready import ready
from shared.setting_table.functions_off import BY_EVENT, DROP, EXPECTED, NEEDED, SWEEPER, functions_off
from tests.unit import routes
from tests.unit.world import World

_SCAN = {"SLIPWAY_BLOB_SOURCE": "LogsAndContainerScan"}


def test_each_function_that_no_call_starts_is_looked_at() -> None:
    assert {*BY_EVENT, DROP} == set(routes.BY_EVENT)


_EVERY = [*BY_EVENT, *map(str, routes.ROUTES)]


@pytest.mark.parametrize("name", _EVERY)
@pytest.mark.parametrize("form", ["AzureWebJobs.{}.Disabled", "AzureWebJobs_{}_Disabled"])
def test_a_disabled_function_is_named_with_its_setting(name: str, form: str) -> None:
    setting = form.format(name)

    assert functions_off({setting: " True"}) == {name: f"the setting {setting} disables {name}; remove it"}
    assert functions_off({setting.upper(): "1"}).keys() == {name}
    assert functions_off({setting: "false"}) == {}


@pytest.mark.parametrize(
    ("values", "off"),
    [
        ({"WEBSITE_SKU": "FlexConsumption"}, False),
        ({"AzureWebJobs_accept_drop_Disabled": "true"}, False),
        ({"AzureWebJobs_accept_drop_Disabled": "true", **_SCAN}, True),
        ({"WEBSITE_SKU": "FlexConsumption", **_SCAN}, True),
        ({"WEBSITE_SKU": "ElasticPremium", **_SCAN}, False),
    ],
)
def test_the_trigger_of_blobs_has_to_run_where_it_scans_which_flex_consumption_does_not(
    values: dict[str, str], off: bool
) -> None:
    assert (DROP in functions_off(values)) is off


@pytest.mark.parametrize("name", _EVERY)
async def test_health_says_that_a_function_is_off_and_the_log_by_which_setting_where_that_is_a_mistake(
    name: str, world: World, caplog: pytest.LogCaptureFixture
) -> None:
    off = functions_off({f"AzureWebJobs.{name}.Disabled": "true"})
    ports = replace(world.ports, functions_off=off)

    readiness = await ready(ports)

    assert readiness.settings_wrong == (name in EXPECTED), "an operator may switch off the page"
    assert readiness.ready == (name not in NEEDED), "a job needs the queue's door and the sweeper"
    assert readiness.words["off"] == [name]
    assert readiness.words["sweeper"] == ("off" if name == SWEEPER else "ok")
    text = f"the setting AzureWebJobs.{name}.Disabled disables {name}; remove it"
    assert (text in caplog.text) == (name in EXPECTED)
