"""`slipway emulate batch` as a process: what it prints is what a client needs, and Ctrl-C ends it."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
from pathlib import Path

import psutil
from azure.batch import BatchClient
from azure.core.credentials import AzureNamedKeyCredential

ROOT = Path(__file__).resolve().parents[3]


def command(data: Path, *words: str) -> list[str]:
    return [sys.executable, "-m", "slipway.main", "emulate", "batch", f"--data={data}", *words]


def test_what_it_prints_opens_a_client_and_ctrl_c_ends_it(tmp_path: Path) -> None:
    process = subprocess.Popen(command(tmp_path), cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    with process, process.stdout as lines:
        shown = dict(next(lines).split() for _ in range(3))
        with BatchClient(
            shown["endpoint"], AzureNamedKeyCredential(shown["account"], shown["key"])
        ) as client:
            pools = list(client.list_pools())
        process.send_signal(signal.SIGINT)
        code = process.wait(30)

    assert pools == []
    assert code == 0


def _refusal(*words: str) -> str:
    """What it says before it ends because it cannot start."""
    ended = subprocess.run(
        [sys.executable, "-m", "slipway.main", "emulate", "batch", *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (ended.returncode, ended.stdout) == (1, "")
    return ended.stderr


def test_a_port_that_is_in_use_is_named(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        text = _refusal(f"--data={tmp_path}", f"--port={port}")

    assert f"cannot listen on 127.0.0.1:{port}" in text


def test_a_directory_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    text = _refusal(f"--data={tmp_path / 'file' / 'below'}")

    assert f"cannot use {tmp_path / 'file'}" in text
    assert "Traceback" not in text


def test_an_emulator_that_ends_by_itself_is_an_error(tmp_path: Path) -> None:
    process = subprocess.Popen(
        command(tmp_path), cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    next(process.stdout)
    (emulator,) = psutil.Process(process.pid).children()
    emulator.kill()
    _, text = process.communicate(timeout=60)

    assert process.returncode == 1
    assert "ended by itself" in text


def test_a_directory_that_is_in_use_is_named(tmp_path: Path) -> None:
    first = subprocess.Popen(command(tmp_path, "--json"), cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert first.stdout is not None
    with first, first.stdout as lines:
        document = json.loads("".join(next(lines) for _ in range(5)))
        second = subprocess.run(
            command(tmp_path), cwd=ROOT, capture_output=True, text=True, check=False, timeout=60
        )
        first.terminate()
        code = first.wait(30)

    assert sorted(document) == ["account", "endpoint", "key"]
    assert second.returncode == 1
    assert "another emulator uses" in second.stderr
    assert code == 0
