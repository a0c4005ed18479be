"""The GPUs of this machine, by nvidia-smi: answers of a stand-in, and of a real one where there is one."""

import shutil
from pathlib import Path

import pytest

from local.nodes import gpus


@pytest.mark.parametrize(
    ("script", "number"),
    [
        ("printf '0\\n1\\n'", 2),
        ("echo 'No devices were found'; exit 6", 0),
        ("echo 'NVIDIA-SMI has failed because no driver runs'; exit 9", 0),
        ("printf '\\377\\n0\\n'", 1),
    ],
)
def test_the_program_says_how_many_there_are(
    script: str, number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "nvidia-smi"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")

    assert gpus.count() == number


def test_a_machine_without_the_program_has_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    assert gpus.count() == 0


@pytest.mark.skipif(not shutil.which("nvidia-smi"), reason="this machine has no NVIDIA GPU")
async def test_a_real_gpu_is_counted_and_says_its_use() -> None:
    in_use = await gpus.use()

    assert len(in_use) == gpus.count() > 0
    assert all(percent.isdecimal() and int(mib) >= 0 for percent, mib in in_use.values())
