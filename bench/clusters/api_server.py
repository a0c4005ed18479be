"""The API server of the tests, without controllers or nodes: `python -m bench.clusters.api_server`.

Its Jobs stay as they were made: what runs beside the requests would grow with every round.
"""

from __future__ import annotations

import asyncio
import json
import sys

from aiohttp import web

from local.stop import stop_event
from tests.doubles.kubernetes.api import Api
from tests.doubles.kubernetes.job_controller import JobController
from tests.doubles.kubernetes.kueue import Kueue
from tests.doubles.kubernetes.object_store import Store
from tests.doubles.server import answering


async def main() -> None:
    """Serve until standard input closes."""
    store = Store()
    api = Api(store, JobController(store, is_old=False), Kueue(store), is_old=False)

    async def answer(request: web.Request) -> web.Response:
        if request.path == "/version":
            return web.json_response({"gitVersion": "v1.36.2"})
        text = await request.text()
        body, as_table = json.loads(text) if text else {}, "as=Table" in request.headers.get("Accept", "")
        code, document = api.answer(
            request.method, request.path, dict(request.query), body, as_table=as_table
        )
        return web.json_response(document, status=code)

    async with answering(answer) as url:
        sys.stdout.write(f"ready {url}\n")
        sys.stdout.flush()
        await stop_event(until_stdin_closes=True).wait()


if __name__ == "__main__":
    asyncio.run(main())
