"""No setting makes the first timer or list of a process load the rules of documents, or an SDK."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from shared.engines.registry import ENGINES
from shared.setting_table import BOUNDS
from shared.settings import TABLE, Settings
from tests.unit.adapters.ssh_keys import private_key

ROOT = Path(__file__).resolve().parents[3]
#: A timer, a list, a delivery: what each loads at its first invocation, beside the ports.
WITHOUT_RULES = (
    "shared.lifecycle.sweeper",
    "shared.operate.listing",
    "shared.delivery.deliver",
    "shared.lifecycle.archive",
)
#: What reads and checks documents, and what connects.
HEAVY = (
    "shared.jobspec.checks",
    "shared.jobspec.reader",
    "shared.jobspec.envelope",
    "shared.jobspec.format.models",
    "shared.intake.message",
    *("azure.storage", "azure.identity", "azure.mgmt", "opentelemetry"),
    *(f"shared.engines.{name}.engine" for name in ENGINES),
)
_STORAGE = "AccountName=x;AccountKey=a2V5;BlobEndpoint=http://127.0.0.1:1/x"
_KEY = base64.b64encode(bytes(range(32))).decode()
_HOST = "https://some.example.com"
_CLUSTERS = {
    "emulated": {"engine": "batchai"},
    "queued": {"engine": "slurm", "url": _HOST, "user": "slipway", "shared": "/shared"},
    "pooled": {
        "engine": "batch",
        "url": "https://acct.westeurope.batch.azure.com",
        "account": "/subscriptions/s/resourceGroups/g/providers/Microsoft.Batch/batchAccounts/acct",
        "pool": "gpu",
        "blobs": "https://acct.blob.core.windows.net/nodes",
        "maxNodes": 2,
    },
    "kept": {"engine": "kubernetes", "shared": "/data", "volumes": {"/data": "pvc:data"}, "image": "python"},
}
_KUBECONFIG = {
    "clusters": [{"name": "c", "cluster": {"server": _HOST}}],
    "users": [{"name": "u", "user": {"token": "secret"}}],
    "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
    "current-context": "x",
}
_PRICE = {"cluster": "emulated", "currency": "USD", "perHour": 1.0, "date": "2026-01-01", "source": "a bill"}
#: A value by its kind, and for settings in which another one has to stand.
_BY_KIND: Mapping[str, str] = {
    **{"flag": "true", "address": _HOST, "ledger": "other", "container": "other", "text": "other"},
    **{"containers": "other,others", "names": "other,others", "crontab": "*/7 * * * * *", "ports": "8443"},
    **{"durations": "1s,2s", "duration": "PT30M"},
}
_BY_NAME: Mapping[str, str] = {
    "SLIPWAY_STORAGE": "UseDevelopmentStorage=true",
    "SLIPWAY_CLUSTERS": json.dumps(_CLUSTERS),
    "SLIPWAY_CLUSTER": "other",
    "SLIPWAY_ENTER": "false",
    "SLIPWAY_ENTER_CA": private_key(),
    "SLIPWAY_SEAL_KEY": _KEY,
    "SLIPWAY_WEBHOOK_SECRETS": json.dumps({"default": f"whsec_{_KEY}"}),
    "SLIPWAY_DEFAULT_NOTIFY": json.dumps([{"url": _HOST, "events": ["failed"]}]),
    "SLIPWAY_CHANNELS": json.dumps({"ops": {"kind": "slack", "url": _HOST}}),
    "SLIPWAY_NAMED_KEYS": json.dumps({"ann": {"sha256": "0" * 64}}),
    "SLIPWAY_PRICES": json.dumps([_PRICE]),
    "SLIPWAY_SOURCE": "urn:slipway:other",
    "SLIPWAY_AUTHORITY": _HOST,
    "SLIPWAY_RECEIPTS_CONTAINER": "receipts",
    "SLIPWAY_BATCHAI_URL": "http://127.0.0.1:7080",
    "SLIPWAY_SLURM_KEYS": json.dumps({"queued": _KEY}),
    "SLIPWAY_BATCH_KEYS": json.dumps({"pooled": _KEY}),
    "SLIPWAY_KUBECONFIGS": json.dumps({"kept": _KUBECONFIG}),
    "SLIPWAY_INVENTORY_DAYS": "5",
}
#: What a setting needs beside itself.
_TOGETHER: Mapping[str, Mapping[str, str]] = {
    "SLIPWAY_DEFAULT_NOTIFY": {"SLIPWAY_WEBHOOK_SECRETS": _BY_NAME["SLIPWAY_WEBHOOK_SECRETS"]},
    "SLIPWAY_TENANT": {"SLIPWAY_AUDIENCE": "api://other"},
    "SLIPWAY_AUDIENCE": {"SLIPWAY_TENANT": "other"},
    **{
        name: {"SLIPWAY_CLUSTERS": _BY_NAME["SLIPWAY_CLUSTERS"]}
        for name in ("SLIPWAY_SLURM_KEYS", "SLIPWAY_BATCH_KEYS", "SLIPWAY_KUBECONFIGS")
    },
}
_CHILD = """
import json, sys
import function_app
from shared.settings import Settings
from shared.wiring import build, log_faults
{imports}
heavy, cases = json.load(sys.stdin)
for name, values in cases.items():
    before = {{*sys.modules}}
    settings = Settings(values)
    build(settings)
    log_faults(settings)
    loaded = {{*sys.modules}} - before
    print(json.dumps([name, sorted(one for one in loaded if one.startswith(tuple(heavy)))]))
"""


def _value(name: str) -> str:
    """A value of a setting that is not its default."""
    setting = TABLE[name]
    if name in _BY_NAME:
        return _BY_NAME[name]
    if setting.kind in BOUNDS.keys() - _BY_KIND.keys():
        return f"{min(setting.limits.most, max(setting.limits.least, 1) * 13):g}"
    if setting.kind == "choice":
        return next(word for word in setting.words if word != setting.default)
    return _BY_KIND[setting.kind]


def _cases() -> dict[str, dict[str, str]]:
    """Each setting alone, with what it needs, and no two of one effect at once."""
    base = {"SLIPWAY_STORAGE": _STORAGE}
    return {"": base} | {name: {**base, **_TOGETHER.get(name, {}), name: _value(name)} for name in TABLE}


@pytest.mark.parametrize("name", TABLE)
def test_each_setting_of_the_matrix_has_a_value_that_is_set(name: str) -> None:
    assert Settings({name: _value(name)}).text(name) != TABLE[name].default


def test_no_setting_makes_the_first_timer_or_list_load_the_rules_of_documents() -> None:
    """They are a third of a second of the loop's time on a shared core, before anything is done."""
    program = _CHILD.format(imports=f"import {', '.join(WITHOUT_RULES)}")

    ran = subprocess.run(
        [sys.executable, "-c", program],
        input=json.dumps([HEAVY, _cases()]),
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )

    assert ran.returncode == 0, ran.stderr
    loaded = dict(map(json.loads, ran.stdout.splitlines()))
    assert loaded.keys() == {"", *TABLE}
    assert {name: modules for name, modules in loaded.items() if modules} == {}
