"""The composition root: from settings to ports and a policy."""

from __future__ import annotations

import base64
import json
import logging
import os
import threading
from dataclasses import fields
from typing import get_type_hints

import azure.functions as func
import pytest

from functions.bindings import auth_level
from shared.configured import ConfiguredEngines
from shared.core.errors import Misconfigured
from shared.core.policy import SETTING, Policy
from shared.setting_table.values import Values
from shared.settings import TABLE, Settings
from shared.wiring import build, log_faults, policy_of

CONNECTION = "AccountName=acct;AccountKey=a2V5;BlobEndpoint=http://127.0.0.1:1/acct"


def test_the_defaults_make_a_policy() -> None:
    settings = Settings({"SLIPWAY_STORAGE": CONNECTION})
    policy = policy_of(settings, ConfiguredEngines(settings).clusters)
    assert policy.completion.storage_account == "acct"
    assert policy.limits.max_nodes == 100
    assert policy.completion.cluster_id is not None
    assert policy.completion.cluster_id.endswith("/workspaces/dev/clusters/dev-cluster-00")


def test_every_setting_of_the_policy_is_of_a_kind_that_has_the_type_of_its_field() -> None:
    types = get_type_hints(Policy)
    of_settings = {one.name: one.metadata[SETTING] for one in fields(Policy) if SETTING in one.metadata}
    kinds = {name: getattr(Values, TABLE[setting].kind) for name, setting in of_settings.items()}

    assert len(of_settings) > 10
    assert {name: types[name] for name in kinds} == {
        name: get_type_hints(kind)["return"] for name, kind in kinds.items()
    }


def test_an_app_logs_the_clusters_on_which_no_job_can_run(caplog: pytest.LogCaptureFixture) -> None:
    settings = Settings({"SLIPWAY_STORAGE": CONNECTION})

    build(settings)
    assert caplog.records == []
    log_faults(settings)

    (record,) = caplog.records
    assert record.levelno == logging.ERROR
    assert "dev-cluster-00, and those for it are refused: SLIPWAY_BATCHAI_URL" in record.getMessage()


def test_building_the_ports_leaves_the_process_as_it_is() -> None:
    connection = (
        "InstrumentationKey=00000000-0000-0000-0000-000000000001;IngestionEndpoint=http://127.0.0.1:1"
    )
    values = {
        "SLIPWAY_STORAGE": CONNECTION,
        "SLIPWAY_INSIGHTS": "true",
        "APPLICATIONINSIGHTS_CONNECTION_STRING": connection,
    }

    def process() -> tuple[object, ...]:
        root = logging.getLogger()
        return dict(os.environ), threading.enumerate(), root.level, list(root.handlers)

    before = process()
    build(Settings(values))
    build(Settings({**values, "SLIPWAY_OTLP_URL": "http://127.0.0.1:1"}))
    assert process() == before


def test_a_default_subscription_with_a_path_needs_a_key_that_seals_it() -> None:
    values = {
        "SLIPWAY_STORAGE": CONNECTION,
        "SLIPWAY_WEBHOOK_SECRETS": json.dumps({"default": "whsec_" + "a" * 32}),
        "SLIPWAY_DEFAULT_NOTIFY": '[{"url": "https://hooks.example.com/canary"}]',
    }
    with pytest.raises(
        Misconfigured, match=r"SLIPWAY_DEFAULT_NOTIFY: /0/url: .*no key can seal it"
    ) as caught:
        build(Settings(values))
    assert "canary" not in str(caught.value)
    sealing = {"SLIPWAY_SEAL_KEY": base64.b64encode(b"k" * 32).decode()}
    assert build(Settings(values | sealing)).policy.default_notify


def test_clients_learn_where_storage_is_and_no_key() -> None:
    services = {
        f"SLIPWAY_STORAGE__{one}ServiceUri": f"https://acct.{one}.x" for one in ("blob", "queue", "table")
    }
    string = "AccountName=acct;AccountKey=c2VjcmV0;EndpointSuffix=x"

    for values in ({"SLIPWAY_STORAGE": string}, services):
        answer = build(Settings(values)).client_settings
        assert {name: answer[name] for name in services} == services
        assert answer["SLIPWAY_DROP_CONTAINER"] == "scripts"
        assert "c2VjcmV0" not in str(answer)


@pytest.mark.parametrize("name", ["runs", "archive", "app-package", "azure-webjobs-secrets"])
def test_no_setting_gives_jobs_the_key_for_what_is_the_apps_own(name: str) -> None:
    with pytest.raises(Misconfigured, match=f"SLIPWAY_MOUNTABLE: {name} is the app's own"):
        build(Settings({"SLIPWAY_STORAGE": CONNECTION, "SLIPWAY_MOUNTABLE": f"datalake,{name}"}))


@pytest.mark.parametrize("tenant", ["", " ", "\n", "\t \r\n", "tenant", " tenant\n"])
def test_the_host_asks_for_no_key_only_where_the_app_asks_for_a_token(tenant: str) -> None:
    values = {"SLIPWAY_TENANT": tenant}

    asks_for_tokens = bool(Settings(values).text("SLIPWAY_TENANT"))

    assert (auth_level(values) is func.AuthLevel.ANONYMOUS) == asks_for_tokens
