"""The templates of infra/ name what the code names: settings, containers, queues, functions, log lines."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from azure.functions.decorators.blob import BlobTrigger
from azure.functions.decorators.queue import QueueTrigger

from local.bicep.__main__ import templates
from local.bicep.rules import GRANTS, ROLES
from local.bicep.template import Value
from shared.configured import ConfiguredEngines
from shared.delivery.deliver import QUEUE
from shared.settings import TABLE, Settings
from slipway.stack.provision import QUEUES
from tests.engine_names import engines_named_in
from tests.unit.routes import TRIGGER_BY_EVENT

ROOT = Path(__file__).resolve().parents[3]
INFRA = ROOT / "infra"
TEMPLATES = templates(INFRA)
#: What the Functions host reads, beside the settings of the app.
OF_THE_HOST = re.compile(
    r"AzureWebJobs(Storage__\w+|DisableHomepage|_\w+_Disabled)|APPLICATIONINSIGHTS_AUTHENTICATION_STRING"
)
#: What one of the template's expressions stands for.
FILLED = {
    "endpoints.blob": "https://st.blob.core.windows.net/",
    "endpoints.queue": "https://st.queue.core.windows.net/",
    "endpoints.table": "https://st.table.core.windows.net/",
    "string(clusters)": (INFRA / "clusters.json").read_text("utf-8"),
    "subscription().subscriptionId": "00000000-0000-0000-0000-000000000001",
}


def code(pattern: str) -> str:
    """The text of the project's files."""
    return "".join(path.read_text("utf-8") for path in sorted(ROOT.glob(pattern)))


def inner(value: Value) -> Iterator[Value]:
    """A value and all within it."""
    yield value
    for one in (*value.members.values(), *value.items):
        yield from inner(one)


def of_type(kind: str) -> list[Value]:
    """The bodies of the resources of a type, which the templates make."""
    resources = (one for template in TEMPLATES.values() for one in template.resources if not one.is_existing)
    return [one.body for one in resources if one.type.partition("@")[0] == kind]


def names_of(kind: str) -> set[str]:
    """Their names: a text, or those of the list that a loop goes through."""
    text = code("infra/storage.bicep")
    loops = dict.fromkeys(re.findall(r"for name in \[(.*?)\]: \{\s+parent: (\w+)", text, re.DOTALL))
    looped = {parent: set(re.findall(r"'([\w-]+)'", listed)) for listed, parent in loops}
    names: set[str] = set()
    for body in of_type(kind):
        for one in body.items or (body,):
            name = one.members["name"]
            names |= {name.text} if name.kind == "text" else looped[one.members["parent"].text]
    return names


def app_settings() -> dict[str, str]:
    """Every setting that the template gives the app, under whichever condition, as the template writes it."""
    text = code("infra/dispatcher.bicep")
    pairs = re.findall(
        r"\b([A-Z][A-Za-z_]*_[A-Za-z_]*|AzureWebJobs\w+): ([^,}\n]*(?:\{[^}]*\}[^,}\n]*)*)", text
    )
    secrets = dict.fromkeys(json.loads(code("infra/secrets.json")), "'@Microsoft.KeyVault(…)'")
    others: dict[str, str] = json.loads(code("infra/settings.json"))
    return {name: value.strip() for name, value in pairs} | secrets | others


SET = app_settings()


def test_every_app_setting_of_the_template_is_in_the_table() -> None:
    others = {name for name in SET if not OF_THE_HOST.fullmatch(name)}

    assert {name.partition("__")[0] for name in others} <= set(TABLE)


def test_the_host_shows_no_page_of_its_own_and_drops_have_one_way_in() -> None:
    """The blob trigger reads a whole file into the host, and its web hook stays open."""
    assert SET["AzureWebJobsDisableHomepage"] == "'true'"
    disabled = {name for name, value in SET.items() if name.endswith("_Disabled") and value == "'true'"}
    blobs = {name for name, trigger in TRIGGER_BY_EVENT.items() if isinstance(trigger, BlobTrigger)}
    assert disabled == {f"AzureWebJobs_{name}_Disabled" for name in blobs}
    assert "endpointType: 'StorageQueue'" in code("infra/events.bicep")


def test_the_app_starts_with_the_settings_of_the_template() -> None:
    values = {}
    for name, value in SET.items():
        text = FILLED.get(value, value.strip("'"))
        values[name] = "" if text.startswith("@Microsoft.KeyVault(") else text
    settings = Settings(values)

    settings.check()

    assert settings.unknown() == {}
    assert settings.connection().blob == FILLED["endpoints.blob"]


def test_a_setting_that_the_template_leaves_out_has_a_default_for_azure() -> None:
    local = {name: one for name, one in TABLE.items() if one.example not in (None, one.default)}

    assert {
        name
        for name, one in local.items()
        if name not in SET and re.search("127.0.0.1|Development", one.default)
    } == set()
    assert TABLE["SLIPWAY_WEBHOOK_LOOPBACK"].default == "false"


def test_clusters_as_the_guide_shows_them_are_configured() -> None:
    (text,) = re.findall(
        r"^```json\n(.*?)^```$", code("docs/how-to/connect-a-cluster.md"), re.DOTALL | re.MULTILINE
    )

    engines = ConfiguredEngines(Settings({"SLIPWAY_CLUSTERS": text}))

    assert set(engines.clusters) == set(json.loads(text)) != set()


def test_the_templates_name_no_engine_but_the_one_whose_nodes_they_make() -> None:
    files = [*INFRA.glob("*.bicep"), INFRA / "main.parameters.json", *(INFRA / "hooks").iterdir()]

    texts = {
        path.name: re.sub(r"@allowed\(.*\)\nparam engine\b", "", path.read_text("utf-8")) for path in files
    }

    own = {"aks.bicep": {"Kubernetes", "kubernetes"}}
    others = {name: set(engines_named_in(text)) - own.get(name, {"'batch'"}) for name, text in texts.items()}
    assert {name for name, names in others.items() if names} == set()
    named = {name for name, text in texts.items() if engines_named_in(text)}
    assert named == {"main.bicep", "batch.bicep", *own}


def test_what_the_hook_puts_into_the_vault_is_a_setting() -> None:
    names = set(re.findall(r"^make ([\w-]+)", code("infra/hooks/secrets.sh"), re.MULTILINE))

    assert names
    assert names <= set(json.loads(code("infra/secrets.json")).values())


def test_the_parameters_are_those_of_the_template_and_of_the_guide() -> None:
    parameters = json.loads(code("infra/main.parameters.json"))["parameters"]
    variables = {re.findall(r"[A-Z_]+", one["value"])[0] for one in parameters.values()} - {"AZURE_ENV_NAME"}
    guide = code("docs/how-to/deploy.md")

    assert set(parameters) | {"principalId"} == set(TEMPLATES["main.bicep"].parameters)
    assert {name for name in variables if not re.search(rf"\b{name}\b", guide)} == set()


def test_the_containers_the_queues_and_the_table_are_those_of_the_code() -> None:
    storage = "Microsoft.Storage/storageAccounts"
    kinds = ("DROP", "RECEIPTS", "ARCHIVE", "SNAPSHOTS")
    containers = {TABLE[f"SLIPWAY_{one}_CONTAINER"].default for one in kinds}
    triggers = set(re.findall(r'queue_name="([\w-]+)"', code("functions/*.py")))

    own = {"clusters", "app-package", "dead-letters", "datalake"}
    assert names_of(f"{storage}/blobServices/containers") == containers | own
    assert names_of(f"{storage}/queueServices/queues") == triggers | {QUEUE, "job-notices"}
    assert names_of(f"{storage}/tableServices/tables") == {TABLE["SLIPWAY_LEDGER_TABLE"].default}


def test_the_local_stack_makes_the_queues_of_the_template() -> None:
    queues = names_of("Microsoft.Storage/storageAccounts/queueServices/queues")

    assert {*QUEUES} == queues - {"job-notices"}  # which a setting makes here


def test_every_poison_queue_is_read_where_the_host_makes_it() -> None:
    """In the account of what the trigger reads, which need not be that of the host's own things."""
    queues = [one for one in TRIGGER_BY_EVENT.values() if isinstance(one, QueueTrigger)]
    readers = {one.queue_name: one.connection for one in queues}
    poisons = {f"{one.queue_name}-poison": one.connection for one in queues if "poison" not in one.queue_name}
    (drops,) = (one for one in TRIGGER_BY_EVENT.values() if isinstance(one, BlobTrigger))
    poisons["webjobs-blobtrigger-poison"] = drops.connection

    assert {name: readers.get(name) for name in poisons} == poisons
    assert {*readers} - {*poisons} == {"jobs", QUEUE}


def test_events_go_from_the_drop_container_to_the_queue_of_jobs() -> None:
    (events,) = of_type("Microsoft.EventGrid/systemTopics/eventSubscriptions")
    texts = {one.text for one in inner(events)}

    assert f"/blobServices/default/containers/{TABLE['SLIPWAY_DROP_CONTAINER'].default}/" in texts
    assert {"jobs", "PutBlob", "PutBlockList", "CopyBlob", "dead-letters"} <= texts


def test_every_role_stands_in_the_guide_with_its_reason() -> None:
    text = code("infra/*.bicep")
    granted = {name for role, name in ROLES.items() if role in text}
    rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", code("docs/how-to/deploy.md"), re.M)

    assert granted == {*ROLES.values()} == set().union(*GRANTS.values())
    assert granted <= {row[1].strip() for row in rows if len(row[2].strip()) > 20}


@pytest.mark.parametrize("action", ["parked", "saturated"])
def test_what_an_alert_looks_for_is_logged(action: str) -> None:
    alerts = code("infra/alerts.bicep")

    assert f'line.action) == "{action}"' in alerts
    files = {"lifecycle/waiting/postponement", *(["admission/reason"] if action == "saturated" else [])}
    assert {file for file in files if f'"action": "{action}"' not in code(f"shared/{file}.py")} == set()


def test_an_alert_is_raised_by_one_line_or_by_a_sweeper_that_is_silent() -> None:
    queries = [one.members for one in TEMPLATES["alerts.bicep"].variables["queries"].items]
    raised = {one["name"].text: (one["operator"].text, one["threshold"].text) for one in queries}

    assert raised.pop("sweeper-silent") == ("LessThan", "1")
    assert set(raised) == {"poison", "parked", "quota", "exceptions"}
    assert set(raised.values()) == {("GreaterThan", "0")}
    rules = of_type("Microsoft.Insights/scheduledQueryRules")
    rules += of_type("Microsoft.Insights/metricAlerts")
    counts = [
        one.members
        for rule in rules
        for one in inner(rule)
        if {"operator", "threshold"} <= one.members.keys()
    ]
    assert [(one["operator"].text, one["threshold"].text) for one in counts] == [
        ("one.operator", "one.threshold"),
        ("GreaterThan", "0"),
        ("GreaterThan", "10"),
    ]


def test_the_app_has_nothing_that_flex_consumption_refuses() -> None:
    """Azure refuses the whole app for one of them (error 51021), in the newer regions; no type says so.

    Source: "Flex Consumption plan deprecations" in Microsoft's app settings reference;
    microsoft/azure-pipelines-tasks#21032 and Azure/terraform-azurerm-avm-res-web-site#345 show the refusal.
    """
    members = (
        "ftpsState use32BitWorkerProcess alwaysOn linuxFxVersion windowsFxVersion netFrameworkVersion"
        " javaVersion powerShellVersion preWarmedInstanceCount functionAppScaleLimit"
        " functionsRuntimeScaleMonitoringEnabled containerSize isXenon"
    )
    settings = (
        "ENABLE_ORYX_BUILD FUNCTIONS_EXTENSION_VERSION FUNCTIONS_WORKER_RUNTIME"
        " FUNCTIONS_WORKER_RUNTIME_VERSION SCM_DO_BUILD_DURING_DEPLOYMENT WEBSITE_CONTENTSHARE"
        " WEBSITE_CONTENTAZUREFILECONNECTIONSTRING WEBSITE_MAX_DYNAMIC_APPLICATION_SCALE_OUT"
        " WEBSITE_RUN_FROM_PACKAGE"
    )
    (site,) = of_type("Microsoft.Web/sites")
    names = {name.lower() for one in inner(site) for name in one.members}

    assert {"siteconfig", "mintlsversion"} <= names
    assert names & set(members.lower().split()) == set()
    assert set(SET) & set(settings.split()) == set()


def test_what_alerts_read_is_not_sampled() -> None:
    sampling = json.loads(code("host.json"))["logging"]["applicationInsights"]["samplingSettings"]
    kinds = {
        "traces": "Trace",
        "requests": "Request",
        "exceptions": "Exception",
        "dependencies": "Dependency",
    }
    read = {kinds[name] for name in re.findall(rf"'({'|'.join(kinds)})\b", code("infra/alerts.bicep"))}

    assert "Trace" in read
    assert read <= set(sampling["excludedTypes"].split(";"))


def test_of_what_comes_without_a_person_only_the_apps_own_lines_are_kept() -> None:
    """The host would write three records more for each, and logs cost more than all else at volume."""
    levels = json.loads(code("host.json"))["logging"]["logLevel"]
    levels_of_events = {f"Function.{name}": "Warning" for name in TRIGGER_BY_EVENT}
    levels_of_events |= {f"Function.{name}.User": "Information" for name in TRIGGER_BY_EVENT}

    assert {name: level for name, level in levels.items() if name.startswith("Function")} == levels_of_events


def test_every_way_in_which_storage_throttles_raises_the_alert() -> None:
    """Azure counts the limits of an account apart from its other throttling."""
    (listed,) = re.findall(
        r"name: 'ResponseType', operator: 'Include', values: (\w+)", code("infra/alerts.bicep")
    )
    (names,) = re.findall(rf"var {listed} = \[(.*?)\]", code("infra/alerts.bicep"), re.DOTALL)

    assert set(re.findall(r"'(\w+)'", names)) == {
        "ClientAccountBandwidthThrottlingError",
        "ClientAccountRequestThrottlingError",
        "ClientThrottlingError",
        "ServerBusyError",
        "SuccessWithThrottling",
    }


def test_alerts_name_functions_and_loggers_that_there_are() -> None:
    text = code("infra/alerts.bicep") + code("infra/workbook.json")
    functions = set(re.findall(r"""operation_Name == \\?["'](\w+)""", text))

    assert functions == {"sweeper"}
    assert 'function_name("sweeper")' in code("functions/sweeper.py")
    for logger in re.findall(r'line\.logger\) == "([\w.]+)"', text):
        assert (ROOT / f"{logger.replace('.', '/')}.py").is_file()
