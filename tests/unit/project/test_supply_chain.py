"""What is installed is named by its hash, and what runs for us elsewhere by its commit."""

import json
import re
import tomllib
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]
#: What pip reads as it is.
LISTS = ("requirements.txt", "local/setup/uv.txt")
PYPI = ("https://pypi.org/simple", "https://files.pythonhosted.org/packages/")
ENTRY = re.compile(
    r"^(?P<name>[a-z0-9-]+)==(?P<version>\S+)(?P<marker> ;[^\\\n]+)?(?P<hashes>.*(?:\n    .*)*)", re.M
)


def entries(*files: str) -> dict[str, str]:
    """The hashes of each `name==version ; marker`."""
    text = "\n".join((ROOT / file).read_text() for file in files)
    return {
        f"{match['name']}=={match['version']}{match['marker'] or ''}".strip(): match["hashes"]
        for match in ENTRY.finditer(text)
    }


def canonical(requirement: str) -> str:
    """Name and version, without marker, as the locks write them."""
    return re.sub(r"[-_.]+(?=[^=]*==)", "-", requirement.partition(";")[0].strip().lower())


@pytest.mark.parametrize("file", LISTS)
def test_every_package_is_at_one_version_with_the_hashes_of_its_files(file: str) -> None:
    lines = [
        line for line in (ROOT / file).read_text().splitlines() if not line.startswith(("#", "-r ", "    "))
    ]
    result = entries(file)

    assert len(result) == len(lines) >= 1
    for name, hashes in result.items():
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", hashes), name
        assert not re.search(r"--hash=(?!sha256:[0-9a-f]{64}\b)", hashes), name


@pytest.mark.parametrize("file", LISTS)
def test_no_list_says_where_packages_come_from(file: str) -> None:
    assert not re.search(r"://|index-url|find-links|trusted-host", (ROOT / file).read_text())


def locked() -> list[dict[str, Any]]:
    """The packages of uv.lock, without the project itself."""
    packages = tomllib.loads((ROOT / "uv.lock").read_text())["package"]
    return [one for one in packages if one["name"] != "slipway-jobs"]


def test_the_lock_names_the_public_index_and_has_the_hash_of_each_file() -> None:
    addresses = set(re.findall(r'"(https?://[^"]+)"', (ROOT / "uv.lock").read_text()))
    files = [file for one in locked() for file in (*one.get("wheels", ()), *filter(None, [one.get("sdist")]))]

    assert {one for one in addresses if not one.startswith(PYPI)} == set()
    assert len(files) > 1000
    assert [file["url"] for file in files if not re.fullmatch(r"sha256:[0-9a-f]{64}", file["hash"])] == []


def test_every_group_is_locked_as_pyproject_has_it() -> None:
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"]
    versions = {(one["name"], one["version"]) for one in locked()}

    direct = {tuple(canonical(one).split("==")) for group in groups.values() for one in group}
    assert len(direct) > 50
    assert direct <= versions


def test_the_function_app_installs_what_pyproject_asks_for_and_all_that_it_brings() -> None:
    app = tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"]["app"]
    installed = {canonical(one) for one in entries("requirements.txt")}

    assert {canonical(one) for one in app} < installed
    assert installed <= {f"{one['name']}=={one['version']}" for one in locked()}


def test_a_deployment_gets_its_requirements_and_no_lock_that_a_build_would_prefer() -> None:
    """No exceptions with `!`: azd before 1.23.13 leaves out what they name (Azure/azure-dev, #7311)."""
    ignored = (ROOT / ".funcignore").read_text().splitlines()

    assert [line for line in ignored if line.startswith("!")] == []
    assert {"uv.lock", "pyproject.toml"} <= set(ignored)
    assert not [line for line in ignored if fnmatch("requirements.txt", line)]


def test_a_deployment_gets_the_built_page_and_not_what_it_is_built_from() -> None:
    ignored = (ROOT / ".funcignore").read_text().splitlines()

    assert "web/" in ignored
    assert not [line for line in ignored if fnmatch("page/", line) or fnmatch("page/index.html", line)]


@pytest.mark.parametrize("file", ["package-lock.json", "web/package-lock.json"])
def test_node_packages_are_locked_by_their_hashes_and_not_by_an_address(file: str) -> None:
    packages = json.loads((ROOT / file).read_text())["packages"]

    named = {name: one for name, one in packages.items() if name and not one.get("inBundle")}
    assert named
    assert [name for name, one in named.items() if "resolved" in one or "integrity" not in one] == []


def test_every_python_of_the_metadata_is_set_up_by_the_workflow_and_tried_by_a_clean_installation() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    pythons = [one.split()[-1] for one in project["classifiers"] if "Python :: 3." in one]
    workflow = (ROOT / ".github" / "workflows" / "ci.yml").read_text()
    tried = re.search(r"clean_install (.+)", (ROOT / "Makefile").read_text())

    assert "3.14" in pythons
    assert sorted(re.findall(r"^ +(3\.\d+)$", workflow, re.M)) == pythons
    assert re.findall(r"^ +(3\.\d+)$", workflow, re.M)[-1] == "3.13"  # `python3` is the last one
    assert tried is not None
    assert tried[1].split() == pythons


def test_actions_of_workflows_are_named_by_commit() -> None:
    used = [
        line.partition("uses:")[2].strip()
        for file in (*(ROOT / ".github" / "workflows").glob("*.yml"), ROOT / "action.yml")
        for line in file.read_text().splitlines()
        if "uses:" in line
    ]

    assert used
    assert [
        one for one in used if not re.fullmatch(r"[\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", one)
    ] == []


def test_no_workflow_and_no_container_runs_a_program_straight_from_the_net() -> None:
    hidden = [*(ROOT / ".github").rglob("*.yml"), *(ROOT / ".devcontainer").iterdir()]
    pipe = re.compile(
        r"(curl|wget|iwr|Invoke-WebRequest)\b[^\n]*\|\s*(sudo\s+)?(ba|z|pw)?sh\b", re.IGNORECASE
    )

    assert pipe.search("curl -fsSL https://example.com/x.sh | bash -s -- --version 1")
    assert [file.name for file in hidden if pipe.search(file.read_text())] == []


def test_the_development_container_is_named_by_its_digest_and_its_features_by_a_whole_version() -> None:
    container = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text())
    features = container["features"]

    assert re.fullmatch(r"[\w./-]+:\d+\.\d+\.\d+-3\.13-bookworm@sha256:[0-9a-f]{64}", container["image"])
    assert features
    assert [one for one in features if not re.fullmatch(r"ghcr\.io/[\w./-]+:\d+\.\d+\.\d+", one)] == []


def test_a_deployment_gets_sources_alone_and_no_package_that_lies_among_them() -> None:
    """A wheel that pip left in a folder would go to Azure with it."""
    folders = ("confined", "functions", "shared")
    files = [path for top in folders for path in (ROOT / top).rglob("*") if path.is_file()]
    others = {path.name for path in files if path.suffix not in (".py", ".sh", ".typed", ".pyc")}

    assert files
    assert others == set()
