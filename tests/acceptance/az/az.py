"""The real Azure CLI in a shell that `slipway az-env` has prepared, against an emulator of its own."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from local.azurite import ACCOUNT, azurite
from local.process import child
from slipway.stack.az_env import environment

#: The program; empty where there is none.
AZ = os.environ.get("SLIPWAY_AZ", "")
REASON = "SLIPWAY_AZ names no az; `make test-az` installs one"
_ROOT = Path(__file__).parents[3]
#: Stand-ins for programs that jobs call.
_PROGRAMS = _ROOT / "tests" / "contract" / "emulator" / "programs"
_PATIENCE = 300.0


@dataclass
class Az:
    """`folder` is where the person is, `data` is the emulator's."""

    folder: Path
    data: Path
    env: dict[str, str]

    async def say(self, *words: str, fails: bool = False) -> str:
        """What a command prints; `fails` says that it has to."""
        code, out, err = await self.run(*words)
        assert bool(code) == fails, (words, out, err)
        return err if fails else out

    async def ask(self, *words: str) -> Any:
        """The JSON document that a command prints."""
        output = await self.say(*words, "-o", "json")
        return json.loads(output) if output.strip() else None

    async def run(self, *words: str) -> tuple[int | None, str, str]:
        """Exit code, standard output and error of a command."""
        process = await asyncio.create_subprocess_exec(
            AZ,
            *words,
            cwd=self.folder,
            env=self.env,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, err = await asyncio.wait_for(process.communicate(), _PATIENCE)
        return process.returncode, out.decode(), err.decode()


@asynccontextmanager
async def prepared(data: Path, folder: Path, programs: Path) -> AsyncIterator[Az]:
    """A person who has logged in; jobs find `programs` first of all."""
    async with azurite() as storage:
        argv = [
            sys.executable,
            "-m",
            "local.batchai",
            "--data",
            str(data / "batchai"),
            "--until-stdin-closes",
        ]
        argv += ["--storage-connection-string", storage.connection_string]
        argv += ["--provisioning-seconds", "0.1", "--idle-seconds", "0.5", "--leaving-seconds", "0.1"]
        for directory in (programs, Path(sys.executable).parent, _PROGRAMS):
            argv += ["--node-path", str(directory)]
        async with child(argv, name="the emulator", env={"PATH": os.environ["PATH"]}, cwd=_ROOT) as emulator:
            url = (await emulator.line(r"^ready (\S+)$"))[1]
            connection = f"{storage.connection_string}FileEndpoint={url}/{ACCOUNT};"
            settings = {"Values": {"AzureWebJobsStorage": connection}}
            (data / "local.settings.json").write_text(json.dumps(settings))
            env, remark = environment(data)
            inherited = {
                "PATH": os.environ["PATH"],
                "HOME": str(folder),
                "AZURE_CORE_ONLY_SHOW_ERRORS": "true",
            }
            az = Az(folder, data / "batchai", inherited | env)
            await az.say(*remark.partition("az ")[2].split())
            yield az
