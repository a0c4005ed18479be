"""The hook that fills the vault, run as azd runs it, with a stand-in for the Azure CLI."""

from __future__ import annotations

import base64
import json
import os
import subprocess
from pathlib import Path

import pytest

from shared.adapters.webhook.signing import secrets_from
from shared.settings import Settings

HOOK = Path(__file__).resolve().parents[3] / "infra" / "hooks" / "secrets.sh"
AZ = """#!/bin/sh
echo "$*" >>"$HOME/calls"
case "$1 $2 $3" in
"keyvault secret list") [ -e "$HOME/refuse" ] && { echo Forbidden >&2; exit 1; }; ls "$HOME/vault" ;;
"keyvault secret recover") [ -e "$HOME/deleted/$7" ] && mv "$HOME/deleted/$7" "$HOME/vault/$7" ;;
"keyvault secret set") cp "$9" "$HOME/vault/$7" ;;
esac
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A vault without secrets: a folder that `az` knows."""
    for name in ("vault", "deleted", "bin", "tmp"):
        (tmp_path / name).mkdir()
    (tmp_path / "bin" / "az").write_text(AZ)
    (tmp_path / "bin" / "az").chmod(0o755)
    (tmp_path / "bin" / "sleep").write_text("#!/bin/sh\n")
    (tmp_path / "bin" / "sleep").chmod(0o755)
    return tmp_path


def run(home: Path) -> subprocess.CompletedProcess[str]:
    """The hook, after a deployment."""
    environment = {
        "PATH": f"{home / 'bin'}:{os.environ['PATH']}",
        "HOME": str(home),
        "TMPDIR": str(home / "tmp"),
        "AZURE_KEY_VAULT_NAME": "kv-x",
        "AZURE_RESOURCE_GROUP": "rg-x",
        "AZURE_FUNCTION_APP_NAME": "func-x",
        "AZURE_SUBSCRIPTION_ID": "00000000-0000-0000-0000-00000000000a",
    }
    return subprocess.run(
        [str(HOOK)], env=environment, check=False, capture_output=True, text=True, timeout=60
    )


def test_absent_secrets_are_made_as_the_app_reads_them_and_never_shown(home: Path) -> None:
    done = run(home)

    assert done.returncode == 0, done.stderr
    seal = (home / "vault" / "seal-key").read_text()
    webhooks = (home / "vault" / "webhook-secrets").read_text()
    assert len(base64.b64decode(seal, validate=True)) == 32
    settings = Settings({"SLIPWAY_SEAL_KEY": seal, "SLIPWAY_WEBHOOK_SECRETS": webhooks})
    settings.check()
    assert set(secrets_from(settings.document("SLIPWAY_WEBHOOK_SECRETS"))) == {"default"}
    secret = json.loads(webhooks)["default"]
    for text in (done.stdout, done.stderr, (home / "calls").read_text()):
        assert seal not in text
        assert secret not in text
    assert "config/configreferences/appsettings/refresh" in (home / "calls").read_text()


def test_the_app_is_that_of_the_subscription_that_azd_deployed_to(home: Path) -> None:
    """The Azure CLI's own default may be another one."""
    run(home)

    (refresh,) = [line for line in (home / "calls").read_text().splitlines() if line.startswith("rest ")]
    assert "/subscriptions/00000000-0000-0000-0000-00000000000a/resourceGroups/rg-x/" in refresh


def test_a_secret_that_is_there_is_neither_read_nor_written(home: Path) -> None:
    run(home)
    before = {path.name: path.read_text() for path in (home / "vault").iterdir()}
    (home / "calls").unlink()

    done = run(home)

    assert done.stdout == "seal-key: there already\nwebhook-secrets: there already\n"
    assert {path.name: path.read_text() for path in (home / "vault").iterdir()} == before
    calls = (home / "calls").read_text()
    assert "secret set" not in calls
    assert "secret show" not in calls


def test_a_deleted_secret_is_recovered_since_sealed_values_need_it(home: Path) -> None:
    (home / "deleted" / "seal-key").write_text("kept")

    done = run(home)

    assert "seal-key: was deleted, and is recovered" in done.stdout
    assert (home / "vault" / "seal-key").read_text() == "kept"


def test_a_vault_that_refuses_is_named_with_the_role_it_needs(home: Path) -> None:
    (home / "refuse").touch()

    done = run(home)

    assert done.returncode == 1
    assert "kv-x does not let you list its secrets: Key Vault Secrets Officer is needed" in done.stderr
    assert list((home / "vault").iterdir()) == []


def test_no_temporary_file_with_a_secret_is_left(home: Path) -> None:
    run(home)

    assert list((home / "tmp").iterdir()) == []
