"""`slipway forward` as a process, with an API and tools of clusters that are programs of this test."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from slipway.client.entry.ports import is_open

JOB = "j_" + "b" * 24
_SSH = {"host": "127.0.0.1", "port": 22, "user": "ann"}
_KUBECTL = {"namespace": "slipway", "pod": "train-1", "container": "main"}
_SRUN = {"job": "7", "node": "n1", "user": "root"}
#: Listens at the first port of this machine that it is given, as both tools do, until it is ended.
_LISTENS = """#!{python}
import re, socket, sys, time
text = " ".join(sys.argv)
if "config view" in text:
    sys.exit(print("{{}}"))
own = socket.socket()
own.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
own.bind(("127.0.0.1", int(re.search("16[0-9][0-9][0-9]", text)[0])))
own.listen()
time.sleep(600)
"""
#: Is refused, and says which right it lacks when it is asked.
_REFUSES = """#!/bin/sh
case "$*" in
  *config*) echo '{{"clusters": null, "contexts": null}}' ;;
  *can-i*create*) echo no ;;
  *can-i*) echo yes ;;
  *) echo "Error from server (Forbidden): no" >&2; exit 1 ;;
esac
"""
#: Passes nothing on, and does not end by Ctrl-C, as srun.
_STAYS = """#!{python}
import signal, sys, time
signal.signal(signal.SIGINT, signal.SIG_IGN)
time.sleep(600)
"""


@pytest.fixture
def address() -> Iterator[tuple[str, dict[str, Any]]]:
    """An API that answers what the test puts into its second part."""
    answers: dict[str, Any] = {"state": "running", "attempt": 1, "id": JOB, "name": "n"}

    class Api(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer(answers)

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self._answer({"job": JOB, "attempt": 1, "rank": 0, "ranks": 1, **answers["place"]})

        def _answer(self, document: Any) -> None:
            data = json.dumps(document).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Slipway-Api", "1")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Api) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}", answers
        server.shutdown()


def started(
    address: str, folder: Path, tool: str, script: str, *words: str, behind: bool = False
) -> subprocess.Popen[bytes]:
    """The command, which finds that program under the name of the tool.

    `behind`: as a script starts what it puts behind itself, which does not hear Ctrl-C.
    """
    program = folder / tool
    program.write_text(script.format(python=sys.executable))
    program.chmod(0o755)
    command = [sys.executable, "-m", "slipway.main", words[0], f"--url={address}", *words[1:]]
    command = ["sh", "-c", 'trap "" INT; exec "$0" "$@"', *command] if behind else command
    env = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, env=env)


def first_port(process: subprocess.Popen[bytes]) -> int:
    """The port here that the command names, once it is open."""
    assert process.stdout is not None
    line = process.stdout.readline().decode()
    assert line, process.communicate()[1]
    return int(line.split()[0].rpartition(":")[2])


@pytest.fixture(autouse=True)
def heard() -> Iterator[None]:
    """Commands inherit it where a hang-up is ignored, as under nohup, and keep it so."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize(("tool", "place"), [("ssh", _SSH), ("kubectl", _KUBECTL)])
@pytest.mark.parametrize(
    ("number", "behind"),
    [
        *((one, False) for one in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)),
        *((one, True) for one in (signal.SIGTERM, signal.SIGHUP)),
    ],
)
def test_a_signal_ends_it_with_its_tool_and_its_port(
    address: tuple[str, dict[str, Any]],
    tmp_path: Path,
    tool: str,
    place: Any,
    number: signal.Signals,
    behind: bool,
) -> None:
    address[1]["place"] = {tool: place}
    process = started(address[0], tmp_path, tool, _LISTENS, "forward", JOB, "6006:16006", behind=behind)
    port = first_port(process)
    assert is_open(port)

    process.send_signal(number)
    process.communicate(timeout=60)

    assert process.returncode == 128 + number
    assert not is_open(port)


def test_it_ends_also_while_a_connection_is_open_and_its_tool_does_not_hear_ctrl_c(
    address: tuple[str, dict[str, Any]], tmp_path: Path
) -> None:
    import pwd

    address[1]["place"] = {"srun": {**_SRUN, "user": pwd.getpwuid(os.geteuid()).pw_name}}
    process = started(address[0], tmp_path, "srun", _STAYS, "forward", JOB, "6006:16106")
    port = first_port(process)
    with socket.create_connection(("127.0.0.1", port)) as browser:
        browser.sendall(b"GET / HTTP/1.1\r\n\r\n")
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)

    assert process.returncode == 128 + signal.SIGINT
    assert not is_open(port)


def test_a_tool_that_is_refused_is_not_tried_again_and_the_right_is_named(
    address: tuple[str, dict[str, Any]], tmp_path: Path
) -> None:
    address[1]["place"] = {"kubectl": _KUBECTL}
    process = started(address[0], tmp_path, "kubectl", _REFUSES, "forward", JOB, "6006:16206")

    out, remarks = process.communicate(timeout=60)

    assert (process.returncode, out) == (255, b"")
    assert remarks.count(b"Error from server") == 1
    assert b"may not create pods/portforward" in remarks


def test_a_key_that_is_refused_ends_it(address: tuple[str, dict[str, Any]], tmp_path: Path) -> None:
    address[1]["place"] = {"ssh": _SSH}
    script = "#!/bin/sh\necho Permission denied >&2\nexit 255\n"
    process = started(address[0], tmp_path, "ssh", script, "forward", JOB, "6006:16306")

    out, remarks = process.communicate(timeout=60)

    assert (process.returncode, out) == (255, b"")
    assert b"ssh opened no port, and ended with exit code 255" in remarks


@pytest.mark.parametrize(("code", "error"), [(1, ""), (1, "no such file"), (3, "")])
def test_a_command_that_ends_by_itself_keeps_its_code(
    address: tuple[str, dict[str, Any]], tmp_path: Path, code: int, error: str
) -> None:
    address[1]["place"] = {"kubectl": _KUBECTL}
    refusal = '"Error from server (Forbidden): no" >&2; exit 1'
    script = _REFUSES.replace(refusal, f'"{error}" >&2; exit {code}')
    process = started(address[0], tmp_path, "kubectl", script, "shell", JOB, "--", "test", "-f", "x")

    out, remarks = process.communicate(timeout=60)

    assert (process.returncode, out, remarks.decode().strip()) == (code, b"", error)


def test_what_srun_refuses_is_not_the_code_of_a_command(
    address: tuple[str, dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import pwd

    monkeypatch.setenv("SLURM_CONF", "/etc/x.conf")
    monkeypatch.setenv("SLURM_LABELIO", "1")
    monkeypatch.setenv("SLURM_GPUS_PER_NODE", "1")
    monkeypatch.setenv("HF_TOKEN", "canary")
    address[1]["place"] = {"srun": {**_SRUN, "user": pwd.getpwuid(os.geteuid()).pw_name}}
    script = "#!/bin/sh\nenv\necho 'srun: error: Unable to create step' >&2\nexit 1\n"
    process = started(address[0], tmp_path, "srun", script, "shell", JOB, "--", "true")

    out, remarks = process.communicate(timeout=60)

    assert process.returncode == 255
    assert remarks == b"srun: error: Unable to create step\n"
    assert b"SLURM_CONF=/etc/x.conf" in out
    assert {one for one in (b"SLURM_LABELIO", b"SLURM_GPUS", b"canary") if one in out} == set()


@pytest.mark.parametrize("other", [{"job": "j_" + "c" * 24}, {"rank": 1}, {"attempt": 0}, {"attempt": -1}])
def test_an_answer_about_another_job_leads_nowhere(
    address: tuple[str, dict[str, Any]], tmp_path: Path, other: dict[str, Any]
) -> None:
    address[1]["place"] = {"ssh": _SSH, **other}
    process = started(address[0], tmp_path, "ssh", _LISTENS, "shell", JOB, "--print")

    out, remarks = process.communicate(timeout=60)

    assert (process.returncode, out) == (255, b"")
    assert b"is used nowhere" in remarks


#: Ends the command that starts it, as it begins itself, and stays.
_ENDS_ITS_PARENT = """#!/bin/sh
echo $$ >"$0.pid"
kill -TERM $PPID
exec sleep 600 >/dev/null 2>&1
"""


def is_left(pid: int) -> bool:
    """Whether a process goes on; it is ended here."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
        return True
    return False


@pytest.mark.parametrize("repetition", range(4))
@pytest.mark.parametrize("behind", [False, True])
@pytest.mark.parametrize(
    "words", [("forward", JOB, "6006:16006"), ("shell", JOB, "--", "true")], ids="-".join
)
def test_a_signal_at_the_moment_when_the_tool_begins_ends_both(
    address: tuple[str, dict[str, Any]], tmp_path: Path, words: tuple[str, ...], behind: bool, repetition: int
) -> None:
    address[1]["place"] = {"ssh": _SSH}
    process = started(address[0], tmp_path, "ssh", _ENDS_ITS_PARENT, *words, behind=behind)
    process.communicate(timeout=60)

    assert process.returncode == 128 + signal.SIGTERM
    assert not is_left(int((tmp_path / "ssh.pid").read_text()))
