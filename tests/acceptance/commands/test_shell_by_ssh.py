"""`slipway shell` and `slipway forward` in a job of `slipway up`: a person's own ssh, which asks nothing."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

from tests.acceptance.door import eventually
from tests.acceptance.test_up import ROOT, up

pytestmark = pytest.mark.skipif(shutil.which("ssh") is None, reason="this machine has no OpenSSH client")

#: It answers at a port with a variable that only the job has, and says which.
_SERVER = """import http.server, os
class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(os.environ["COLOUR"].encode())
server = http.server.HTTPServer(("127.0.0.1", 0), Page)
open(os.environ["AZ_BATCHAI_STDOUTERR_DIR"] + "/port", "w").write(str(server.server_address[1]))
server.serve_forever()
"""


async def started(url: str, *words: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "slipway.main", words[0], f"--url={url}", *words[1:]),
        cwd=ROOT,
        env=os.environ | {"COLOUR": "it's blue"},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )


async def ran(url: str, *words: str) -> tuple[int | None, str, str]:
    command = await started(url, *words)
    out, err = await command.communicate()
    return command.returncode, out.decode(), err.decode()


async def test_a_person_is_in_a_job_of_up_and_reaches_its_port(tmp_path: Path) -> None:
    script = tmp_path / "of mine" / "serve.py"
    script.parent.mkdir()
    script.write_text(_SERVER)
    async with up(tmp_path / "up here", "--max-nodes=1") as running:
        code, _, remarks = await ran(running.url, "run", "--detach", "--env=COLOUR", str(script))
        assert code == 0, remarks

        async def port() -> str | None:
            words = ("shell", "last", "--", "sh", "-c", 'cat "$AZ_BATCHAI_STDOUTERR_DIR/port"')
            code, out, _ = await ran(running.url, *words)
            return out if code == 0 and out else None

        number = await eventually(port, "the job to listen")
        answer = await ran(running.url, "shell", "last", "--", "sh", "-c", "echo $COLOUR; exit 9")
        assert answer == (9, "it's blue\n", "")

        forward = await started(running.url, "forward", "last", number)
        assert forward.stdout is not None
        address = (await forward.stdout.readline()).decode().split()[0]

        async def page() -> Any:
            try:
                return await asyncio.to_thread(lambda: urlopen(address, timeout=60).read())
            except OSError:
                return None

        assert await eventually(page, "ssh to listen") == b"it's blue"
        await ran(running.url, "cancel", "last")
        _, text = await forward.communicate()
        assert (forward.returncode, ": cancelled" in text.decode()) == (0, True)
