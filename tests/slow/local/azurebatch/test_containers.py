"""Tasks with containers, by Microsoft's client. The runtime is a program of the tests, at the wire."""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from azure.batch import BatchClient, models
from azure.core.exceptions import HttpResponseError

from tests.slow.local.azurebatch.world import (
    IMAGE,
    ROOT,
    emulator,
    ended,
    new_job,
    new_pool,
    new_task,
    text_of,
)

_RUNTIMES = ROOT / "tests" / "contract" / "emulator" / "runtimes"
POOL, PLAIN = "boxes", "plain"
GANG = models.MultiInstanceSettings(coordination_command_line="x")


@dataclass
class Place:
    """The emulator with two pools, of which one takes containers, and the home of its runtime."""

    client: BatchClient
    home: Path

    def run(self, command: str, image: str = "digits:3", *, job: str = POOL, **more: Any) -> models.BatchTask:
        name = f"t{uuid.uuid4().hex[:8]}"
        settings = models.BatchTaskContainerSettings(image_name=image, **more)
        self.client.create_task(job, new_task(name, command, container_settings=settings))
        return ended(self.client, job, name)

    def text(self, task: models.BatchTask) -> str:
        return text_of(self.client, POOL, str(task.id))

    def calls(self, verb: str) -> list[list[str]]:
        lines = (self.home / "calls").read_text().splitlines()
        return [call["argv"] for call in map(json.loads, lines) if call["argv"][0] == verb]


def pools(client: BatchClient) -> None:
    for name in (POOL, PLAIN):
        pool = new_pool(name, target_dedicated_nodes=1)
        if name == POOL:
            login = models.ContainerRegistryReference(
                username="u", password="right", registry_server="private.io"
            )
            pool.virtual_machine_configuration = models.VirtualMachineConfiguration(
                image_reference=models.BatchVmImageReference(**IMAGE),
                node_agent_sku_id="batch.node.ubuntu 24.04",
                container_configuration=models.BatchContainerConfiguration(
                    type="dockerCompatible", container_registries=[login]
                ),
            )
        client.create_pool(pool)
        client.create_job(new_job(name, name))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("boxes")
    home = folder / "runtime"
    home.mkdir()
    env = {"PATH": f"{_RUNTIMES}:{os.environ['PATH']}", "FAKE_ENGINE": str(home)}
    with emulator(folder / "data", env=env) as running, running.client() as client:
        pools(client)
        yield Place(client, home)


def code_and_end(task: models.BatchTask) -> tuple[int | None, str | None]:
    info = task.execution_info
    assert info
    return info.exit_code, info.failure_info.code if info.failure_info else None


def test_a_task_runs_in_its_container_with_its_options_and_leaves_none(place: Place) -> None:
    task = place.run(
        "echo $OF_THE_IMAGE $AZ_BATCH_TASK_ID; pwd; exit 3", container_run_options="--shm-size 2g"
    )

    lines = place.text(task).splitlines()
    assert code_and_end(task) == (3, "FailureExitCode")
    assert lines[0] == f"yes {task.id}"
    assert lines[1].endswith(f"workitems/{POOL}/job-1/{task.id}/wd")
    (words,) = place.calls("run")
    assert words[1:3] == ["--shm-size", "2g"]
    assert list((place.home / "containers").iterdir()) == []


def test_it_begins_in_the_directory_of_its_image_where_it_wants_that(place: Place) -> None:
    task = place.run("pwd", working_directory="containerImageDefault")

    assert place.text(task) == "/\n"


def test_the_login_of_the_pool_s_registry_fetches_an_image(place: Place) -> None:
    task = place.run("true", "private.io/digits:4")

    assert code_and_end(task) == (0, None)
    assert all("right" not in words for verb in ("login", "run", "pull") for words in place.calls(verb))


@pytest.mark.parametrize(
    ("image", "more", "code"),
    [
        ("private/other:1", {}, "ContainerInvalidImage"),
        (
            "private/other:2",
            {"registry": models.ContainerRegistryReference(username="u", password="wrong-canary")},
            "ContainerInvalidRegistry",
        ),
        ("broken:1", {}, "ContainerInvalidSettings"),
        ("digits:3", {"container_run_options": "--shm-size '2g"}, "ContainerInvalidSettings"),
    ],
)
def test_a_container_that_cannot_start_fails_its_task_with_the_service_s_code(
    place: Place, image: str, more: dict[str, Any], code: str
) -> None:
    task = place.run("true", image, **more)

    assert code_and_end(task) == (None, code)
    assert "canary" not in json.dumps(task.as_dict(), default=str)


def test_a_pool_for_containers_takes_a_task_without_one_and_fails_it_on_its_node(place: Place) -> None:
    place.client.create_task(POOL, new_task("plain", "echo started"))

    task = ended(place.client, POOL, "plain")

    assert code_and_end(task) == (None, "ContainerTaskSettingsNotFound")
    assert task.execution_info
    assert task.execution_info.failure_info
    assert "requires task container settings" in str(task.execution_info.failure_info.message)


def test_a_pool_without_containers_fails_such_a_task(place: Place) -> None:
    assert code_and_end(place.run("true", job=PLAIN)) == (None, "ContainerPoolNotSupported")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            {"multi_instance_settings": models.MultiInstanceSettings(coordination_command_line="x")},
            "one node only",
        ),
        ({"command_line": ""}, "name the command"),
    ],
)
def test_what_a_container_cannot_do_here_is_refused(place: Place, change: dict[str, Any], words: str) -> None:
    settings = models.BatchTaskContainerSettings(image_name="digits:3")
    task = models.BatchTaskCreateOptions(
        **{"id": "odd", "command_line": "x", "container_settings": settings, **change}
    )

    with pytest.raises(HttpResponseError, match=words):
        place.client.create_task(POOL, task)


@pytest.mark.parametrize(("choice", "end"), [("auto", (0, None)), ("require", (None, "ContainerMiscError"))])
def test_without_a_runtime_a_task_fails_unless_it_may_run_on_the_host(
    tmp_path: Path, choice: str, end: tuple[int | None, str | None]
) -> None:
    (tmp_path / "runtime").mkdir()
    (tmp_path / "runtime" / "down").touch()
    env = {"PATH": f"{_RUNTIMES}:{os.environ['PATH']}", "FAKE_ENGINE": str(tmp_path / "runtime")}
    with (
        emulator(tmp_path / "data", f"--containers={choice}", env=env) as running,
        running.client() as client,
    ):
        pools(client)
        task = Place(client, tmp_path / "runtime").run("true")

    assert code_and_end(task) == end
