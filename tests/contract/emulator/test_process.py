"""The emulator as a program: what it says when it cannot serve, and how it ends."""

import asyncio
import sys
from pathlib import Path

from local.azurite import Azurite
from tests.contract.emulator.conftest import Emulator, Lab

_ROOT = Path(__file__).parents[3]


async def _run(*flags: str) -> tuple[int | None, str]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "local.batchai",
        *flags,
        cwd=_ROOT,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate()
    return process.returncode, (out + err).decode()


async def test_a_busy_port_is_one_clear_line(emulator: Emulator, storage: Azurite, tmp_path: Path) -> None:
    port = emulator.url.rsplit(":", 1)[1]
    storage_flags = ("--storage-connection-string", storage.connection_string)

    code, output = await _run("--port", port, "--data", str(tmp_path), *storage_flags)

    assert code == 1
    assert len(output.splitlines()) == 1
    assert f"127.0.0.1:{port}" in output


async def test_two_emulators_never_share_their_data(emulator: Emulator, storage: Azurite) -> None:
    storage_flags = ("--storage-connection-string", storage.connection_string)

    code, output = await _run("--data", str(emulator.data), *storage_flags)

    assert code == 1
    assert output.startswith("batchai: another emulator uses ")


async def test_a_connection_string_without_a_key_is_refused_without_being_shown(tmp_path: Path) -> None:
    code, output = await _run("--data", str(tmp_path), "--storage-connection-string", "AccountName=secretive")

    assert code == 1
    assert "accountkey" in output
    assert "secretive" not in output


async def test_a_table_that_is_none_is_refused_at_once_without_being_shown(tmp_path: Path) -> None:
    file = tmp_path / "secrets.json"
    file.write_text('{"address": ["canary"]}')
    string = "AccountName=a;AccountKey=k"

    flags = ("--data", str(tmp_path), "--storage-connection-string", string)
    code, output = await _run(*flags, "--secrets-file", str(file))

    assert code == 1
    assert "values are all strings" in output
    assert "canary" not in output


async def test_it_ends_with_its_parent_when_asked_to(storage: Azurite, tmp_path: Path) -> None:
    code, output = await _run(
        "--data",
        str(tmp_path),
        "--storage-connection-string",
        storage.connection_string,
        "--until-stdin-closes",
    )

    assert code == 0
    assert output.startswith("ready http://127.0.0.1:")


async def test_names_that_only_lead_to_this_machine_are_refused(lab: Lab) -> None:
    status, body, _ = await lab.send("GET", f"{lab.path}/clusters", headers={"Host": "evil.example"})

    assert (status, body["error"]["code"]) == (403, "HostNotAllowed")
