"""The hook that removes the role of the pool after `azd down`, with a stand-in for the Azure CLI."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
SUBSCRIPTION = "00000000-0000-0000-0000-00000000000a"
#: `role` is there until `granted` has no line left, one of which goes with each try. As the Azure CLI does,
#: it looks into its own subscription where no scope names another one, finds nothing, and says nothing.
AZ = """#!/bin/sh
echo "$*" >>"$HOME/calls"
[ -e "$HOME/signed-out" ] && { echo "Please run 'az login'" >&2; exit 1; }
case "$1 $2 $3" in
"role definition list") cat "$HOME/role" 2>/dev/null; exit 0 ;;
"role definition delete")
    case "$*" in *"--scope /subscriptions/SUBSCRIPTION"*) ;; *) exit 0 ;; esac
    if [ -s "$HOME/granted" ]; then
        sed -i 1d "$HOME/granted"; echo RoleDefinitionHasAssignments >&2; exit 1
    fi
    rm "$HOME/role" ;;
esac
""".replace("SUBSCRIPTION", SUBSCRIPTION)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "bin").mkdir()
    for name, text in {"az": AZ, "sleep": "#!/bin/sh\n"}.items():
        (tmp_path / "bin" / name).write_text(text)
        (tmp_path / "bin" / name).chmod(0o755)
    return tmp_path


def run(home: Path) -> subprocess.CompletedProcess[str]:
    """The hook, with what azd keeps of an environment whose resources are gone."""
    environment = {
        "PATH": f"{home / 'bin'}:{os.environ['PATH']}",
        "HOME": str(home),
        "AZURE_ENV_NAME": "dev",
        "AZURE_SUBSCRIPTION_ID": SUBSCRIPTION,
    }
    hook = ROOT / "infra" / "hooks" / "role.sh"
    return subprocess.run([hook], env=environment, check=False, capture_output=True, text=True, timeout=60)


def test_it_deletes_the_role_that_the_template_names(home: Path) -> None:
    (home / "role").write_text("guid\n")

    done = run(home)

    assert done.returncode == 0, done.stderr
    assert not (home / "role").exists()
    name = f"Slipway Pool Scaler dev {SUBSCRIPTION}"
    assert f"--name {name} " in (home / "calls").read_text()
    template = (ROOT / "infra" / "main.bicep").read_text()
    assert "roleName: 'Slipway Pool Scaler ${environmentName} ${subscription().subscriptionId}'" in template


def test_it_waits_until_the_grant_is_gone_with_the_account(home: Path) -> None:
    (home / "role").write_text("guid\n")
    (home / "granted").write_text("1\n2\n3\n")

    assert run(home).returncode == 0
    assert not (home / "role").exists()


def test_a_deployment_without_the_role_has_nothing_to_remove(home: Path) -> None:
    assert run(home).returncode == 0
    assert "delete" not in (home / "calls").read_text()


def test_a_role_that_stays_granted_is_named(home: Path) -> None:
    (home / "role").write_text("guid\n")
    (home / "granted").write_text("x\n" * 50)

    done = run(home)

    assert done.returncode == 1
    assert "Slipway Pool Scaler dev" in done.stderr


def test_an_az_that_is_not_signed_in_is_no_success(home: Path) -> None:
    (home / "signed-out").touch()

    done = run(home)

    assert done.returncode == 1
    assert "az login" in done.stderr


def test_azd_runs_it_after_it_has_removed_the_rest() -> None:
    assert (
        "  postdown:\n    posix:\n      shell: sh\n      run: infra/hooks/role.sh\n"
        in (ROOT / "azure.yaml").read_text()
    )
