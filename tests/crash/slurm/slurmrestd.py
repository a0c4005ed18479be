"""slurmrestd on the wire, over the model: two dialects, and every way in which a call can fail there."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from enum import StrEnum
from typing import Any

from aiohttp import web
from aiohttp.test_utils import TestServer

from tests.crash.slurm.slurmctld import OURS, Slurmctld, shown

OLD, NEW = "v0.0.38", "v0.0.42"
_DENIED = {"error_number": 2010, "error": "Invalid user id"}
_UNKNOWN = {"error_number": 2017, "error": "Invalid job id specified"}
#: The fields of our submissions that each dialect knows.
_BOTH = {
    "name", "comment", "hold", "nodes", "tasks", "memory_per_node", "time_limit", "current_working_directory",
    "standard_output", "standard_error", "open_mode", "environment", "partition", "qos", "account",
    "cpus_per_task",
}  # fmt: skip
MEMBERS = {
    OLD: _BOTH | {"exclusive", "requeue", "no_requeue", "gres"},
    NEW: _BOTH | {"shared", "requeue", "tres_per_node", "script"},
}


class Wire(StrEnum):
    """What happens to one request."""

    LOST = "it works, its answer is lost"
    REFUSED = "the connection breaks before it"
    LATE = "the connection breaks, and it works later"
    TIMEOUT = "504: slurmctld did it, slurmrestd did not hear of it"
    CONTROLLER_DOWN = "500: slurmctld is away"
    CRASH = "it works, it is acknowledged, and slurmctld is killed"
    CRASHED = "it works, and slurmctld is killed before it says so"
    GARBAGE = "an answer that is not JSON"


Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Slurmrestd:
    """One server. `plan`: number of a request → its fault."""

    def __init__(
        self, model: Slurmctld, plan: Mapping[int, Wire] | None = None, *, version: str = OLD
    ) -> None:
        self.model, self.plan, self.version = model, dict(plan or {}), version
        self.calls: list[str] = []
        #: the submitted jobs, as they were sent
        self.submitted: list[dict[str, Any]] = []
        #: acts that seemed to fail, and work when they are called
        self.late: list[Callable[[], Awaitable[object]]] = []
        #: warnings in the answer to the next submission
        self.warns: list[str] = []
        #: the warnings of a submission, with a number or without one
        self.says: tuple[int, str] | None = None
        self.takes = True
        #: the cluster's partitions and nodes, and the requests for them, which the plan does not count
        self.partitions: list[dict[str, Any]] = []
        self.nodes: list[dict[str, Any]] = []
        self.looks: list[str] = []
        #: why it does not start the next submitted job at once
        self.waits: list[str] = []
        #: number of a job → the entry that lists have in its place
        self.damaged: dict[int, Any] = {}
        #: the records of slurmdbd
        self.accounted: list[dict[str, Any]] = []

    @asynccontextmanager
    async def running(self) -> AsyncIterator[str]:
        """Serve it for the length of the block; yields the address."""
        app = web.Application()
        root = f"/slurm/{self.version}"
        app.add_routes(
            [
                web.get(f"{root}/ping/", self._ping),
                web.post(f"{root}/job/submit", self._faulty(self._submit)),
                web.get(f"{root}/jobs/", self._faulty(self._jobs)),
                web.get(f"{root}/job/{{id}}", self._faulty(self._job)),
                web.post(f"{root}/job/{{id}}", self._faulty(self._update)),
                web.delete(f"{root}/job/{{id}}", self._faulty(self._cancel)),
                web.get(f"{root}/diag/", self._diag),
                web.get(f"{root}/partitions/", self._cluster),
                web.get(f"{root}/nodes/", self._cluster),
                web.get(f"/slurmdb/{self.version}/jobs/", self._accounting),
            ]
        )
        if self.version != OLD:
            app.add_routes([web.get(f"{root}/jobs/state/", self._faulty(self._states))])
        async with TestServer(app, access_log=None) as server:
            yield str(server.make_url("/")).rstrip("/")

    async def happen_late(self) -> None:
        """Carry out the acts that seemed to fail."""
        late, self.late = self.late, []
        for act in late:
            await act()

    def _faulty(self, handler: Handler) -> Handler:
        async def serve(request: web.Request) -> web.StreamResponse:
            return await self._serve(request, handler)

        return serve

    async def _serve(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        await request.read()
        self.calls.append(f"{request.method} {request.path}")
        fault = self.plan.get(len(self.calls))
        if fault in (Wire.REFUSED, Wire.LATE, Wire.CONTROLLER_DOWN):
            if fault is Wire.LATE:
                self.late.append(lambda: handler(request))
            return self._database_down() if fault is Wire.CONTROLLER_DOWN else self._break(request)
        answer = await handler(request)
        if fault in (Wire.CRASH, Wire.CRASHED):
            self.model.crash()
        if fault in (Wire.LOST, Wire.CRASHED):
            return self._break(request)
        if fault is Wire.TIMEOUT:
            return web.json_response({"errors": [{"error_number": 5004, "error": "timed out"}]}, status=504)
        if fault is Wire.GARBAGE:
            return web.Response(text="<html>Bad gateway</html>", status=502)
        return answer

    @staticmethod
    def _database_down() -> web.Response:
        return web.json_response({"errors": [{"error_number": 104, "error": "Connection reset"}]}, status=500)

    @staticmethod
    def _break(request: web.Request) -> web.Response:
        if request.transport is not None:
            request.transport.abort()
        return web.Response()

    async def _ping(self, request: web.Request) -> web.Response:
        return web.json_response({"pings": [{"mode": "primary"}], "errors": []})

    async def _diag(self, request: web.Request) -> web.Response:
        since = {"set": True, "infinite": False, "number": int(self.model.since)}
        return web.json_response({"statistics": {"req_time_start": since}, "errors": []})

    async def _cluster(self, request: web.Request) -> web.Response:
        what = request.path.split("/")[-2]
        self.looks.append(what)
        listed = {"partitions": self.partitions, "nodes": self.nodes}[what]
        return web.json_response({what: listed, "errors": []})

    async def _submit(self, request: web.Request) -> web.Response:
        body = await request.json()
        job = body["job"]
        self.submitted.append(job)
        unknown = sorted(set(job) - MEMBERS[self.version])
        if unknown and self.version == OLD:
            error = {"error_number": 9001, "error": f"unknown field {unknown[0]}"}
            return web.json_response({"errors": [error]}, status=400)
        variables = job["environment"]
        if isinstance(variables, list):
            variables = dict(word.partition("=")[::2] for word in variables)
        output = self.says and {"error_number": self.says[0], "error": self.says[1]}
        if output and not self.takes:
            return web.json_response({"errors": [output]}, status=500)
        number = self.model.submit(job["name"], job["comment"], variables, held=bool(job.get("hold")))
        held = {"error_code": 2042, "error": "Job is in held state, pending scheduler release"}
        if self.version == OLD or output:
            errors = [output or held] if output or job.get("hold") else []
            return web.json_response({"job_id": number, "errors": errors})
        warnings = [f"{name}: ignoring unknown key" for name in unknown] + self.warns
        reports = [
            {"description": text, "source": "slurm_submit_batch_job()"}
            for text in ("Job is in held state", *self.waits)
        ]
        reports += [{"description": text} for text in warnings]
        return web.json_response({"job_id": number, "errors": [], "warnings": reports})

    async def _jobs(self, request: web.Request) -> web.Response:
        listed = [self._shown(number) for number in self.model.jobs]
        return web.json_response({"jobs": listed, "errors": []})

    async def _accounting(self, request: web.Request) -> web.Response:
        result = [one for one in self.accounted if one["name"] == request.query["job_name"]]
        if not result:
            # As a real slurmdbd 22.05 answers.
            nothing = {
                "error_number": 9003,
                "error": "Nothing found",
                "description": "Nothing found with query",
            }
            return web.json_response({"jobs": [], "errors": [nothing]}, status=500)
        return web.json_response({"jobs": result, "errors": []})

    async def _states(self, request: web.Request) -> web.Response:
        listed = [{"job_id": str(job.id), "state": [job.state]} for job in self.model.jobs.values()]
        return web.json_response({"jobs": listed, "errors": []})

    async def _job(self, request: web.Request) -> web.Response:
        number = int(request.match_info["id"])
        if number not in self.model.jobs:
            return self._unknown()
        return web.json_response({"jobs": [self._shown(number)], "errors": []})

    def _shown(self, number: int) -> Any:
        if number in self.damaged:
            return self.damaged[number]
        return shown(self.model.jobs[number], old=self.version == OLD)

    async def _update(self, request: web.Request) -> web.Response:
        number, change = int(request.match_info["id"]), await request.json()
        if refused := self._refused(number):
            return refused
        if change.get("hold") is False:
            self.model.release(number)
        if "comment" in change:
            self.model.jobs[number].comment = change["comment"]
        return web.json_response({"errors": []})

    async def _cancel(self, request: web.Request) -> web.Response:
        number = int(request.match_info["id"])
        if refused := self._refused(number):
            return refused
        self.model.cancel(number)
        return web.json_response({"errors": []})

    def _refused(self, number: int) -> web.Response | None:
        """The refusal of a missing job, or of another user's."""
        if number not in self.model.jobs:
            return self._unknown()
        if self.model.jobs[number].user != OURS:
            return web.json_response({"errors": [_DENIED]}, status=500)
        return None

    def _unknown(self) -> web.Response:
        return web.json_response({"errors": [_UNKNOWN]}, status=500 if self.version == OLD else 404)
