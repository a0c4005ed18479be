from __future__ import annotations

import pytest

from shared.adapters.named_keys import named_keys
from shared.core.caller import digest_of
from tests.unit.functions.calls import use
from tests.unit.functions.scene import CALLERS, Scene, Tokens
from tests.unit.world import World


@pytest.fixture
async def scene(world: World, monkeypatch: pytest.MonkeyPatch) -> Scene:
    world.use(tokens=Tokens())
    use(world, monkeypatch)
    scene = Scene(world)
    await scene.set_up()
    return scene


@pytest.fixture
async def keyed(world: World, monkeypatch: pytest.MonkeyPatch) -> Scene:
    """The same deployment, for callers with named keys."""
    entries = {
        one.id: {"sha256": digest_of(f"key of {one.id}"), "roles": sorted(one.roles)}
        for one in CALLERS.values()
    }
    world.use(keys=named_keys(entries))
    use(world, monkeypatch)
    scene = Scene(world, by_key=True)
    await scene.set_up()
    return scene
