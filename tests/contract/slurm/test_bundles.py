"""Jobs in containers by `srun --container`, with a real runc and a bundle of this machine's files."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from local.slurm import Slurm, find_programs
from shared.core.errors import Misconfigured
from shared.core.job import JobState
from tests.contract.slurm.on_slurm import ended, engine, order, text

pytestmark = [
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.skipif(not shutil.which("runc", path="/usr/sbin:/usr/bin"), reason="runc is not installed"),
    pytest.mark.skipif(os.geteuid() != 0, reason="runc needs root here"),
]
_PROGRAMS = ("/bin/bash", "/bin/cat", "/bin/mkdir")
_IMAGE = "example.org/tools:1"


def bundle(place: Path, shared: Path) -> Path:
    """An unpacked image with bash, which sees the directory that all nodes share. Skips where runc fails."""
    root = place / "rootfs"
    for name in ("proc", "dev", "sys", "tmp", "etc", "usr/bin"):
        (root / name).mkdir(parents=True)
    (root / "bin").symlink_to("usr/bin")
    for program in _PROGRAMS:
        shutil.copy(program, root / "usr" / "bin")
        listed = subprocess.run(["ldd", program], check=True, capture_output=True, text=True).stdout
        for library in {word for word in listed.split() if word.startswith("/")}:
            (root / library[1:]).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(library, root / library[1:])
    (root / "etc" / "image").write_text(f"{_IMAGE}\n")
    subprocess.run(["runc", "spec"], check=True, cwd=place)
    settings = json.loads((place / "config.json").read_text())
    settings["process"] |= {"terminal": False, "args": ["bash", "-c", "exit 0"]}
    remaining = [one for one in settings["linux"]["namespaces"] if one["type"] != "network"]
    settings["linux"]["namespaces"] = remaining
    mount = {"destination": str(shared), "source": str(shared), "type": "bind", "options": ["rbind", "rw"]}
    settings["mounts"].append(mount)
    (place / "config.json").write_text(json.dumps(settings))
    tried = ["runc", f"--root={place}/state", "run", "-b", str(place), "tried"]
    ran = subprocess.run(tried, check=False, capture_output=True, text=True)
    if ran.returncode:
        pytest.skip(f"this machine lets runc start no container: {ran.stderr.strip()[-200:]}")
    return place


async def test_a_job_runs_in_the_bundle_of_its_image(cluster: Slurm, tmp_path: Path) -> None:
    image = {"imageSourceRegistry": {"serverUrl": "example.org", "image": "tools:1"}}
    inside = bundle(tmp_path / "bundle", cluster.shared)
    script = cluster.shared / "contained.sh"
    script.write_text("cat /etc/image; echo $AZ_BATCHAI_TASK_INDEX $WORD; exit 3")
    toolkit = {"pythonScriptFilePath": str(script), "pythonInterpreterPath": "bash", "processCount": 4}
    words = [{"name": "WORD", "value": "a b=c"}]
    async with engine(cluster, container="oci", mpi="none", bundles={_IMAGE: str(inside)}) as slurm:
        job_order = order(
            {"pyTorchSettings": toolkit}, nodeCount=2, containerSettings=image, environmentVariables=words
        )
        if find_programs().version() < (23, 11):
            with pytest.raises(Misconfigured, match=r"23\.11"):
                await slurm.submit(job_order)
            return
        await slurm.submit(job_order)
        observation = await ended(slurm, job_order.target)
        output = [await text(slurm, job_order.target, f"stdout-{rank}.txt") for rank in range(4)]

    assert (observation.state, observation.exit_code) == (JobState.FAILED, 3)
    assert output == [f"{_IMAGE}\n{rank} a b=c\n" for rank in range(4)]
