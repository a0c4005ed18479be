"""A person enters a running job on a real Slurm, by `slipway shell` and `slipway forward`."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from local.slurm import missing_programs
from local.slurm.programs import find_programs
from local.stack import Options, stack
from tests.acceptance.commands.person import slipway, started
from tests.acceptance.conftest import provisioned
from tests.acceptance.door import Door, eventually, shell, unique

#: It answers at a port with a variable that only the job has.
_SERVER = """exec python3 -c '
import http.server, os, sys
class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(os.environ["COLOUR"].encode() * 100000)
server = http.server.HTTPServer(("127.0.0.1", 0), Page)
open(os.environ["AZ_BATCHAI_STDOUTERR_DIR"] + "/port", "w").write(str(server.server_address[1]))
server.serve_forever()
'"""


async def test_a_person_is_in_the_job_with_its_variables_and_reaches_its_ports(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if lacking := missing_programs():
        pytest.skip(f"Slurm is not installed ({', '.join(lacking)} not found): run `make install-slurm`")
    options = Options(data=tmp_path / "stack", in_memory=True, cluster="slurm", nodes=1)
    async with stack(options, provisioned) as running, Door(running, "") as door:
        (conf,) = await asyncio.to_thread(lambda: list(tmp_path.rglob("client.conf")))
        monkeypatch.setenv("SLURM_CONF", str(conf))
        monkeypatch.setenv("PATH", find_programs().path)
        name = unique("enter")
        variables = [{"name": "COLOUR", "value": "blue"}]
        secrets = [{"name": "HF_TOKEN", "value": "of the job"}]
        spec = shell(_SERVER, environmentVariables=variables, secrets=secrets)
        await door.call("POST", "jobs", {"name": name, "spec": spec})

        async def port() -> str | None:
            words = ("shell", name, "--", "sh", "-c", 'cat "$AZ_BATCHAI_STDOUTERR_DIR/port"')
            code, out, _ = await slipway(door, tmp_path, *words)
            return out if code == 0 and out else None

        number = await eventually(port, "the job to listen")
        code, out, errors = await slipway(
            door, tmp_path, "shell", name, "--", "sh", "-c", "echo $COLOUR-$HF_TOKEN; echo no >&2; exit 9"
        )
        assert (code, out, errors) == (9, "blue-of the job\n", "no\n"), "without a word of srun"

        forward = await started(door, tmp_path, "forward", name, number)
        assert forward.stdout is not None
        address = (await forward.stdout.readline()).decode().split()[0]
        pages = [await _page(address) for _ in range(3)]
        await slipway(door, tmp_path, "cancel", name)
        _, remarks = await forward.communicate()

        assert pages == ["blue" * 100_000] * 3
        assert (forward.returncode, f"{name}: cancelled" in remarks.decode()) == (0, True)


async def _page(address: str) -> str:
    def read() -> Any:
        from urllib.request import urlopen

        with urlopen(address, timeout=60) as answer:
            return answer.read().decode()

    return str(await asyncio.to_thread(read))
