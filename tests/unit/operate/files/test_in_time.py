"""A folder with very many names costs a bounded time, for each question."""

from __future__ import annotations

import pytest

from shared.core.errors import Busy
from shared.operate.files import output
from shared.operate.files.output import Span
from shared.operate.files.stderr import stderr
from tests.unit.operate.files.test_metrics import MODELS, Shelves, running, shelves
from tests.unit.world import World

__all__ = ["shelves"]


@pytest.mark.parametrize("names", [None, 50_000], ids=["no end", "many"])
async def test_a_log_among_too_many_names_to_list_is_read_by_its_usual_name(
    world: World, shelves: Shelves, names: int | None
) -> None:
    job = await running(world)
    shelves.output |= {"stdout.txt": b"epoch 1\n", "stderr.txt": b"ValueError: x\n"}
    world.policy(metrics_patience=0.0 if names is None else 5.0)
    if names is None:
        shelves.endless.add("stdouterr")
    else:
        shelves.output = dict.fromkeys((f"a{number}" for number in range(names)), b"") | shelves.output

    name, chunk, _ = await output.log(world.ports, job.id, None, "0")
    ends = await stderr(world.ports, job.id)

    assert (name, chunk.data) == ("stdout.txt", b"epoch 1\n")
    assert [end.lines for end in ends.files] == [("ValueError: x",)]


@pytest.mark.parametrize("span", [None, Span(0, 9), Span(None, 9)], ids=["whole", "part", "end"])
async def test_a_file_that_is_not_found_in_time_is_asked_for_again(
    world: World, shelves: Shelves, span: Span | None
) -> None:
    job = await running(world, outputDirectories=[MODELS])
    shelves.output["MODEL/a.bin"] = b"0123456789"
    world.policy(read_patience=0.0)
    shelves.endless.add("MODEL")

    with pytest.raises(Busy, match="very many names"):
        await output.content(world.ports, job.id, "MODEL", "a.bin", span)

    shelves.endless.clear()
    world.policy(read_patience=20.0)
    assert (await output.content(world.ports, job.id, "MODEL", "a.bin", span)).data
