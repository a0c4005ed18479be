"""What editors and clients read agrees with the app: requests, ports, folders."""

from __future__ import annotations

import json
import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.unit.project.test_infra import code

ROOT = Path(__file__).parents[3]
REQUESTS = re.findall(r"^(GET|POST) {{api}}(\S+)$", (ROOT / "test.http").read_text(encoding="utf-8"), re.M)


def test_each_request_of_the_file_is_one_of_the_api() -> None:
    paths = json.loads(code("docs/reference/openapi.json"))["paths"]
    operations = {
        (method.upper(), re.sub(r"{\w+}", "{}", path)) for path, one in paths.items() for method in one
    }
    requests = {(method, "/api" + re.sub(r"{{\S+?}}", "{}", path)) for method, path in REQUESTS}

    assert len(requests) > 10
    assert requests - operations == set()


def test_each_body_of_the_file_is_there() -> None:
    bodies = re.findall(r"^< (\S+)$", code("test.http"), re.M)

    assert [body for body in bodies if not (ROOT / body).is_file()] == []


def test_the_file_and_the_devcontainer_use_the_ports_of_up() -> None:
    ports = set(map(int, re.findall(r"\] = (\d{4,5}),$", code("slipway/main.py"), re.M)))
    container = json.loads(code(".devcontainer/devcontainer.json"))
    api = re.search(r"^@api = (\S+)$", code("test.http"), re.M)

    assert api
    assert {*container["forwardPorts"], urlsplit(api[1]).port} <= ports


@pytest.mark.parametrize("name", ["extensions", "launch", "settings", "tasks"])
def test_the_files_of_the_editor_are_json(name: str) -> None:
    assert json.loads(code(f".vscode/{name}.json"))
