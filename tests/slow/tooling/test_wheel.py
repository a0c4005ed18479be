"""What is installed where only the command is wanted, as with pipx: it, what it needs, and nothing else."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import venv
import zipfile
from collections.abc import Iterator
from email.parser import Parser
from pathlib import Path

import pytest

from tests.acceptance.setup.wheel import top_levels, wheel, wheel_of_sources

ROOT = Path(__file__).resolve().parents[3]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
#: What a package is imported as, where that is another name than its own; and what one brings for sure.
IMPORTED = {
    "azure-identity": ("azure.identity", "azure.core", "cryptography", "jwt", "certifi"),
    "azure-storage-blob": ("azure.storage.blob", "typing_extensions"),
    "aiohttp": ("aiohttp", "yarl"),
    "pydantic": ("pydantic", "pydantic_core"),
    "PyYAML": ("yaml",),
}
#: What the extra `mcp` brings, for the command of that name alone.
EXTRA = {ROOT / "slipway" / "commands" / "mcp": ("mcp", "mcp_types", "jsonschema")}
#: What a clone alone has.
STACK = ROOT / "slipway" / "stack"
#: What only engines, telemetry and the local stack import, each at its first use.
OF_THE_APP = ("azure.mgmt", "azure.storage.fileshare", "azure.monitor", "opentelemetry", "msrest")
#: What others write; its last line is wrong.
PROGRAM = """
from slipway import Client, Job

client = Client()
job: Job = client.run("train.py", "--lr", "0.1", nodes=2)
state: str = job.result().state
code: int | None = job.wait().exit_code
job.log(rank=0, follow=True)
names: list[str] = [file.name for file in job.files()]
lowest: list[float] = [ranked.value for ranked in client.sweep("s_").best("loss")]
client.run("train.py", nodes="2")
"""
#: Imports all of it, and prints which packages with a name of ours came in.
IMPORTS = """
import pkgutil, sys
import slipway

for module in pkgutil.walk_packages(slipway.__path__, "slipway."):
    if not module.name.startswith("slipway._shared.engines.node."):  # sent to nodes, as text
        __import__(module.name)
for engine in sys.modules["slipway._shared.engines.registry"].ENGINES.values():
    assert engine.abilities()
slipway.Client(url="https://slipway.example")
ours = {"shared", "confined", "local", "functions"}
print([name for name in sys.modules if name.partition(".")[0] in ours])
"""
#: What people bring themselves; without it one function says so.
OF_PEOPLE = ("pandas",)


@pytest.fixture(scope="module")
def wheel_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return wheel(tmp_path_factory.mktemp("wheel"))


def test_the_wheel_holds_the_command_and_what_it_cannot_do_without(wheel_file: Path) -> None:
    archive = zipfile.ZipFile(wheel_file)
    names = archive.namelist()
    (metadata,) = (name for name in names if name.endswith(".dist-info/top_level.txt"))

    assert top_levels(wheel_file) == {"slipway"}
    assert archive.read(metadata).split() == [b"slipway"]
    assert "slipway/main.py" in names
    assert not [name for name in names if name.startswith("slipway/stack/")]


def in_a_project_of_others(wheel_file: Path, place: Path, *argv: str) -> subprocess.CompletedProcess[str]:
    """Run Python where the wheel is installed, in a folder whose packages have the names of ours."""
    zipfile.ZipFile(wheel_file).extractall(place / "installed")
    for name in ("shared", "functions", "confined", "local", "tests", "bench"):
        (place / "project" / name).mkdir(parents=True)
        (place / "project" / name / "__init__.py").write_text("raise RuntimeError('a package of others')\n")
    path = os.pathsep.join((".", str(place / "installed"), sysconfig.get_path("purelib")))
    return subprocess.run(
        [sys.executable, "-S", "-W", "error", *argv],
        cwd=place / "project", env={"PYTHONPATH": path, "HOME": str(place), "PATH": os.defpath},
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip


def test_every_module_is_imported_beside_packages_of_others_with_the_apps_names(
    wheel_file: Path, tmp_path: Path
) -> None:
    done = in_a_project_of_others(wheel_file, tmp_path, "-c", IMPORTS)

    assert (done.stdout.strip(), done.stderr) == ("[]", "")


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (("explain", "job.json"), "settings: none"),
        (("up",), "this needs a clone of the project"),
    ],
)
def test_a_command_works_beside_packages_of_others(
    argv: tuple[str, ...], expected: str, wheel_file: Path, tmp_path: Path
) -> None:
    shutil.copytree(ROOT / "examples" / "hello", tmp_path / "project")
    done = in_a_project_of_others(wheel_file, tmp_path, "-m", "slipway.entry", *argv)

    assert expected in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.thorough
def test_a_program_of_others_is_checked_against_its_types(wheel_file: Path, tmp_path: Path) -> None:
    environment = tmp_path / "environment"
    venv.create(environment, symlinks=True)
    (packages,) = environment.glob("lib/python*/site-packages")
    zipfile.ZipFile(wheel_file).extractall(packages)
    (packages / "others.pth").write_text(sysconfig.get_path("purelib"))
    (tmp_path / "program.py").write_text(PROGRAM)

    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"),
         "--python-executable", str(environment / "bin" / "python"), "program.py"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert checked.stdout == (
        'program.py:11: error: Argument "nodes" has incompatible type "str"; '
        'expected "int | None"  [arg-type]\n'
        "Found 1 error in 1 file (checked 1 source file)\n"
    ), checked.stderr


def test_every_module_of_these_packages_is_in_the_wheel(wheel_file: Path) -> None:
    remote = {name for name in zipfile.ZipFile(wheel_file).namelist() if name.endswith(".py")}
    rig = {
        re.sub(r"^(confined|shared)/", r"slipway/_\1/", file.relative_to(ROOT).as_posix())
        for top in ("confined", "shared", "slipway")
        for file in (ROOT / top).rglob("*.py")
        if STACK not in file.parents
    }

    assert remote == rig


def test_the_published_sources_make_the_same_wheel(wheel_file: Path, tmp_path: Path) -> None:
    first, second = (zipfile.ZipFile(one) for one in (wheel_file, wheel_of_sources(tmp_path)))
    record = next(name for name in first.namelist() if name.endswith("/RECORD"))

    assert sorted(first.namelist()) == sorted(second.namelist())
    assert [one for one in first.namelist() if one != record and first.read(one) != second.read(one)] == []


def test_its_metadata_names_the_command_and_what_remote_use_needs(wheel_file: Path) -> None:
    archive = zipfile.ZipFile(wheel_file)
    (place,) = {name.partition("/")[0] for name in archive.namelist() if ".dist-info/" in name}
    result = Parser().parsestr(archive.read(f"{place}/METADATA").decode())

    expected = {re.split(r"[~<>=]", one)[0] for one in PYPROJECT["project"]["dependencies"]}
    requirements = [one for one in result.get_all("Requires-Dist", []) if "extra ==" not in one]
    assert {re.split(r"[~<>=]", one)[0] for one in requirements} == expected
    assert result.get_all("Provides-Extra") == list(PYPROJECT["project"]["optional-dependencies"])
    assert "slipway = slipway.entry:main" in archive.read(f"{place}/entry_points.txt").decode()


def test_what_it_asks_for_is_what_the_tests_run_with() -> None:
    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    locked = tomllib.loads((ROOT / "uv.lock").read_text())["package"]
    pinned = {canonicalize_name(one["name"]): one["version"] for one in locked}
    for one in map(Requirement, PYPROJECT["project"]["dependencies"]):
        assert one.specifier.contains(pinned[canonicalize_name(one.name)]), one


def imports(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module


def test_what_it_imports_is_what_it_asks_for() -> None:
    names = [re.split(r"[~<>=]", one)[0] for one in PYPROJECT["project"]["dependencies"]]
    last = [top for name in names for top in IMPORTED.get(name, (name,))]
    last += ["confined", "shared", "slipway", "local", *OF_THE_APP, *OF_PEOPLE]
    unknown = {
        f"{file.relative_to(ROOT)}: {name}"
        for top in ("confined", "shared", "slipway")
        for file in (ROOT / top).rglob("*.py")
        if STACK not in file.parents
        for name in imports(file)
        if name.partition(".")[0] not in (*sys.stdlib_module_names, *EXTRA.get(file.parent, ()))
        and not any(f"{name}.".startswith(f"{one}.") for one in last)
    }

    assert unknown == set()
