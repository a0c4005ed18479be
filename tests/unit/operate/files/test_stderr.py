"""How standard error of a job's processes ended."""

from __future__ import annotations

import pytest

from shared.core.errors import Misuse, NotFound, Transient
from shared.core.job import Job, JobState
from shared.operate.files.stderr import stderr
from tests.unit.world import World, job_json


async def failed(world: World, **files: bytes) -> Job:
    """A failed job whose processes wrote these files, `_` for `.` in their names."""
    job = (await world.message(job_json(secrets=[{"name": "TOKEN", "value": "canary-4711"}]))).job
    world.engine.output |= {name.replace("_", "."): data for name, data in files.items()}
    world.engine.set_state(world.engine.started[-1], JobState.FAILED, exit_code=1)
    await world.make_pass()
    return job


async def test_the_ends_of_all_processes_are_read_without_secrets(world: World) -> None:
    text = b"x" * 9000 + b"\nlogin with canary-4711 \x1b[1mfailed\n"
    job = await failed(world, stdout_txt=b"out", stderr1_txt=text, stderr2_txt=b"", stderr3_txt=b"third")

    ends = await stderr(world.ports, job.id)

    assert [(one.file, one.lines) for one in ends.files] == [
        ("stderr1.txt", ("login with *** failed",)),
        ("stderr3.txt", ("third",)),
    ]
    assert ends.more == 0


async def test_few_files_are_read_of_many(world: World) -> None:
    job = await failed(world, **{f"stderr{n:02}_txt": b"e" for n in range(20)})

    ends = await stderr(world.ports, job.id)

    assert [one.file for one in ends.files] == [f"stderr{n:02}.txt" for n in range(8)]
    assert ends.more == 12


async def test_one_file_that_cannot_be_read_hides_no_other(world: World) -> None:
    job = await failed(world, stderr0_txt=b"lost", stderr1_txt=b"why")
    world.engine.refuses["stderr0.txt"] = NotFound("it was deleted")

    assert [one.file for one in (await stderr(world.ports, job.id)).files] == ["stderr1.txt"]


@pytest.mark.parametrize(
    ("error", "expected"), [(NotFound("no node has begun"), Misuse), (Transient("silent"), Transient)]
)
async def test_files_that_cannot_be_listed_are_refused(
    world: World, error: Exception, expected: type[Exception]
) -> None:
    job = await failed(world, stderr_txt=b"e")
    world.engine.refuses["files"] = error

    with pytest.raises(expected, match=str(error)):
        await stderr(world.ports, job.id)


async def test_a_job_that_no_node_has_seen_wrote_nothing(world: World) -> None:
    job = (await world.message(job_json(nodeCount=0))).job

    with pytest.raises(Misuse, match="no node has run it"):
        await stderr(world.ports, job.id)
