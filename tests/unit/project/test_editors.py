"""What editors and clients read agrees with the app: requests, ports, folders."""

from __future__ import annotations

import json
import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.unit.openapi import DOCUMENT
from tests.unit.project.test_infra import code

ROOT = Path(__file__).parents[3]
FILE = ROOT / "examples" / "requests.http"
REQUESTS = re.findall(r"^(GET|POST) {{api}}(\S+)$", FILE.read_text(encoding="utf-8"), re.M)


def test_each_request_of_the_file_is_one_of_the_api() -> None:
    operations = {
        (method.upper(), re.sub(r"{\w+}", "{}", path))
        for path, one in DOCUMENT["paths"].items()
        for method in one
    }
    requests = {(method, "/api" + re.sub(r"{{\S+?}}", "{}", path)) for method, path in REQUESTS}

    assert len(requests) > 10
    assert requests - operations == set()


def test_each_body_of_the_file_is_there() -> None:
    bodies = re.findall(r"^< (\S+)$", FILE.read_text(encoding="utf-8"), re.M)

    assert [body for body in bodies if not (FILE.parent / body).is_file()] == []


def test_the_file_and_the_devcontainer_use_the_ports_of_up() -> None:
    ports = set(map(int, re.findall(r"\] = (\d{4,5}),$", code("slipway/commands/up.py"), re.M)))
    container = json.loads(code(".devcontainer/devcontainer.json"))
    api = re.search(r"^@api = (\S+)$", FILE.read_text(encoding="utf-8"), re.M)

    assert api
    assert {*container["forwardPorts"], urlsplit(api[1]).port} <= ports


@pytest.mark.parametrize("name", ["extensions", "launch", "settings", "tasks"])
def test_the_files_of_the_editor_are_json(name: str) -> None:
    assert json.loads(code(f".vscode/{name}.json"))


def test_what_a_debugger_attaches_to_is_started_by_a_task() -> None:
    tasks = {one["label"]: one for one in json.loads(code(".vscode/tasks.json"))["tasks"]}
    (attach,) = json.loads(code(".vscode/launch.json"))["configurations"]

    assert attach["preLaunchTask"] in tasks
    assert {one["dependsOn"] for one in tasks.values() if "dependsOn" in one} <= set(tasks)
    assert attach["name"].lower() in code("docs/how-to/use-core-tools.md").lower()


def test_the_devcontainer_has_what_the_guides_ask_for() -> None:
    container = json.loads(code(".devcontainer/devcontainer.json"))
    features = " ".join(container["features"])

    assert all(name in features for name in ("/azd:", "/azure-cli:", "/node:"))
    assert "azure-functions-core-tools@4." in container["postCreateCommand"]
    assert (
        container["customizations"]["vscode"]["extensions"]
        == json.loads(code(".vscode/extensions.json"))["recommendations"]
    )


def test_the_host_exports_no_telemetry_beside_its_own() -> None:
    """As the guide says: with telemetryMode a line would arrive by the host and by the app."""
    assert "telemetryMode" not in json.loads(code("host.json"))
    assert "sets no `telemetryMode`" in code("docs/how-to/operate-a-deployment.md")
