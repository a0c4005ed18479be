"""docs/how-to/work-in-a-job.md: each of its commands, on nodes that answer ssh. Jupyter has a stand-in."""

from __future__ import annotations

import asyncio
import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import aiohttp
import pytest
import pytest_asyncio

from local.ports import free_ports
from local.process import child
from local.stack import Options, stack
from shared.settings import Settings
from slipway.stack.provision import Plan, provision
from tests.acceptance.door import PATIENCE, Door, eventually
from tests.acceptance.pages.debugger import Debugger
from tests.acceptance.pages.page import blocks, environment, play, programs

PAGE = "how-to/work-in-a-job.md"
KEY = "of-the-door"
pytestmark = [
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.skipif(shutil.which("ssh") is None, reason="this machine has no OpenSSH client"),
]
#: Answers as Jupyter does: it prints an address with a token, and lets in who has that.
_JUPYTER = """#!{python}
import http.server, secrets, sys
token, port = secrets.token_hex(8), int(sys.argv[sys.argv.index("--port") + 1])
assert sys.argv[1:] == ["lab", "--ip", "127.0.0.1", "--port", str(port), "--no-browser"]
class Lab(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200 if self.path == "/lab?token=" + token else 403)
        self.end_headers()
        self.wfile.write(b"the lab")
server = http.server.HTTPServer(("127.0.0.1", port), Lab)
print("    http://127.0.0.1:%d/lab?token=%s" % (port, token), file=sys.stderr, flush=True)
server.serve_forever()
"""
_TRAIN = """total = 0
for number in range(5):
    total += number
print("total", total)
"""


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The key of the nodes' administrator."""
    file = tmp_path_factory.mktemp("key") / "id"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", file], check=True)
    return file


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def own(tmp_path_factory: pytest.TempPathFactory, key: Path) -> AsyncIterator[Door]:
    """A stack whose nodes know that key."""

    async def provisioned(settings: Mapping[str, str]) -> None:
        public = key.with_suffix(".pub").read_text().strip()
        async for _ in provision(Settings(settings), Plan(maximum=1, ssh_key=public)):
            pass

    options = Options(
        data=tmp_path_factory.mktemp("stack"),
        in_memory=True,
        overrides={
            "SLIPWAY_SWEEPER_SCHEDULE": "*/1 * * * * *",
            "LOCAL_HOST_FUNCTION_KEY": KEY,
            "LOCAL_HOST_MASTER_KEY": f"master-{KEY}",
        },
        cluster_arguments=("--provisioning-seconds=0", "--leaving-seconds=0"),
        host_arguments=("--enable-auth",),
    )
    async with stack(options, provisioned) as running, Door(running, KEY) as opened:
        yield opened


@pytest.fixture
def folder(tmp_path: Path, key: Path) -> Path:
    """A person's folder, whose ssh has their key and asks nothing."""
    options = "-F none -o BatchMode=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null"
    ssh = programs(tmp_path) / "ssh"
    ssh.write_text(f'#!/bin/sh\nexec {shutil.which("ssh")} {options} -o LogLevel=ERROR -i {key} "$@"\n')
    ssh.chmod(0o755)
    return tmp_path


async def test_a_session_is_a_job_that_sleeps(own: Door, folder: Path) -> None:
    (folder / "session.sh").write_text(blocks(PAGE, "bash")[0])
    check = "import os; os.makedirs('results', exist_ok=True); open('results/is', 'w').write('blue')"
    (folder / "check.py").write_text(check)

    await play(own, folder, blocks(PAGE, "sh")[0])

    assert (folder / "results" / "is").read_text() == "blue"
    job = await own.ended(name="session")
    assert (job["state"], job["reason"]) == ("cancelled", "terminated")


async def test_jupyter_is_reached_with_its_token(own: Door, folder: Path) -> None:
    (port,) = free_ports(1)
    (folder / "jupyter").write_text(_JUPYTER.format(python=sys.executable))
    (folder / "jupyter").chmod(0o755)
    line = (
        blocks(PAGE, "bash")[1].replace("8888", str(port)).replace("exec jupyter", f"exec {folder}/jupyter")
    )
    (folder / "notebook.sh").write_text(line)
    *commands, forward = blocks(PAGE, "sh")[1].replace("8888", str(port)).splitlines()

    text = await play(own, folder, "\n".join(commands))
    (token,) = re.findall(r"/lab\?token=([0-9a-f]+)\n", text)[:1]
    async with (
        _forwarded(own, folder, forward) as local,
        aiohttp.ClientSession() as http,
        http.get(f"http://127.0.0.1:{local}/lab?token={token}") as answer,
        http.get(f"http://127.0.0.1:{local}/lab") as refused,
    ):
        assert (answer.status, await answer.text(), refused.status) == (200, "the lab", 403)
    await play(own, folder, "slipway cancel notebook")
    await own.ended(name="notebook")


async def test_a_debugger_stops_a_job_and_sees_its_variables(own: Door, folder: Path) -> None:
    (port,) = free_ports(1)
    code = folder / "code"
    code.mkdir()
    (code / "train.py").write_text(_TRAIN)
    line = blocks(PAGE, "bash")[2].replace("5678", str(port)).replace("python3", sys.executable)
    (code / "debug.sh").write_text(line)
    text = blocks(PAGE, "sh")[2].replace("5678", str(port)).replace("run .", "run code")
    *commands, forward = text.splitlines()
    (document,) = blocks(PAGE, "json")
    (attach,) = json.loads(document.replace("${workspaceFolder}", str(code)))["configurations"]

    await play(own, folder, "\n".join(commands))
    async with _forwarded(own, folder, forward) as local:
        async with Debugger(local) as debugger:
            await debugger.attach(attach, code / "train.py", line=4)
            total = await debugger.value("total")
            await debugger.ask("continue", threadId=debugger.thread)
        job = await own.ended(name="debug")

    assert total == "10"
    assert job["state"] == "succeeded"


@asynccontextmanager
async def _forwarded(door: Door, folder: Path, line: str) -> AsyncIterator[int]:
    """The port here by which a line of the page leads to one of the job."""
    words = shlex.split(line, comments=True)
    argv = ["env", *(f"{name}={value}" for name, value in environment(door, folder).items()), *words]
    async with child(argv, name="forward", cwd=folder) as running:
        match = await running.line(r"^http://127\.0\.0\.1:(\d+) is port", seconds=PATIENCE)
        await eventually(partial(_listens, int(match.group(1))), "the tool to listen", running.recent)
        yield int(match.group(1))


async def _listens(port: int) -> bool | None:
    """True once this machine has a listener there; to connect would reach the job."""
    text = await asyncio.to_thread(Path("/proc/net/tcp").read_text)
    rows = [line.split() for line in text.splitlines()]
    return any((row[1], row[3]) == (f"0100007F:{port:04X}", "0A") for row in rows) or None
