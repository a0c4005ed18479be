"""The host as a process: what it refuses to start with, where settings come from, how it ends."""

import asyncio
import base64
import json
import os
import re
import signal
import sys
from pathlib import Path

import psutil
import pytest

from local.host.worker.contract import LoadError, RuntimeName
from local.host.worker.pool import WorkerOptions, WorkerPool
from local.process import ProcessError
from tests.breadth import every_few
from tests.contract.host.world import (
    ANY_RUNTIME,
    APP,
    Storage,
    environment_of,
    eventually,
    python_for,
    running,
)

pytestmark = pytest.mark.asyncio(loop_scope="session")

_HEAD = "import azure.functions as func\napp = func.FunctionApp()\n"
_QUEUE = '@app.queue_trigger(arg_name="msg", queue_name="q", connection="AzureWebJobsStorage")\n'
_BY_SETTING = '@app.queue_trigger(arg_name="msg", queue_name="%NAME%", connection="AzureWebJobsStorage")\n'
_SCANNED = '@app.blob_trigger(arg_name="blob", path="in/{n}", connection="AzureWebJobsStorage")\n'
_OTHER = '@app.route(route="other", auth_level="anonymous")\ndef other(req): return func.HttpResponse("")\n'
_ELSEWHERE = '@app.queue_trigger(arg_name="msg", queue_name="q", connection="Other")\n'


@pytest.mark.parametrize(
    ("code", "named"),
    every_few(
        [
            pytest.param(f"{_HEAD}{_QUEUE}def one(msg: dict) -> None: ...\n", "one.*dict", id="annotation"),
            pytest.param(
                f"{_HEAD}{_QUEUE}def one(msg, more) -> None: ...\n", "one.*more", id="unbound parameter"
            ),
            pytest.param(f"{_HEAD}{_QUEUE}def one() -> None: ...\n", "one.*msg", id="missing parameter"),
            pytest.param(
                f"{_HEAD}application = app\n", "More than one FunctionApp", id="an alias of the app"
            ),
            pytest.param("x = 1\n", "Could not find top level function app", id="no app"),
            pytest.param("import not_there_at_all\n", "not_there_at_all", id="missing module"),
            pytest.param("def broken(:\n", "SyntaxError", id="syntax"),
            pytest.param(
                f"{_HEAD}{_QUEUE}def one(msg) -> None: ...\n{_QUEUE}def one(msg) -> None: ...\n",
                "one",
                id="duplicate name",
            ),
        ],
        0,
    ),
)
async def test_an_app_that_production_refuses_is_refused_here(
    runtime: RuntimeName, tmp_path: Path, code: str, named: str
) -> None:
    with pytest.raises(LoadError, match=named):
        await WorkerPool(_worker(runtime, tmp_path, code), 1).start()


async def test_where_one_worker_is_refused_none_stays_behind(tmp_path: Path) -> None:
    """The second still loads the app when the first one's refusal is known."""
    code = """
import os, time
try:
    os.mkdir("first")
except FileExistsError:
    time.sleep(60)
raise RuntimeError("the first one")
"""
    with pytest.raises(LoadError, match="the first one"):
        await WorkerPool(_worker("library", tmp_path, code), 2).start()
    processes = [one for one in psutil.Process().children() if str(tmp_path) in " ".join(one.cmdline())]
    assert not processes


async def test_the_app_runs_on_the_event_loop_of_azures_worker(runtime: RuntimeName, tmp_path: Path) -> None:
    code = "import asyncio\nraise RuntimeError(type(asyncio.get_running_loop()).__module__)\n"

    with pytest.raises(LoadError, match="uvloop" if runtime == "library" else "asyncio"):
        await WorkerPool(_worker(runtime, tmp_path, code), 1).start()


async def test_the_place_in_the_app_is_shown_before_the_error(
    runtime: str, storage: Storage, tmp_path: Path
) -> None:
    code, output = await _refused(runtime, storage, _app(tmp_path, "\n\nimport not_there_at_all\n"))

    assert code == 2
    assert_line(output, r"function_app\.py\", line 3")
    assert_line(output, r"^error: ModuleNotFoundError: .*not_there_at_all")


@pytest.mark.parametrize(
    ("code", "named"),
    every_few(
        [
            (f"{_HEAD}{_ELSEWHERE}def one(msg) -> None: ...\n", "one.*Other"),
            (f"{_HEAD}{_BY_SETTING}def one(msg): ...\n", "one.*NAME"),
            (f'{_HEAD}@app.timer_trigger(arg_name="t", schedule="x y")\ndef one(t): ...\n', "one.*schedule"),
            (f'{_HEAD}@app.route(route="a/{{b")\ndef one(req): ...\n', "one.*route"),
            (f"{_HEAD}{_SCANNED}def one(blob) -> None: ...\n", "one.*Flex Consumption"),
        ],
        0,
    ),
)
async def test_a_function_that_cannot_be_served_is_off_and_named_while_the_others_run(
    storage: Storage, tmp_path: Path, code: str, named: str
) -> None:
    app = _app(tmp_path, f"{code}{_OTHER}")
    flex = environment_of(storage, WEBSITE_SKU="FlexConsumption", AzureFunctionsWebHost__hostid="in-error")

    async with running(ANY_RUNTIME, storage, app=app, environment=flex) as host:
        await host.process.line(rf"the function one is in error, and does not run: .*{named}")
        status = {}
        for path in ("host/status", "functions/one/status", "functions/other/status"):
            async with host.http.get(f"{host.url}/admin/{path}") as response:
                status[path] = await response.json()
        assert await host.status("GET", "/api/other") == 200
        assert await host.fire("one") == await host.status("GET", "/api/a/b") == 404

    assert status["host/status"]["state"] == "Running"
    assert re.search(named, status["functions/one/status"]["errors"][0])
    assert status["functions/other/status"] == {}


async def test_a_folder_without_host_json_is_refused(storage: Storage, tmp_path: Path) -> None:
    code, output = await _refused(ANY_RUNTIME, storage, tmp_path)

    assert code == 2
    assert_line(output, r"^error: .*host\.json: cannot be read")


async def test_the_real_environment_wins_over_the_settings_file(storage: Storage, tmp_path: Path) -> None:
    settings = tmp_path / "settings.json"
    settings.write_text(json.dumps({"Values": {"FAN_QUEUE": "file", "ONLY_FILE": "from file"}}))
    env = environment_of(storage, FAN_QUEUE="real", AzureFunctionsWebHost__hostid="settings")

    async with running(
        ANY_RUNTIME, storage, arguments=["--settings", str(settings)], environment=env
    ) as host:
        values = []
        for name in ("FAN_QUEUE", "ONLY_FILE"):
            async with host.http.get(f"{host.url}/api/settings/{name}") as response:
                values.append(await response.text())

    assert values == ["real", "from file"]


@pytest.mark.thorough
async def test_with_base64_plain_text_is_poison_at_once_and_encoded_text_is_read(
    storage: Storage, tmp_path: Path
) -> None:
    app = _app(tmp_path, (APP / "function_app.py").read_text())
    queues = {"maxPollingInterval": "00:00:00.2", "messageEncoding": "base64"}
    (app / "host.json").write_text(json.dumps({"version": "2.0", "extensions": {"queues": queues}}))
    encoded = base64.b64encode(b"coded").decode()
    env = environment_of(storage, AzureFunctionsWebHost__hostid="base64")

    async with running(ANY_RUNTIME, storage, app=app, environment=env) as host:
        await storage.send("plain", "not base64!", encoded)
        moved = await storage.take("plain-poison", lambda _: True)
        [answer] = await storage.take("done", lambda t: t.startswith("cGxhaW4"))

        assert moved == ["not base64!"]
        assert base64.b64decode(answer) == b"plain:coded"
        await host.process.line(r"moves to the queue plain-poison: it cannot be decoded")


async def test_a_stopped_host_finishes_what_runs_and_leaves_the_rest_hidden(
    runtime: str, storage: Storage, tmp_path: Path
) -> None:
    app = _app(tmp_path, (APP / "function_app.py").read_text())
    (app / "host.json").write_text(
        json.dumps({"version": "2.0", "extensions": {"queues": {"messageEncoding": "none"}}})
    )
    env = environment_of(storage, AzureFunctionsWebHost__hostid="stopped")

    async with running(runtime, storage, app=app, arguments=["--grace", "2"], environment=env) as host:
        await storage.send("work", '{"do":"nap","seconds":1}', '{"do":"nap","seconds":99}')

        async def both_run() -> bool:
            return sum("working on nap" in line for line in host.process.recent) == 2

        await eventually(both_run, lambda: f"two naps in {host.process.recent}")
        host.process.signal(signal.SIGTERM)
        async with asyncio.timeout(60):
            assert await host.process.wait() == 0

    assert await storage.take("done", lambda t: "nap" in t)
    assert await storage.peek("work") == []
    work = storage.queues.get_queue_client("work")
    properties = await work.get_queue_properties()
    assert properties.approximate_message_count == 1  # it comes again ten minutes after it was taken
    await work.clear_messages()


async def test_an_account_that_does_not_answer_is_reported(storage: Storage) -> None:
    nowhere = "http://127.0.0.1:9/devstoreaccount1"
    env = environment_of(storage)
    for url in (storage.azurite.blob_url, storage.azurite.queue_url):
        env["AzureWebJobsStorage"] = env["AzureWebJobsStorage"].replace(url, nowhere)

    code, output = await _refused(ANY_RUNTIME, storage, APP, env)

    assert code == 2
    assert_line(output, r"^error: the storage account .* cannot be used: .*is Azurite running")
    assert "AccountKey" not in output


@pytest.mark.thorough
async def test_several_workers_share_the_work(storage: Storage) -> None:
    env = environment_of(storage, FUNCTIONS_WORKER_PROCESS_COUNT="2", AzureFunctionsWebHost__hostid="two")

    async with running(ANY_RUNTIME, storage, environment=env) as host:
        await storage.send("work", '{"do":"crash","n":2}')
        await storage.take("work-poison", lambda t: "crash" in t)
        await host.process.line(r"worker [12] was restarted")
        await storage.send("work", '{"do":"survived"}')
        assert await storage.take("done", lambda t: "survived" in t)


async def test_the_host_runs_an_app_in_its_own_process(runtime: str, storage: Storage) -> None:
    env = environment_of(storage, AzureFunctionsWebHost__hostid="inside")

    async with running(runtime, storage, arguments=["--in-process"], environment=env) as host:
        assert await host.status("GET", "/api/items/5") == 200


def assert_line(output: str, pattern: str) -> None:
    assert any(re.search(pattern, line) for line in output.splitlines()), output


def _worker(runtime: RuntimeName, folder: Path, code: str) -> WorkerOptions:
    return WorkerOptions(
        app=_app(folder, code),
        runtime=runtime,
        environment=dict(os.environ),
        timeout=None,
        python=python_for(runtime) or sys.executable,
    )


def _app(folder: Path, code: str) -> Path:
    (folder / "function_app.py").write_text(code)
    (folder / "host.json").write_text('{"version": "2.0"}')
    return folder


async def _refused(
    runtime: str, storage: Storage, app: Path, environment: dict[str, str] | None = None
) -> tuple[int, str]:
    """Start a host that must not become ready: exit code and output."""
    try:
        async with running(
            runtime, storage, app=app, environment=environment or environment_of(storage)
        ) as host:
            raise AssertionError(f"the host started with {host.process.recent}")
    except ProcessError as error:
        text = str(error)
    match = re.search(r"exit code (\d+)", text)
    assert match, (text, python_for(runtime), sys.executable)
    return int(match[1]), text.replace("  | ", "")
