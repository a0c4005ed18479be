"""`slipway shell` and `forward` on the Batch AI emulator: a person's own ssh, with the cluster's key."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

from local.stack import Options, stack
from shared.settings import Settings
from slipway.stack.provision import Plan, provision
from tests.acceptance.commands.person import slipway, started
from tests.acceptance.door import Door, eventually, shell, unique

pytestmark = pytest.mark.skipif(shutil.which("ssh") is None, reason="this machine has no OpenSSH client")

#: It answers at a port with a variable that only the job has, and says which.
_SERVER = """exec python3 -c '
import http.server, os
class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(os.environ["COLOUR"].encode())
server = http.server.HTTPServer(("127.0.0.1", 0), Page)
open(os.environ["AZ_BATCHAI_STDOUTERR_DIR"] + "/port", "w").write(str(server.server_address[1]))
server.serve_forever()
'"""


def key_of(folder: Path) -> str:
    """A new key, and an `ssh` that offers it and asks no question; the public half."""
    key, own = folder / "key", folder / "bin"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    options = (
        "-F none -o BatchMode=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null "
        f"-o LogLevel=ERROR -i '{key}'"
    )
    own.mkdir()
    script = own / "ssh"
    script.write_text(f'#!/bin/sh\nexec {shutil.which("ssh")} {options} "$@"\n')
    script.chmod(0o755)
    return key.with_name("key.pub").read_text().strip()


async def test_a_person_is_in_the_job_by_ssh_and_reaches_its_port(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    public_key = key_of(tmp_path)

    async def provisioned(settings: Mapping[str, str]) -> None:
        async for _ in provision(Settings(settings), Plan(maximum=1, ssh_key=public_key)):
            pass

    async with (
        stack(Options(data=tmp_path / "stack", in_memory=True), provisioned) as running,
        Door(running, "") as door,
    ):
        monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/local/bin:/usr/bin:/bin")
        name = unique("enter")
        variables = [{"name": "COLOUR", "value": "it's blue"}]
        await door.call(
            "POST", "jobs", {"name": name, "spec": shell(_SERVER, environmentVariables=variables)}
        )

        async def port() -> str | None:
            words = ("shell", name, "--", "sh", "-c", 'cat "$AZ_BATCHAI_STDOUTERR_DIR/port"')
            code, out, _ = await slipway(door, tmp_path, *words)
            return out if code == 0 and out else None

        number = await eventually(port, "the job to listen")
        answer = await slipway(door, tmp_path, "shell", name, "--", "sh", "-c", "echo $COLOUR; exit 9")
        assert answer[:2] == (9, "it's blue\n")

        forward = await started(door, tmp_path, "forward", name, number)
        assert forward.stdout is not None
        address = (await forward.stdout.readline()).decode().split()[0]

        async def page() -> Any:
            try:
                return await asyncio.to_thread(lambda: urlopen(address, timeout=60).read())
            except OSError:
                return None

        assert await eventually(page, "ssh to listen") == b"it's blue"
        await slipway(door, tmp_path, "cancel", name)
        _, remarks = await forward.communicate()
        assert (forward.returncode, f"{name}: cancelled" in remarks.decode()) == (0, True)
