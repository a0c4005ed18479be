"""`slipway up` on free ports: everything that it prints works, and Ctrl-C leaves nothing behind."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import psutil
import pytest

from local.patience import Patience
from local.process import child
from tests.acceptance.conftest import Slipway

ROOT = Path(__file__).resolve().parents[2]
FREE_PORTS = ("--port=0", "--storage-port=0", "--emulator-port=0", "--receiver-port=0")
#: Seconds without any progress.
PATIENCE = 180.0
#: Seconds that a job sleeps which only ends when it is ended; no other process sleeps so long.
LONG = "86399"


@dataclass(frozen=True)
class Up:
    process: asyncio.subprocess.Process
    url: str
    settings: Path
    #: What it printed until it was ready.
    printed: str

    async def stop(self, number: signal.Signals) -> int:
        """Send a signal and wait; the exit code. Every process that was there has to be gone."""
        everybody = psutil.Process(self.process.pid).children(recursive=True)
        self.process.send_signal(number)
        async with asyncio.timeout(PATIENCE):
            await self.process.communicate()
        remaining = [one for one in everybody if one.is_running() and one.status() != psutil.STATUS_ZOMBIE]
        assert remaining == []
        assert self.process.returncode is not None
        return self.process.returncode


@asynccontextmanager
async def up(data: Path, *options: str) -> AsyncIterator[Up]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "slipway.main", "up", f"--data={data}", *FREE_PORTS, *options),
        cwd=ROOT,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        assert process.stdout is not None
        output = ""
        while "Ctrl-C stops everything" not in output:
            line = await asyncio.wait_for(process.stdout.readline(), PATIENCE)
            assert line, output
            output += line.decode()
        ready = re.search(r"^ready (http://\S+)$", output, re.MULTILINE)
        assert ready is not None, output
        yield Up(process, ready[1], data / "local.settings.json", output)
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()


@pytest.mark.thorough
async def test_what_it_prints_works_a_first_job_runs_once_and_a_restart_goes_on(
    slipway: Slipway, tmp_path: Path
) -> None:
    async with up(tmp_path, "--example") as running:
        settings, url = f"--settings={running.settings}", f"--url={running.url}"
        assert open_to_others(tmp_path) == []
        setup = await slipway("setup", settings)
        (tmp_path / "long.json").write_text(long_request())
        await slipway("drop", "--force", "examples/mistakes", settings)
        job = re.match(r"j_\w+", await slipway("submit", str(tmp_path / "long.json"), url))
        assert job is not None
        await slipway("cancel", job[0], url)
        page = {"Origin": "https://evil.example", "Content-Type": "text/plain"}
        assert await post(running.url, page) == 403
        assert await post(running.url, {"Content-Type": "text/plain"}) == 415
        table = await until_ended(slipway, url)
        await running.stop(signal.SIGTERM)

    async with up(tmp_path, "--example") as again:
        await asyncio.sleep(3)
        after = await slipway("jobs", f"--url={again.url}")
        for line in re.findall(r"^  (curl .*)$", again.printed, re.MULTILINE):
            await curl(line)
        await assert_killed_it_leaves_nothing(again)

    assert "created" not in setup, "setup finds what `up` has made"
    assert "was there" in setup
    assert "share logs: was there" in again.printed
    assert table == after, "no second example"
    assert table.count("j_") == 3


@pytest.mark.thorough
async def test_another_host_runs_the_app_with_the_settings_that_up_writes(
    slipway: Slipway, tmp_path: Path
) -> None:
    async with up(tmp_path, "--no-app") as running:
        assert "func start" in running.printed
        settings = tmp_path / "local.settings.json"
        command = [sys.executable, "-m", "local.host", f"--app={ROOT}", f"--settings={settings}", "--port=0"]
        command += ["--until-stdin-closes"]
        async with child(command, name="the host") as host:
            url = (await host.line(r"^ready (http://\S+)", seconds=PATIENCE))[1]
            await slipway("drop", "examples/digits", f"--settings={settings}")
            await slipway("submit", "examples/request.json", f"--url={url}")
            await slipway("wait", "last", f"--url={url}")
        assert await running.stop(signal.SIGINT) == 0


async def test_a_job_finds_what_up_was_given_setup_finds_the_shares_and_ctrl_c_ends_the_processes_of_jobs(
    slipway: Slipway, tmp_path: Path
) -> None:
    vault, command = "https://our-vault.vault.azure.net/secrets/token", "mount -t nfs server:/data"
    (tmp_path / "in").write_text("from outside\n")
    (tmp_path / "secrets.json").write_text(json.dumps({vault: "of the vault"}))
    (tmp_path / "mounts.json").write_text(json.dumps({command: str(tmp_path)}))
    request = json.loads((ROOT / "examples" / "request.json").read_text())
    group = "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/g"
    source = {"id": f"{group}/providers/Microsoft.KeyVault/vaults/our-vault"}
    reference = {"sourceVault": source, "secretUrl": vault}
    request["spec"]["properties"] |= {
        "customToolkitSettings": {"commandLine": "cat $AZ_BATCHAI_JOB_MOUNT_ROOT/nfs/in; echo ${#TOKEN}"},
        "containerSettings": {"imageSourceRegistry": {"image": "nowhere.invalid/image:1"}},
        "mountVolumes": {"unmanagedFileSystems": [{"mountCommand": command, "relativeMountPath": "nfs"}]},
        "secrets": [{"name": "TOKEN", "valueSecretReference": reference}],
    }
    (tmp_path / "job.json").write_text(json.dumps(request))
    files = (f"--secrets-file={tmp_path}/secrets.json", f"--unmanaged-mounts={tmp_path}/mounts.json")
    async with up(tmp_path / "up", "--containers=host", *files) as running:
        url = f"--url={running.url}"
        job = re.match(r"j_\w+", await slipway("submit", str(tmp_path / "job.json"), url))
        assert job is not None
        log = await slipway("log", job[0], "--follow", url)
        await assert_setup_finds_the_shares(slipway, tmp_path, running)
        (tmp_path / "long.json").write_text(long_request())
        await slipway("enqueue", str(tmp_path / "long.json"), f"--settings={running.settings}")
        async with asyncio.timeout(PATIENCE):
            await until_it_runs(running.process.pid)
        code = await running.stop(signal.SIGINT)

    assert code == 0
    assert "from outside\n12\n" in log


async def assert_setup_finds_the_shares(slipway: Slipway, folder: Path, running: Up) -> None:
    """At the emulator, also where the connection string does not name it."""
    plain = json.loads(running.settings.read_text())
    string: str = plain["Values"]["SLIPWAY_STORAGE"]
    plain["Values"]["SLIPWAY_STORAGE"] = string.partition("FileEndpoint=")[0]
    file = folder / "plain.json"
    file.write_text(json.dumps(plain))

    output = await slipway("setup", f"--settings={file}", "--share=more", "--scripts-dir=mine")

    assert "FileEndpoint=" in string
    reports = [line.split() for line in output.splitlines()]
    assert ["share", "more", "created"] in reports
    assert ["directory", "more/mine", "created"] in reports


def open_to_others(data: Path) -> list[str]:
    """The folders, and the log of deliveries, that others may look into."""
    looked = [entry for entry in data.iterdir() if entry.is_dir() or entry.name == "deliveries.jsonl"]
    return [entry.name for entry in looked if entry.stat().st_mode & 0o077]


async def post(url: str, headers: dict[str, str]) -> int:
    """The status of a request for a job with these headers."""
    body = (ROOT / "examples" / "request.json").read_bytes()
    async with (
        aiohttp.ClientSession() as http,
        http.post(f"{url}/api/jobs", data=body, headers=headers) as answer,
    ):
        return answer.status


async def curl(line: str) -> None:
    """Run a line that the guide shows; it has to be answered with a success."""
    ran = await asyncio.create_subprocess_exec("bash", "-c", f"{line} --fail -o /dev/null", cwd=ROOT)
    assert await ran.wait() == 0, line


def long_request() -> str:
    """A job that does not end by itself."""
    request = json.loads((ROOT / "examples" / "request.json").read_text())
    request["spec"]["properties"]["customToolkitSettings"]["commandLine"] = f"sleep {LONG}"
    return json.dumps(request)


async def until_ended(slipway: Slipway, url: str) -> str:
    """The table of jobs once the example has succeeded, one is rejected, and the long one is over."""
    table, patience = "", Patience(PATIENCE)
    # By the column: what a job waits for names the state that it will have.
    ends = (r"digits .* succeeded", r" rejected", r" cancelled +\d{4}-")
    while not all(re.search(end, table) for end in ends):
        table = await slipway("jobs", url)
        states = re.findall(r"queued|running|failed|cancel\w+|rejected", table)
        assert not patience.is_over(states), table
        await asyncio.sleep(0.5)
    return table


async def assert_killed_it_leaves_nothing(running: Up) -> None:
    everybody = psutil.Process(running.process.pid).children(recursive=True)
    running.process.kill()
    await running.process.communicate()
    _, remaining = await asyncio.to_thread(psutil.wait_procs, everybody, timeout=PATIENCE)
    assert [one for one in remaining if one.status() != psutil.STATUS_ZOMBIE] == []


async def until_it_runs(pid: int) -> None:
    """Wait for the long job among the descendants."""
    while not runs(pid):  # noqa: ASYNC110
        await asyncio.sleep(0.2)


def runs(pid: int) -> bool:
    """Whether one of the descendants runs the long job."""
    for process in psutil.Process(pid).children(recursive=True):
        try:
            if process.cmdline() == ["sleep", LONG]:
                return True
        except psutil.NoSuchProcess:
            continue
    return False
