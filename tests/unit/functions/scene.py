"""A deployment with two teams, and a caller of each kind."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any

import azure.functions as func

from shared.core.caller import ADMIN, READ_ALL, SUBMIT, Caller
from shared.core.errors import Misuse
from shared.core.teams.document import Teams
from tests.unit.functions.calls import TRIGGER_OF
from tests.unit.routes import ROUTES
from tests.unit.world import World, job_json

HOOK = "https://hooks.example.com/in"
#: Levels of routes that are not a job's: the digest is that of the body that is sent without a document.
_OTHERS = {"directory": "stdouterr", "sha256": hashlib.sha256(b"{}").hexdigest()}
TEAMS = {
    "teams": {
        "vision": {"members": [{"user": "ann"}, {"user": "bob"}, {"user": "mia", "manager": True}]},
        "speech": {"members": [{"user": "sam"}, {"user": "sue", "manager": True}]},
    }
}
#: A caller for each column. The job and the sweep of this page are those of ann, and of her team.
CALLERS = {
    "owner": Caller("ann", frozenset({SUBMIT})),
    "member": Caller("bob", frozenset({SUBMIT})),
    "manager": Caller("mia", frozenset({SUBMIT})),
    "other team": Caller("sam", frozenset({SUBMIT})),
    "other manager": Caller("sue", frozenset({SUBMIT})),
    "reader": Caller("cay", frozenset({READ_ALL})),
    "operator": Caller("dan", frozenset({ADMIN})),
}


class Tokens:
    """Each caller's name is their token."""

    sign_in = None

    async def verify(self, token: str) -> Caller:
        for caller in CALLERS.values():
            if caller.id == token:
                return caller
        raise Misuse("no token", status=401, remedy="sign in")


class Scene:
    """A deployment with teams, ann's job with an event, and her job sweep."""

    def __init__(self, world: World, *, by_key: bool = False) -> None:
        self.world = world
        self.by_key = by_key
        self.values: dict[str, str] = {}

    async def set_up(self) -> None:
        await self.share(TEAMS)
        envelope = {"spec": job_json(), "notify": [{"url": HOOK, "events": ["queued"]}]}
        job = json.loads((await self.ask("post_job", "ann", envelope)).get_body())
        template = {"spec": job_json(), "sweep": {"lr": [0.1]}, "parallel": 1}
        sweep = json.loads((await self.ask("post_sweep", "ann", template)).get_body())
        self.values = {"id": job["id"], "sweep": sweep["sweepId"]}
        (event,) = json.loads((await self.ask("get_events", "ann")).get_body())["events"]
        self.values["event"] = event["id"]

    async def share(self, teams: Any) -> None:
        """Write the document of teams."""
        text = json.dumps(teams)
        document = text.replace('"user"', '"key"') if self.by_key else text
        stored = await self.world.ports.teams.put(Teams.model_validate_json(document), "")
        assert stored is not None

    async def ask(self, operation: str, who: str, document: Any = None) -> func.HttpResponse:
        trigger = TRIGGER_OF[operation]
        names = re.findall(r"{\*?(\w+)}", str(trigger.route))
        request: Any = func.HttpRequest(
            method=next(iter(trigger.methods or ())).value,
            url=f"/api/{trigger.route}",
            headers={**(self._named(who) if who else {}), "Content-Type": "application/json"},
            route_params={name: self._value(operation, name) for name in names},
            body=json.dumps(document or {}).encode(),
        )
        answer: func.HttpResponse = await ROUTES[operation](request)
        return answer

    def _named(self, who: str) -> dict[str, str]:
        return {"x-functions-key": f"key of {who}"} if self.by_key else {"Authorization": f"Bearer {who}"}

    def _value(self, operation: str, name: str) -> str:
        if name == "id" and "sweep" in operation:
            return self.values["sweep"]
        if name == "id" and operation == "redeliver_event":
            return self.values["event"]
        return self.values.get(name, _OTHERS.get(name, "x"))
