"""Every request and answer of 2024-07-01 is valid by Microsoft's description of that version."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from azure.batch import models
from azure.core.exceptions import HttpResponseError, ResourceNotFoundError
from azure.core.pipeline import PipelineRequest, PipelineResponse
from azure.core.pipeline.policies import SansIOHTTPPolicy

from tests.contract.emulator.swagger import Contract, Exchange
from tests.slow.local.azurebatch.world import Emulator, ended, new_job, new_pool, new_task, text_of, until

_USUAL = Path(__file__).parents[5] / "shared" / "reference" / "AzureBatch-2024-07-01.20.0.json"
FILE = Path(os.environ.get("BATCH_SWAGGER", _USUAL))
#: Where recordings of the service differ from its description, and the emulator does as the service.
RECORDED_OTHERWISE = (
    "without a body",  # 201 has none
    "not one of ['success', 'clienterror', 'servererror']",  # Success
    "is not of type 'integer' at",  # contentLength is a text, as OData writes integers of 64 bits
)


class Recorder(SansIOHTTPPolicy[Any, Any]):
    """Notes what the client sends and gets."""

    def __init__(self) -> None:
        self.exchanges: list[Exchange] = []

    def on_response(self, request: PipelineRequest[Any], response: PipelineResponse[Any, Any]) -> None:
        message, answer = request.http_request, response.http_response
        url = urlsplit(message.url)
        body = message.content if isinstance(message.content, bytes) else str(message.content or "").encode()
        if "/files/" in url.path or url.path.startswith("/emulator"):
            return  # contents of files
        data = answer.read() if answer.request.method != "HEAD" else b""
        if data:  # the description leaves out what every document of OData has
            described = {name: value for name, value in json.loads(data).items() if name != "odata.metadata"}
            data = json.dumps(described).encode()
        kind = answer.headers.get("Content-Type", "").split(";")[0]
        self.exchanges.append(
            Exchange(
                message.method, url.path, dict(parse_qsl(url.query)), body, answer.status_code, data, kind
            )
        )


def visit(running: Emulator, recorder: Recorder) -> None:
    """Use what the engine uses, and what people look at."""
    options = {"api_version": "2024-07-01.20.0", "per_retry_policies": [recorder]}
    with running.client(**options) as client:
        start = models.BatchStartTask(command_line="true", wait_for_success=True)
        nodes_of_pool: dict[str, Any] = {"target_dedicated_nodes": 1, "target_low_priority_nodes": 1}
        together = new_pool(
            "described", start_task=start, enable_inter_node_communication=True, **nodes_of_pool
        )
        client.create_pool(together)
        client.create_pool(
            new_pool("formula", enable_auto_scale=True, auto_scale_formula="$TargetDedicatedNodes=0")
        )
        for formula in ("$TargetDedicatedNodes=1", "$TargetDedicatedNodes=$None"):
            client.evaluate_pool_auto_scale(
                "formula", models.BatchPoolEvaluateAutoScaleOptions(auto_scale_formula=formula)
            )
        client.create_job(new_job("described", "described", priority=5))
        gang = models.MultiInstanceSettings(number_of_instances=2, coordination_command_line="true")
        client.create_task("described", new_task("gang", "true", multi_instance_settings=gang))
        client.create_task_collection(
            "described",
            models.BatchTaskGroup(task_values=[new_task("t", "exit 3"), new_task("gang", "true")]),
        )
        ended(client, "described", "gang")
        ended(client, "described", "t")
        list(client.list_subtasks("described", "gang"))
        list(client.list_task_files("described", "t", recursive=True))
        text_of(client, "described", "t")
        list(client.list_tasks("described", max_results=1, filter="state eq 'completed'"))
        list(client.list_jobs())
        list(client.list_pools())
        nodes = list(client.list_nodes("described"))
        client.get_node("described", str(nodes[0].id))
        list(client.list_node_files("described", str(nodes[0].id)))
        list(client.list_pool_node_counts())
        list(client.list_supported_images())
        list(client.list_applications())
        client.get_job_task_counts("described")
        client.update_job("described", models.BatchJobUpdateOptions(priority=7))
        client.update_pool("described", models.BatchPoolUpdateOptions(metadata=[]))
        client.reactivate_task("described", "t")
        with pytest.raises(ResourceNotFoundError):
            client.get_task("described", "none")
        with pytest.raises(HttpResponseError):
            list(client.list_jobs(filter="("))
        client.begin_delete_job("described", polling_interval=0)
        client.begin_delete_pool("described", polling_interval=0)
        until(lambda: "described" not in [pool.id for pool in client.list_pools()])


def test_each_exchange_is_one_that_the_service_describes(running: Emulator) -> None:
    if not FILE.is_file():
        pytest.skip(f"{FILE.name} is not there: set BATCH_SWAGGER to Microsoft's description")
    contract, recorder = Contract(json.loads(FILE.read_text()), []), Recorder()

    visit(running, recorder)

    problems = {problem for exchange in recorder.exchanges for problem in contract.problems(exchange)}
    unknown = [one for one in problems if not any(words in one for words in RECORDED_OTHERWISE)]
    assert sorted(unknown) == []
    assert len(recorder.exchanges) > 30
