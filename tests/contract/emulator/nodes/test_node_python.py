"""The Python of nodes: what a job installs lands in its cluster's environment, never in the product's."""

import importlib.metadata
import shutil
import sys
import zipfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from azure.storage.blob.aio import BlobServiceClient

from local.azurite import Azurite
from tests.breadth import one_each
from tests.contract.emulator.conftest import CLUSTER, GROUP, Emulator, Lab, custom, until
from tests.contract.emulator.recorder import Recorder

IMPORTS = """python -c "
import sys, typer
print(typer.__version__)
print(typer.__file__)
print(sys.executable)
" """


@pytest_asyncio.fixture(loop_scope="session")
async def lab(
    tmp_path: Path, storage: Azurite, blobs: BlobServiceClient, recorder: Recorder
) -> AsyncIterator[Lab]:
    """An emulator whose nodes have what they have by default."""
    venv = {"VIRTUAL_ENV": sys.prefix, "PYTHONPATH": str(Path(__file__).parents[4]), "PYTHONHOME": ""}
    running = Emulator(tmp_path / "batchai", storage, recorder, env=venv, node_path=())
    await running.start()
    yield Lab(running, "dev")
    await running.stop()


@pytest.fixture
def old_typer(tmp_path: Path) -> Path:
    """A version that no command of ours could run with."""
    wheel = tmp_path / "typer-0.0.1-py3-none-any.whl"
    info = "typer-0.0.1.dist-info"
    files = {
        "typer/__init__.py": "__version__ = '0.0.1'\n",
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: typer\nVersion: 0.0.1\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    with zipfile.ZipFile(wheel, "w") as out:
        for name, text in files.items():
            out.writestr(name, text)
        out.writestr(f"{info}/RECORD", "".join(f"{name},,\n" for name in [*files, f"{info}/RECORD"]))
    return wheel


def installing(wheel: Path, pip: str) -> dict[str, Any]:
    """A preparation as people write it; without an index, as it is a wheel of the test's."""
    return {"jobPreparation": {"commandLine": f"{pip} install --no-index --no-deps {wheel}"}}


@pytest.mark.parametrize("pip", one_each(["pip", "python3 -m pip"], lambda _: "a way to call it"))
async def test_what_a_job_installs_reaches_its_cluster_and_not_the_product(
    lab: Lab, old_typer: Path, pip: str
) -> None:
    await lab.make_cluster()
    ours = importlib.metadata.version("typer")

    await lab.submit("one", **custom(IMPORTS), **installing(old_typer, pip))
    assert (await lab.ends("one")).execution_state == "succeeded"
    await lab.submit("two", **custom(IMPORTS))
    assert (await lab.ends("two")).execution_state == "succeeded"

    version, file, python = (await lab.read("two", "stdout.txt")).split()
    assert version == "0.0.1"
    assert lab.emulator.data in Path(file).parents
    assert lab.emulator.data in Path(python).parents
    assert importlib.metadata.version("typer") == ours != version


@pytest.mark.thorough
async def test_the_examples_have_their_packages_and_nothing_of_the_product(lab: Lab) -> None:
    await lab.make_cluster()
    command = """python -c "
import importlib.util, numpy, os, sklearn
print(*(name for name in ('typer', 'pydantic', 'shared', 'local') if importlib.util.find_spec(name)))
print({name for name in os.environ if name.startswith(('PYTHON', 'VIRTUAL'))})
" ; command -v slipway || echo "no slipway" """

    await lab.submit("look", **custom(command))

    assert (await lab.ends("look")).execution_state == "succeeded"
    assert (await lab.read("look", "stdout.txt")).splitlines() == ["", "set()", "no slipway"]


@pytest.mark.thorough
async def test_the_environment_is_made_once_for_a_cluster_and_goes_with_it(lab: Lab, old_typer: Path) -> None:
    await lab.make_cluster()
    await lab.submit("one", **custom("true"), **installing(old_typer, "pip"))
    await lab.ends("one")
    await lab.emulator.stop()
    await lab.emulator.start()
    await lab.submit("two", **custom("python -c 'import typer'"))

    assert (await lab.ends("two")).execution_state == "succeeded"
    folder = lab.emulator.data / "python"
    assert len(list(folder.iterdir())) == 1

    await lab.client.clusters.begin_delete(GROUP, lab.workspace, CLUSTER)

    async def removed() -> bool:
        return not list(folder.iterdir())

    await until(removed)


@pytest.mark.thorough
async def test_an_environment_whose_python_is_gone_is_made_anew(lab: Lab) -> None:
    await lab.make_cluster()
    await lab.submit("one", **custom("true"))
    await lab.ends("one")
    (environment,) = (lab.emulator.data / "python").iterdir()
    shutil.rmtree(environment / "bin")

    await lab.submit("two", **custom("python -c 'import numpy'"))

    assert (await lab.ends("two")).execution_state == "succeeded"
