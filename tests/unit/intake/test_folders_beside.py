"""What Slipway says and does of a folder does not depend on what lies in a folder of another team.

Each kind of folder against each kind of file there: near names, missing scripts, documents, the archive tier.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType

import pytest

from shared.core.teams.document import Teams
from shared.intake.arrive import blob_arrived
from shared.intake.drops.drop import look_at_folder
from shared.intake.drops.explained import explain_folder
from shared.intake.drops.inventory import inventory
from shared.intake.drops.part import run_of
from shared.operate.audit import audit
from tests.breadth import pairs
from tests.unit.world import World, job_json

TEAMS = {
    "vision": {"folders": ["v", "v/up/d"]},
    "speech": {"folders": ["s", "v/up", "v/d/sub", "v/d/job.json.d", "v/d/ tra", "v/d/lib/.inner"]},
}
_ROOT = "$AZ_BATCHAI_JOB_MOUNT_ROOT/scripts"


def _job(command: str) -> bytes:
    return json.dumps(job_json(customToolkitSettings={"commandLine": command})).encode()


def _needs(*names: str) -> dict[str, bytes]:
    envelope = json.dumps({"needs": list(names)}).encode()
    return {"v/d/job.json": _job("true"), "v/d/slipway.json": envelope}


_TEMPLATE = _job("python <SLIPWAY_SCRIPT:train*.py>")
#: What a folder of the team holds, and its name.
FOLDERS: dict[str, tuple[dict[str, bytes], str]] = {
    "empty": ({"v/d/train.py": b"1"}, "v/d/"),
    "complete": ({"v/d/job.json": _job(f"python {_ROOT}/v/d/a.py"), "v/d/a.py": b"1"}, "v/d/"),
    "a script is missing": ({"v/d/job.json": _job(f"python {_ROOT}/v/d/train.py")}, "v/d/"),
    "a script below is missing": ({"v/d/job.json": _job(f"python {_ROOT}/v/d/Sub/train.py")}, "v/d/"),
    "its folder has a space at its end": (
        {"v/d/job.json": _job(f"python {_ROOT}/v/d/sub /train.py")},
        "v/d/",
    ),
    "a script of theirs": ({"v/d/job.json": _job(f"python {_ROOT}/v/d/sub/train.py")}, "v/d/"),
    "a script elsewhere": ({"v/d/job.json": _job(f"python {_ROOT}/s/train.py")}, "v/d/"),
    "a script in a folder named nearly so": ({"v/d/job.json": _job(f"python {_ROOT}/S/train.py")}, "v/d/"),
    "a need": (_needs("train.py"), "v/d/"),
    "a need below": (_needs("Sub/train.py"), "v/d/"),
    "a need of theirs": (_needs("sub/train.py"), "v/d/"),
    "a pattern": (_needs("*/train.py"), "v/d/"),
    "a pattern below": (_needs("**/*.py", "sub/*"), "v/d/"),
    "a template": ({"v/d/job.json": _TEMPLATE, "v/d/tools.txt": b"1"}, "v/d/"),
    "a script below a template": ({"v/job.json": _TEMPLATE, "v/up/d/train1.py": b"1"}, "v/up/d/"),
    "a helper below a template": ({"v/job.json": _TEMPLATE, "v/up/d/tools.py": b"1"}, "v/up/d/"),
    "a folder below theirs": ({"v/up/d/train1.py": b"1"}, "v/up/d/"),
}
#: Files of the other team: where hints look, and of all the forms that they know.
THEIRS: dict[str, dict[str, bytes]] = {
    "that name": {"v/d/sub/train.py": b"2", "s/train.py": b"2"},
    "another case": {"v/d/sub/Train.PY": b"2", "s/TRAIN.py": b"2"},
    "an end": {"v/d/sub/train.py.txt": b"2", "s/train.py.txt": b"2"},
    "spaces": {"v/d/sub/train.py ": b"2", "v/d/ tra/train.py": b"2"},
    "a name that nothing shows": {"v/d/sub/tr\\ain.py": b"2", "v/d/sub/train.py\u200b": b"2"},
    "a job file": {
        "v/d/sub/job.json": _job("true"),
        "v/up/job.json": _job("true"),
        "s/job.json": _job("true"),
    },
    "a template": {"v/d/sub/job.json": _TEMPLATE, "v/up/job.json": _TEMPLATE},
    "a script for a template": {"v/up/train.py": b"2", "v/d/sub/train2.py": b"2"},
    "a job file by another name": {"v/d/job.json.d/JOB.json": b"2", "v/up/Job.JSON": b"2"},
    "hidden files": {"v/d/sub/.x": b"2", "v/d/lib/.inner/y": b"2"},
}


async def _world(*files: dict[str, bytes], archived: bool = False) -> World:
    world = World()
    await world.ports.teams.put(Teams.model_validate({"teams": TEAMS}), "")
    for number, some in enumerate(files):
        for name, body in some.items():
            world.drops.upload(name, body, archived=archived and number > 0)
    world.pass_time(600)
    return world


def _is_own(teams: Teams, path: str) -> bool:
    return teams.of_folder(path) == "vision"


async def _heard(world: World, folder: str, late: Mapping[str, bytes] = MappingProxyType({})) -> str:
    """All that the team hears of its folder; other files come while its jobs run."""
    run = [await run_of(world.ports, f"{folder}{name}") for name in ("train1.py", "train.py", "job.json")]
    looked = await look_at_folder(world.ports, folder)
    explained = await explain_folder(world.ports, folder, live=False)
    jobs = [(one.job.state, one.job.message, one.job.problems, one.job.code) for one in looked.accepted]
    for name, body in late.items():
        world.pass_time(1)
        world.drops.upload(name, body)
        await blob_arrived(world.ports, "scripts", name)
    world.pass_time(600)
    await inventory(world.ports)
    world.pass_time(600)
    teams = Teams.model_validate({"teams": TEAMS})
    lines = [one for one in (await audit(world.ports)).differences if _is_own(teams, one.what)]
    notes = {p: body for p, body in world.drops.receipt_files.items() if _is_own(teams, p)}
    return f"{run}\n{looked.waits}\n{jobs}\n{looked.explained}\n{explained}\n{lines}\n{notes}"


@pytest.mark.parametrize(("kind", "theirs"), pairs(FOLDERS, THEIRS))
@pytest.mark.parametrize("how", ["before", "in the archive", "late"])
async def test_nothing_that_is_said_of_a_folder_depends_on_files_of_another_team(
    how: str, kind: str, theirs: str
) -> None:
    files, folder = FOLDERS[kind]
    late = THEIRS[theirs] if how == "late" else {}
    early = {} if late else THEIRS[theirs]

    elsewhere = {f"z/{name}": body for name, body in late.items()}  # so that as much time passes
    alone = await _heard(await _world(files), folder, elsewhere)
    beside = await _heard(await _world(files, early, archived=how == "in the archive"), folder, late)

    assert beside == alone


@pytest.mark.parametrize("kind", ["a script below is missing", "a need below"])
async def test_the_same_files_are_named_to_the_team_that_has_them(kind: str) -> None:
    files, folder = FOLDERS[kind]
    world = await _world(files, THEIRS["that name"])
    await world.ports.teams.put(Teams.model_validate({"teams": {"vision": {"folders": ["v"]}}}), "*")

    assert "sub/train.py" in await _heard(world, folder)
