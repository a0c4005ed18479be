"""A member goes to another team, or leaves all of them, while their job and their sweep go on.

Both stay with the team that they were accepted in; who may do what with them is as before.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from shared.core.job import JobState
from shared.core.teams.document import Teams
from shared.lifecycle.current_teams import forget_teams
from tests.unit.functions.calls import TRIGGER_OF
from tests.unit.functions.scene import CALLERS, TEAMS, Scene
from tests.unit.functions.test_rights_table import DOCUMENTS, TABLE, letter
from tests.unit.world import job_json

OF_ONE = sorted(name for name in TABLE if "{id}" in str(TRIGGER_OF[name].route))
_QUOTA = {"jobs": 2}


async def move(scene: Scene, team: str) -> None:
    """Let ann be in this team only; "" for none."""
    document = json.loads(json.dumps(TEAMS))
    document["teams"]["vision"]["members"].remove({"user": "ann"})
    if team:
        document["teams"][team]["members"].append({"user": "ann"})
    for one in document["teams"].values():
        one["quota"] = _QUOTA
    stored = await scene.world.ports.teams.get()
    assert stored is not None
    assert await scene.world.ports.teams.put(Teams.model_validate(document), stored.etag) is not None
    forget_teams(scene.world.ports.memo)


async def answer(scene: Scene, operation: str, who: str, document: Any = None) -> dict[str, Any]:
    result: dict[str, Any] = json.loads((await scene.ask(operation, who, document)).get_body())
    return result


@pytest.mark.parametrize("team", ["speech", ""])
@pytest.mark.parametrize("operation", OF_ONE)
async def test_who_may_do_what_with_a_job_does_not_move_with_its_owner(
    scene: Scene, operation: str, team: str
) -> None:
    await move(scene, team)

    answers = [await scene.ask(operation, one.id, DOCUMENTS.get(operation)) for one in CALLERS.values()]

    assert "".join(map(letter, answers)) == TABLE[operation]


async def test_what_a_moved_member_asks_for_from_then_on_belongs_to_the_new_team(scene: Scene) -> None:
    world = scene.world
    world.engine.set_state((await world.job(scene.values["id"])).fixed_target.name, JobState.SUCCEEDED)
    await world.make_pass()
    receipt = await answer(scene, "get_receipt", "ann")
    await move(scene, "speech")

    job = await answer(scene, "post_job", "ann", {"spec": job_json()})
    again = await answer(scene, "rerun_job", "ann", receipt)

    assert (job["team"], again["team"]) == ("speech", "speech")
    assert (await answer(scene, "get_job", "ann"))["team"] == "vision"
    lists = {who: await answer(scene, "get_jobs", who) for who in ("ann", "bob", "mia", "sam", "sue")}
    teams = {who: {one["team"] for one in listed["jobs"]} for who, listed in lists.items()}
    old, new = {"vision"}, {"speech"}
    assert teams == {"ann": old | new, "bob": old, "mia": old, "sam": new, "sue": new}
    named = await answer(scene, "post_job", "ann", {"spec": job_json(), "team": "vision"})
    assert "you are in no team" in json.dumps(named)


async def test_use_and_the_trail_of_a_team_stay_with_it(scene: Scene) -> None:
    await move(scene, "speech")
    await answer(scene, "post_job", "ann", {"spec": job_json()})
    await scene.ask("cancel_job", "ann")

    usage = {who: (await answer(scene, "get_usage", who))["teams"] for who in ("ann", "bob")}
    acts = {who: (await answer(scene, "get_trail", who))["acts"] for who in ("mia", "sue")}

    assert {who: [one["name"] for one in teams] for who, teams in usage.items()} == {
        "ann": ["speech"],
        "bob": ["vision"],
    }
    assert [(one["operation"], one["by"]) for one in acts["mia"][:1]] == [("cancel_job", "ann")]
    assert [(one["operation"], one["by"], one["team"]) for one in acts["sue"]] == [
        ("post_job", "ann", "speech")
    ]
