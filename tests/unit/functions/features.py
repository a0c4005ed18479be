"""Every feature of a message, of its team and of the deployment, as a test can combine them."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any, TypeAlias

from shared.core.cost.prices import prices_from
from shared.core.facts import ClusterFacts
from shared.core.job import JobState
from shared.core.teams.document import Teams
from shared.lifecycle.current_teams import forget_teams
from tests.unit.archived_code import archived
from tests.unit.priced_cluster import ROW, view_of
from tests.unit.world import World, job_json

#: A change of the message, of the team, or of the deployment around them.
Change: TypeAlias = Callable[["Scene"], None]


class Scene:
    """A deployment with one team, a message for it, and the jobs that the message may name."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.job = job_json()
        self.message: dict[str, Any] = {"spec": self.job}
        self.team: dict[str, Any] = {"members": [{"user": "ann"}]}
        #: whether a feature makes the message impossible by itself
        self.rejected = False

    @property
    def properties(self) -> dict[str, Any]:
        properties: dict[str, Any] = self.job["properties"]
        return properties

    def quota(self, **limits: Any) -> None:
        self.team["quota"] = {**self.team.get("quota", {}), **limits}

    async def set_up(self) -> None:
        """Store the team and the document."""
        world = self.world
        await _share(world, self.team)
        world.drops.upload("specs/a.json", json.dumps(self.job).encode())

    @property
    def text(self) -> bytes:
        return json.dumps(self.message).encode()


async def _share(world: World, team: dict[str, Any]) -> None:
    """Let all belong to one team."""
    teams = Teams.model_validate({"default": "vision", "teams": {"vision": team}})
    stored = await world.ports.teams.get()
    assert await world.ports.teams.put(teams, stored.etag if stored else "") is not None
    forget_teams(world.ports.memo)


async def earlier_jobs(world: World) -> None:
    """Two jobs of the team that a message may wait for: `runs`, and `failed`."""
    await _share(world, {})
    for name in ("failed", "runs"):
        await world.message({"spec": job_json(), "name": name}, name)
    world.engine.set_state(world.engine.started[0], JobState.FAILED)
    await world.make_pass()


def member(name: str, value: Any) -> Change:
    return lambda scene: scene.message.update({name: value})


def of_quota(**limits: Any) -> Change:
    return lambda scene: scene.quota(**limits)


def of_team(name: str, value: Any) -> Change:
    return lambda scene: scene.team.update({name: value})


def of_policy(**changes: Any) -> Change:
    return lambda scene: scene.world.policy(**changes)


def of_job(**properties: Any) -> Change:
    return lambda scene: scene.properties.update(properties)


def _by_blob(scene: Scene) -> None:
    scene.message.pop("spec", None)
    scene.message["specBlob"] = "scripts/specs/a.json"


def _sweep(scene: Scene) -> None:
    scene.message["sweep"] = {"lr": [0.1, 0.2, 0.3]}


def _parallel(scene: Scene) -> None:
    _sweep(scene)
    scene.message["parallel"] = 2


def _resources(scene: Scene) -> None:
    scene.world.engine.allow = ("gpus", "memory")
    scene.message["resources"] = {"gpus": 1, "memory": "4G"}


def _hold(scene: Scene) -> None:
    scene.world.policy(max_hold=timedelta(hours=1))
    scene.message["hold"] = "PT30M"


def _refused(change: Change) -> Change:
    def changed(scene: Scene) -> None:
        change(scene)
        scene.rejected = True

    return changed


def _priced(scene: Scene) -> None:
    facts = ClusterFacts(size=str(ROW["size"]), priority=str(ROW["priority"]), region="eastus", gpus=2)
    scene.world.engine.own_facts = facts
    scene.world.engine.view = view_of()
    scene.world.policy(prices=prices_from([ROW]), region="eastus")


def _of_priced_quota(**limits: Any) -> Change:
    def changed(scene: Scene) -> None:
        _priced(scene)
        scene.quota(**limits)

    return changed


def _silent(scene: Scene) -> None:
    scene.world.engine.down = True


HOOK = {"url": "https://hooks.example.com/in?token=canary", "secret": "team", "events": ["succeeded"]}
#: By the member of the message.
OF_MESSAGE: dict[str, Change] = {
    "name": member("name", "digits"),
    "experiment": member("experiment", "nightly"),
    "cluster": member("cluster", "dev"),
    "team": member("team", "vision"),
    "spec": of_job(environmentVariables=[{"name": "A", "value": "1"}]),
    "specBlob": _by_blob,
    "idempotencyKey": member("idempotencyKey", "k-1"),
    "labels": member("labels", {"owner": "ann"}),
    "notify": member("notify", [HOOK]),
    "code": lambda scene: scene.message.update(code=archived(scene.world)),
    "retry": member("retry", {"user": 2, "infrastructure": 1}),
    "resources": _resources,
    "after": member("after", ["runs"]),
    "afterFailure": member("afterFailure", ["failed"]),
    "needs": _refused(member("needs", ["a.csv"])),
    "sweep": _sweep,
    "parallel": _parallel,
    "hold": _hold,
}
#: By the member of the team.
OF_TEAM: dict[str, Change] = {
    "members": of_team("members", [{"user": "bob"}]),
    "clusters": of_team("clusters", ["dev"]),
    "folders": of_team("folders", ["digits"]),
    "containers": of_team("containers", ["data"]),
    "webhookSecrets": of_team("webhookSecrets", ["team"]),
    "quota": of_quota(),
    "weight": of_team("weight", 2.0),
    "keepIdle": of_team("keepIdle", value=True),
    "hold": of_team("hold", "PT1H"),
    "enter": of_team("enter", value=False),
}
#: By the member of the quota.
OF_QUOTA: dict[str, Change] = {
    "jobs": of_quota(jobs=1),
    "nodes": of_quota(nodes=4),
    "gpus": of_quota(gpus=4),
    "gpuHours": of_quota(gpuHours=10_000),
    "budget": _of_priced_quota(budget=10_000),
    "jobCost": _of_priced_quota(jobCost=10_000),
    "lends": of_quota(nodes=4, lends=True),
    "borrows": of_quota(nodes=4, borrows=True),
    "perPerson": of_quota(nodes=4, perPerson={"nodes": 4}),
}
#: The deployment, and the job itself.
OTHERS: dict[str, Change] = {
    "paused": of_policy(paused=True),
    "one job in an hour": of_policy(max_jobs_per_hour=1),
    "one active job": of_policy(max_active_jobs=1),
    "default receivers": of_policy(default_notify=({"url": "https://hooks.example.com/all"},)),
    "notices": of_policy(notices=True),
    "no receipts": of_policy(receipts=False),
    "prices": _priced,
    "cluster down": _silent,
    "secret": of_job(secrets=[{"name": "TOKEN", "value": "canary"}]),
    "nodes": of_job(nodeCount=2),
}
#: What makes a message impossible by itself; it comes after what it may change as well.
IMPOSSIBLE: dict[str, Change] = {
    "unknown member": _refused(member("lables", {})),
    "impossible job": _refused(of_job(nodeCount=0)),
    "more than the quota": _refused(of_quota(nodes=0)),
    "another cluster": _refused(of_team("clusters", [])),
    "a hold that is not allowed": _refused(member("hold", "PT2H")),
    "an unknown job": _refused(member("after", ["nobody"])),
}
FEATURES: dict[str, Change] = {
    **{f"message: {name}": change for name, change in OF_MESSAGE.items()},
    **{f"team: {name}": change for name, change in OF_TEAM.items()},
    **{f"quota: {name}": change for name, change in OF_QUOTA.items()},
    **OTHERS,
    **IMPOSSIBLE,
}
