"""The agent of a node: it starts processes of a job there, where the scheduler has no command for that.

It announces its address in a place that all nodes see, and obeys callers with the key of the job (`spread`).
The processes that it started end with the connection of their caller.
"""

import base64
import hmac
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from typing import IO, Any, Dict, List, Tuple

from shared.engines.node.blobs import store_of
from shared.engines.node.families import Ending, Family
from shared.engines.node.private import opened, take

#: Variables with the key that agents and their callers share, and with the place of the announcements.
KEY, AGENTS = "SLIPWAY_AGENT_KEY", "SLIPWAY_AGENTS"
#: The variable with the seconds from SIGTERM to SIGKILL.
GRACE = "SLIPWAY_GRACE"
#: Seconds: to connect, and until an agent without a caller ends.
CONNECT, LONELY = 10.0, 1800.0
#: The exit code of a process that has ended by SIGTERM.
BY_SIGTERM = 128 + signal.SIGTERM
#: Variables that a node keeps, even if a caller sends others.
OWN = (
    "AZ_BATCH_NODE_ID",
    "AZ_BATCH_TASK_DIR",
    "AZ_BATCH_TASK_WORKING_DIR",
    "AZ_BATCH_IS_CURRENT_NODE_MASTER",
)


class Agent:
    """Runs the commands of callers with the key, each within its own connection."""

    def __init__(self, key: str) -> None:
        self._key, self._calls, self._until = key, 0, time.time() + LONELY
        self._running: List[Tuple[Ending, List[Family]]] = []
        self._lock = threading.Lock()
        self._listener = socket.socket()
        self._listener.bind(("", 0))
        self._listener.listen(64)
        self._listener.settimeout(1.0)

    @property
    def port(self) -> int:
        """The port that the agent listens on."""
        return int(self._listener.getsockname()[1])

    def ask(self, number: int, frame: Any) -> None:
        """End what runs here, and then the agent: its node is taken away."""
        self._until = 0.0
        for ending, families in list(self._running):
            threading.Thread(target=_end, args=(ending, families), daemon=True).start()

    def serve(self) -> None:
        """Serve callers until none has come for a long time."""
        while self._calls or time.time() < self._until:
            with suppress(OSError):
                connection, _ = self._listener.accept()
                threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with self._lock:
            self._calls += 1
        try:
            connection.settimeout(CONNECT)
            stream = connection.makefile("rb")
            order = json.loads(stream.readline())
            if hmac.compare_digest(str(order.get("key", "")), self._key):
                connection.settimeout(None)
                self._run(order, connection)
        except (OSError, ValueError):
            pass
        finally:
            close(connection)
            with self._lock:
                self._calls, self._until = self._calls - 1, self._until and time.time() + LONELY

    def _run(self, order: Dict[str, Any], connection: socket.socket) -> None:
        send = _Sender(connection)
        if not order.get("argv"):
            send.frame("hello", os.environ.get("AZ_BATCH_NODE_ID", "").encode())
            return
        env = dict(order["env"])
        env.update((name, os.environ[name]) for name in OWN if name in os.environ)
        processes: List[subprocess.Popen[bytes]] = []
        families: List[Family] = []
        readers: List[threading.Thread] = []
        ending, code = ending_of(env), 127
        self._running.append((ending, families))
        try:
            for rank in order["ranks"]:
                own = dict(env, SLIPWAY_RANK=str(rank))
                processes.append(start(order["argv"], own, subprocess.PIPE, order.get("input", "")))
                families.append(Family(processes[-1]))
            readers = [_reader(process, send) for process in processes]
            threading.Thread(target=_end_with, args=(connection, ending, families), daemon=True).start()
            code = wait(processes)
        except OSError as error:
            send.frame("err", f"{error}\n".encode())
        finally:
            ending.end(families, is_own=code != BY_SIGTERM)
            self._running.remove((ending, families))
        for reader in readers:
            reader.join(CONNECT)
        send.frame("code", str(code).encode())


class _Sender:
    """Sends frames to a caller; a lost caller is noticed elsewhere."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection, self._lock = connection, threading.Lock()

    def frame(self, kind: str, data: bytes) -> None:
        text = json.dumps({kind: base64.b64encode(data).decode()}) + "\n"
        with self._lock, suppress(OSError):
            self._connection.sendall(text.encode())


def start(argv: List[str], env: Dict[str, str], output: Any, private: str = "") -> "subprocess.Popen[bytes]":
    """Start a process in a group of its own; `output` is as in Popen, `private` what it gets as its input."""
    with opened(private) as stdin:
        return subprocess.Popen(
            argv,
            env=env,
            cwd="/",
            stdin=stdin,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )


def _reader(process: "subprocess.Popen[bytes]", send: _Sender) -> threading.Thread:
    def copy(stream: "IO[bytes]", kind: str) -> None:
        for data in iter(lambda: os.read(stream.fileno(), 65536), b""):
            send.frame(kind, data)

    def both() -> None:
        threads = [
            threading.Thread(target=copy, args=(stream, kind), daemon=True)
            for stream, kind in ((process.stdout, "out"), (process.stderr, "err"))
        ]
        for one in threads:
            one.start()
        for one in threads:
            one.join()

    thread = threading.Thread(target=both, daemon=True)
    thread.start()
    return thread


def _end_with(connection: socket.socket, ending: Ending, families: List[Family]) -> None:
    """End the processes when the caller's side of the connection closes."""
    with suppress(OSError):
        while connection.recv(4096):
            pass
    _end(ending, families)


def _end(ending: Ending, families: List[Family]) -> None:
    ending.is_asked = True
    ending.end(families, is_own=False)


def ending_of(env: Dict[str, str]) -> Ending:
    """How processes with that environment end."""
    return Ending(float(env.get(GRACE) or 10))


def wait(processes: "List[subprocess.Popen[bytes]]") -> int:
    """Wait for all; returns the first code that is not zero, after which the others are ended."""
    while True:
        codes = [process.poll() for process in processes]
        for code in codes:
            if code:
                return 128 - code if code < 0 else code
        if None not in codes:
            return 0
        time.sleep(0.1)


def close(connection: socket.socket) -> None:
    """Close the connection even while another thread reads from it."""
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
    connection.close()


def announce(place: str, port: int, process: int) -> None:
    """Write the address of this node's agent where all nodes see it."""
    master = os.environ.get("AZ_BATCH_MASTER_NODE", "").partition(":")[0] or "127.0.0.1"
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect((master, 9))  # sends nothing: finds our own address on the way there
        address = probe.getsockname()[0]
    name, agents = os.environ["AZ_BATCH_NODE_ID"], store_of(place)
    agents.prepare()
    agents.write(name, {"node": name, "address": address, "port": port, "pid": process})


def serve() -> int:
    """Leave an agent behind on this node; the scheduler waits until it listens."""
    private = take((KEY, AGENTS))
    agent = Agent(private[KEY])
    process = os.fork()
    if process:
        announce(private[AGENTS], agent.port, process)
        sys.stdout.write(f"{process}\n")
        return 0
    signal.signal(signal.SIGTERM, agent.ask)
    os.setsid()
    null = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(null, number)
    agent.serve()
    return 0
