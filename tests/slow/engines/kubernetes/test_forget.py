"""The program in shell that removes what attempts have left."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from shared.engines.launch import alone
from tests.slow.engines.kubernetes.in_shell import ABSENT_SHELLS, SHELLS, image


def attempt(root: Path, name: str, token: str | None) -> Path:
    folder = root / name
    (folder / "7-0").mkdir(parents=True)
    if token is not None:
        (folder / "claim.json").write_text(json.dumps({"token": token, "run": "7-0"}, indent=1))
    return folder


@pytest.mark.parametrize("shell", SHELLS)
def test_attempts_and_their_ends_go_and_those_of_others_stay(tmp_path: Path, shell: str) -> None:
    if shell in ABSENT_SHELLS:
        pytest.skip(f"there is no {shell} here: apt-get install {shell}")
    mine, unclaimed = attempt(tmp_path, "a b", "t.1"), attempt(tmp_path, "c", None)
    others, absent = attempt(tmp_path, "d", "other.1"), tmp_path / "e"
    ends = tmp_path / "ends"
    for token in ("t.1", "other.1"):
        (ends / token).mkdir(parents=True)
    saved = {number: tmp_path / f"saved/{number}" for number in range(1, 5)}
    for folder in saved.values():
        (folder / "deep").mkdir(parents=True)
    attempts = enumerate((mine, unclaimed, others, absent), 1)
    lines = [f"{folder}\tt.{number}\t{saved[number]}" for number, folder in attempts]
    path = image(tmp_path / "bin", shell)

    subprocess.run(
        [f"{path}/sh", "-c", alone.forgetting()],
        env={"PATH": str(path), "SLIPWAY_FORGET": "\n".join(lines), "SLIPWAY_ENDS": str(ends)},
        check=True,
        timeout=30,
    )

    assert not mine.exists()
    assert not unclaimed.exists()
    assert others.exists()
    assert [number for number, folder in saved.items() if folder.exists()] == [3]
    assert [one.name for one in ends.iterdir()] == ["other.1"]
