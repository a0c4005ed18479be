"""`slipway init`: what each template writes runs, with stand-ins for the large packages that they import."""

from __future__ import annotations

import asyncio
import re
import shutil
from pathlib import Path

import pytest

from tests.acceptance.door import Door
from tests.acceptance.pages.page import play
from tests.acceptance.templates.stand_ins import only_wheels_of, pythons, wheel

pytestmark = pytest.mark.asyncio(loop_scope="session")

ANYTHING = """
class Anything:
    def __getattr__(self, name): return self
    def __call__(self, *words, **options): return self
    def __add__(self, other): return self
    def item(self): return 0.25
"""
#: A group that meets by a folder, with the rank and the size that the job gives it.
MEETING = """
import pathlib, time
def init_process_group(backend, *, init_method, rank, world_size):
    place = pathlib.Path(init_method.removeprefix("file://") + ".ranks")
    place.mkdir(exist_ok=True)
    (place / str(rank)).touch()
    for _ in range(600):
        if len(list(place.iterdir())) == world_size:
            break
        time.sleep(0.1)
    print(backend, "rank", rank, "of", len(list(place.iterdir())), flush=True)
def destroy_process_group(): pass
"""
TORCH = {
    "torch/__init__.py": ANYTHING
    + "randn = Anything()\ndef manual_seed(seed): pass\n"
    + "def save(state, file): file.write_text('weights')\n"
    + "from torch import distributed, nn\nfrom torch.nn import parallel\noptim = Anything()\n",
    "torch/nn/__init__.py": ANYTHING + "Linear = functional = Anything()\n",
    "torch/nn/parallel.py": ANYTHING + "DistributedDataParallel = Anything()\n",
    "torch/distributed.py": MEETING,
}
TENSORFLOW = {
    "tensorflow/__init__.py": ANYTHING
    + "class Model(Anything):\n"
    + "    def compile(self, *, optimizer, loss): pass\n"
    + "    def fit(self, x, y, epochs, **options): print(len(x), 'rows', epochs, 'epochs')\n"
    + "    def save(self, file): file.write_text('weights')\n"
    + "class keras:\n"
    + "    layers = optimizers = Anything()\n"
    + "    Input = staticmethod(lambda shape: None)\n"
    + "    Sequential = staticmethod(lambda layers: Model())\n"
}
HOROVOD = {
    "horovod/__init__.py": "",
    "horovod/tensorflow/__init__.py": "",
    "horovod/tensorflow/keras.py": ANYTHING
    + "import os\n"
    + "def init(): print('rank', rank(), 'of', size(), flush=True)\n"
    + "def rank(): return int(os.environ['OMPI_COMM_WORLD_RANK'])\n"
    + "def size(): return int(os.environ['OMPI_COMM_WORLD_SIZE'])\n"
    + "DistributedOptimizer = callbacks = Anything()\n",
}


async def run(door: Door, folder: Path, template: str) -> str:
    return await play(door, folder, f"slipway init {template}\nslipway run --to out {template}")


async def pip(door: Door, *words: str) -> None:
    for python in pythons(door):
        program = (str(python / "bin/python"), "-m", "pip", *words)
        process = await asyncio.create_subprocess_exec(*program, stdout=asyncio.subprocess.DEVNULL)
        assert await process.wait() == 0


async def test_a_script_of_plain_python_trains_and_its_model_comes_home(door: Door, tmp_path: Path) -> None:
    assert '"loss"' in await run(door, tmp_path, "python")
    assert (tmp_path / "out/MODEL/model.json").is_file()


@pytest.mark.thorough
async def test_pytorch_meets_on_two_nodes(door: Door, tmp_path: Path) -> None:
    await run(door, tmp_path / "first", "python")  # so that the nodes have a Python
    wheel(tmp_path, "torch", TORCH)
    wheel(tmp_path, "numpy", {"numpy_is_there.py": ""})
    with only_wheels_of(tmp_path, door):
        shown = await run(door, tmp_path, "pytorch-distributed")

    assert sorted(re.findall(r"gloo rank (\d) of (\d)", shown)) == [("0", "2"), ("1", "2")]
    assert "epoch 4: loss 0.2500" in shown
    assert (tmp_path / "out/MODEL/model.pt").read_text() == "weights"


@pytest.mark.thorough
async def test_tensorflow_trains_on_one_node(door: Door, tmp_path: Path) -> None:
    await run(door, tmp_path / "first", "python")
    wheel(tmp_path, "tensorflow", TENSORFLOW)
    with only_wheels_of(tmp_path, door):
        shown = await run(door, tmp_path, "tensorflow")

    assert "1000 rows 5 epochs" in shown
    assert (tmp_path / "out/MODEL/model.keras").read_text() == "weights"


@pytest.mark.skipif(not shutil.which("mpirun"), reason="there is no mpirun; `.ci/run` installs Open MPI")
@pytest.mark.thorough
async def test_horovod_starts_by_mpirun_on_two_nodes(door: Door, tmp_path: Path) -> None:
    await run(door, tmp_path / "first", "python")
    wheels = [wheel(tmp_path, "tensorflow", TENSORFLOW), wheel(tmp_path, "horovod", HOROVOD)]
    # Into the Python of the nodes: here no container runtime has the image.
    await pip(door, "install", "--no-index", *map(str, wheels))
    try:
        shown = await run(door, tmp_path, "horovod")
    finally:
        await pip(door, "uninstall", "-y", "tensorflow", "horovod")

    assert sorted(re.findall(r"rank (\d) of (\d)", shown)) == [("0", "2"), ("1", "2")]
    assert (tmp_path / "out/MODEL/model.keras").read_text() == "weights"
