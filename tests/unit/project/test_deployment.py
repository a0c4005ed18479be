"""What azd and the workflow read beside the templates: parameters, the engine, the registration."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from shared.core.caller import ROLES
from shared.engines.registry import ENGINES
from tests.unit.project.test_infra import code

#: The Azure CLI, which asks for tokens for people.
AZURE_CLI = "04b07795-8ddb-461a-bbee-02f9e1bf7b46"


def parameters() -> dict[str, str]:
    """Each parameter, with the variable of azd that it is."""
    members = json.loads(code("infra/main.parameters.json"))["parameters"]
    return {name: re.findall(r"[A-Z_]+", one["value"])[0] for name, one in members.items()}


def test_what_azd_keeps_of_an_environment_is_not_committed() -> None:
    assert ".azure/" in code(".gitignore").splitlines()


def test_azd_down_forgets_no_choice_of_the_environment() -> None:
    """It removes each output of the template from the environment, as what is no longer true."""
    outputs = set(re.findall(r"^output (\w+) ", code("infra/main.bicep"), re.MULTILINE))

    assert "SLIPWAY_URL" in outputs
    assert outputs & set(parameters().values()) == set()


def test_a_deployment_by_the_workflow_has_the_choices_of_the_environment() -> None:
    workflow = code(".github/workflows/azure-dev.yml")
    own = {"AZURE_ENV_NAME"}

    for variable in set(parameters().values()) - own:
        assert f"      {variable}: ${{{{ vars.{variable} }}}}\n" in workflow


def test_the_engine_is_chosen_among_those_that_a_template_can_deploy() -> None:
    main = code("infra/main.bicep")
    (names, default) = re.findall(r"@allowed\(\[(.*?)\]\)\nparam engine string = '(\w+)'", main)[0]
    allowed = re.findall(r"'(\w+)'", names)

    assert default == "none" == allowed[0]
    assert len(allowed) > 1
    assert set(allowed[1:]) == {"batch", "slurm"} <= set(ENGINES)
    assert "SLIPWAY_CLUSTERS: string(clusters)" in code("infra/dispatcher.bicep")


def test_the_app_has_one_role_on_an_account_which_is_azures_own() -> None:
    text = code("infra/batch.bicep")

    assert text.count("scope: account") == 1
    assert "Microsoft.Authorization/roleDefinitions@" not in code("infra/*.bicep")
    assert '--role "Azure Batch Data Contributor"' in code("docs/how-to/connect-a-cluster.md")


def test_the_guide_says_what_each_choice_of_an_engine_deploys() -> None:
    (names,) = re.findall(r"@allowed\(\[(.*?)\]\)\nparam engine", code("infra/main.bicep"))
    (row,) = re.findall(r"^\| `SLIPWAY_ENGINE` \|.*$", code("docs/how-to/deploy.md"), re.MULTILINE)

    for name in re.findall(r"'(\w+)'", names):
        assert f"`{name}`" in row


def registration() -> dict[str, Any]:
    document: dict[str, Any] = json.loads(code("infra/entra.json"))
    return document


def test_the_registration_defines_the_roles_that_the_api_knows() -> None:
    roles = registration()["appRoles"]

    assert {role["value"] for role in roles} == ROLES
    assert all(role["isEnabled"] for role in roles)
    assert all(set(role["allowedMemberTypes"]) == {"User", "Application"} for role in roles)
    assert len({role["id"] for role in roles}) == len(roles)


def test_a_person_who_is_signed_in_to_the_azure_cli_gets_a_token() -> None:
    api = registration()["api"]

    (scope,) = api["oauth2PermissionScopes"]
    assert scope["isEnabled"]
    assert api["preAuthorizedApplications"] == [{"appId": AZURE_CLI, "delegatedPermissionIds": [scope["id"]]}]
    assert api["requestedAccessTokenVersion"] == 2


def test_the_guide_registers_what_the_file_says_and_gives_a_person_a_role() -> None:
    guide = code("docs/how-to/deploy-with-entra.md")
    admin = next(role for role in registration()["appRoles"] if role["value"] == "Jobs.Admin")

    assert "--body @infra/entra.json" in guide
    assert admin["id"] in guide


def test_commands_of_the_azure_cli_work_in_the_subscription_of_azd() -> None:
    """The CLI has a default of its own, which need not be the one that azd deploys to."""
    guide = code("docs/how-to/deploy.md")
    before, _, _ = guide.partition("az functionapp keys list")

    assert 'az account set --subscription "$(azd env get-value AZURE_SUBSCRIPTION_ID)"' in before


def test_the_app_reaches_the_vault_and_receivers_from_a_new_network() -> None:
    """New networks may have no way out by default; the vault, telemetry and receivers are outside."""
    (subnet,) = re.findall(
        r"name: 'app'\n\s+properties: \{(.*?)\n        \}", code("infra/network.bicep"), re.S
    )

    assert "defaultOutboundAccess: true" in subnet
    assert "serviceName: 'Microsoft.App/environments'" in subnet, "Flex Consumption joins no other subnet"


@pytest.mark.parametrize("sample", ["least", "fullest"])
def test_the_samples_of_the_workflow_have_what_the_template_asks_for(sample: str) -> None:
    required = re.findall(r"^param (\w+) \w+$", code("infra/main.bicep"), re.MULTILINE)
    parameters = set(re.findall(r"^param (\w+) ", code("infra/main.bicep"), re.MULTILINE))
    values = set(re.findall(r"^param (\w+) = ", code(f"infra/{sample}.bicepparam"), re.MULTILINE))

    assert {"principalId", *required} <= values <= parameters


def test_microsoft_s_rules_look_at_everything_that_can_be_made() -> None:
    """Without parameters that are values, and without expansion, they find no resource, and pass."""
    workflow = code(".github/workflows/ci.yml")
    parameters = code("infra/fullest.bicepparam")

    assert "'Configuration.AZURE_BICEP_PARAMS_FILE_EXPANSION' = $true" in workflow
    assert "-InputPath infra/fullest.bicepparam" in workflow
    assert "param engine = 'batch'" in parameters
    assert "param vnetEnabled = true" in parameters


def test_a_warning_of_the_compiler_fails_the_workflow() -> None:
    """It ends with 0 for a misspelt member."""
    workflow = code(".github/workflows/ci.yml")

    assert re.search(r"az bicep install --version v\d+\.\d+\.\d+$", workflow, re.MULTILINE)
    assert "2>&1 >/dev/null | tee /dev/stderr | grep -q .; then exit 1" in workflow


def test_a_group_of_someone_else_is_not_taken_and_removed() -> None:
    """`azd down` removes the whole group, and rg-dev is a usual name."""
    (name,) = re.findall(r"resourceGroups@[\d-]+' = \{\n  name: '(.*)'", code("infra/main.bicep"))
    guides = code("docs/how-to/*.md")

    assert name == "rg-slipway-${environmentName}"
    assert set(re.findall(r"\brg-[\w-]+", guides)) == {"rg-slipway-dev"}


def test_azd_is_new_enough_for_what_the_template_asks_of_it() -> None:
    (version,) = re.findall(r"^  azd: \"?>= ([\d.]+)", code("azure.yaml"), re.MULTILINE)

    assert f"(https://aka.ms/azd) {version.rpartition('.')[0]} or newer" in code("docs/how-to/deploy.md")
    assert f"          version: {version}\n" in code(".github/workflows/azure-dev.yml")
