"""What the commands that change a waiting job print, and do."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.functions.calls import use
from tests.unit.slipway.scene import Scene
from tests.unit.slipway.test_lost_answers import in_a_world, of_command
from tests.unit.world import World

WAITS = "waits until it is resumed: it is paused by the holder of a function key (late)"


@pytest.mark.parametrize(
    ("lines", "code", "text"),
    [
        (["priority LATER high"], 0, "later: accepted, priority high: waits for waits ("),
        (["pause LATER --reason late"], 0, f"later: accepted: {WAITS} (JobPaused, since "),
        (["pause LATER", "resume LATER"], 0, "later: accepted: waits for waits ("),
        (["priority WAITS high"], 1, "cannot be given another priority: it was submitted to the cluster dev"),
        (["pause WAITS"], 1, "cannot be paused: it was submitted to the cluster dev"),
    ],
)
async def test_a_command_says_how_the_job_stands(
    lines: list[str],
    code: int,
    text: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    use(world := World(), monkeypatch)
    scene = await Scene.set_up(world)
    for number, line in enumerate(lines):
        scene.move(tmp_path / str(number))
        result = await in_a_world(scene, of_command(line, capsys, monkeypatch), "")

    assert text in str(result)
    assert f"({code}, " in str(result)
