"""Starts the processes of a job on its nodes, through their agents (`agent`); on one node, without an agent.

`hosts` finds the agents that answer; `on` runs a command once for each rank, `rsh` once on a node, as mpirun
calls it. The first process that fails ends all of them.
"""

import base64
import json
import os
import signal
import socket
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple

from shared.engines.node.agent import (
    AGENTS,
    BY_SIGTERM,
    CONNECT,
    GRACE,
    KEY,
    close,
    ending_of,
    serve,
    start,
    wait,
)
from shared.engines.node.blobs import store_of
from shared.engines.node.families import Family
from shared.engines.node.private import private_input

#: The variable with the number of nodes of the job.
NODES = "SLIPWAY_NODES"
#: The file in which `hosts` leaves its result, in the working directory of the task.
LIST = "agents.json"
#: Seconds: for all agents to answer; and for the scheduler to requeue a job that has lost a node.
PATIENCE, TAKEN_BACK = 300.0, 120.0
#: The exit code of a process that could not be started, or whose end is not known.
NOT_STARTED, LOST = 127, 255


def call(agent: Dict[str, Any], order: Dict[str, Any]) -> socket.socket:
    """Send an order to an agent; returns the connection. Raises OSError."""
    connection = socket.create_connection((agent["address"], agent["port"]), CONNECT)
    connection.settimeout(None)
    connection.sendall((json.dumps(dict(order, key=os.environ[KEY])) + "\n").encode())
    return connection


def hosts() -> int:
    """Find the agents of the task's nodes, this one first; print the nodes' addresses."""
    count, own = int(os.environ.get(NODES) or 1), os.environ.get("AZ_BATCH_NODE_ID", "localhost")
    if count == 1:
        sys.stdout.write(f"{own}\n")
        return 0
    until, agents = time.time() + PATIENCE, []  # type: Tuple[float, List[Dict[str, Any]]]
    while len(agents) < count and time.time() < until:
        agents = [agent for agent in _announced() if _answers(agent)]
        time.sleep(0 if len(agents) >= count else 1)
    if len(agents) < count:
        sys.stderr.write(f"{len(agents)} of {count} nodes answer\n")
        return 1
    agents = sorted(agents, key=lambda agent: (agent["node"] != own, agent["node"]))[:count]
    if len({agent["address"] for agent in agents}) < count:
        # The nodes are processes of one machine, which has all the addresses that the scheduler gave them.
        addresses = os.environ.get("AZ_BATCH_HOST_LIST", "").split(",")
        for number, agent in enumerate(agents):
            agent["name"] = addresses[number] if len(set(addresses)) == count else agent["node"]
    Path(_working(), LIST).write_text(json.dumps(agents))
    sys.stdout.write("".join(agent.get("name", agent["address"]) + "\n" for agent in agents))
    return 0


def _working() -> str:
    return os.environ.get("AZ_BATCH_TASK_WORKING_DIR") or "."


def _announced() -> List[Dict[str, Any]]:
    agents = store_of(os.environ[AGENTS])
    announced = {name: agents.read(name) for name in agents.names()}
    return [agent for name, agent in announced.items() if agent.get("node") == name]


def _answers(agent: Dict[str, Any]) -> bool:
    """Whether the agent of that node listens there: an old one may be gone."""
    with suppress(OSError, ValueError), call(agent, {}) as connection:
        frame = json.loads(connection.makefile("rb").readline())
        return base64.b64decode(frame["hello"]).decode() == str(agent["node"])
    return False


class Relay(threading.Thread):
    """One connection to an agent: prints what its processes print; `code` is None until they end."""

    def __init__(self, connection: socket.socket) -> None:
        super().__init__(daemon=True)
        self._connection = connection
        self.code: Optional[int] = None

    def run(self) -> None:
        """Relay the output until the agent reports how its processes ended, or is gone."""
        with suppress(OSError, ValueError):
            for line in self._connection.makefile("rb"):
                for kind, text in json.loads(line).items():
                    data = base64.b64decode(text)
                    if kind == "code":
                        self.code = int(data)
                        return
                    _print(2 if kind == "err" else 1, data)


def _print(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


def blocks(count: int, tasks: int, first: int) -> List[Tuple[int, List[int]]]:
    """The ranks of each node that has any, in blocks, from the node `first` on."""
    each = -(-tasks // count)
    ranks = [(first + node, list(range(tasks))[node * each : (node + 1) * each]) for node in range(count)]
    return [(node, own) for node, own in ranks if own]


def run_ranks(count: int, tasks: int, first: int, argv: List[str]) -> int:
    """Run a command for each rank; returns the code of the first that fails."""
    if int(os.environ.get(NODES) or 1) == 1:
        return _run_locally(tasks, argv, private_input())
    agents = json.loads(Path(_working(), LIST).read_text())
    return _run_on(
        [(agents[node], ranks) for node, ranks in blocks(count, tasks, first)], argv, private_input()
    )


def rsh(host: str, words: List[str]) -> int:
    """Run a shell command on one node."""
    agents = json.loads(Path(_working(), LIST).read_text())
    (agent,) = [one for one in agents if host in (one.get("name"), one["address"])][:1]
    return _run_on([(agent, [0])], ["bash", "-c", " ".join(words)])


def _run_locally(tasks: int, argv: List[str], private: str) -> int:
    processes, code = [], BY_SIGTERM
    try:
        for rank in range(tasks):
            processes.append(start(argv, dict(os.environ, SLIPWAY_RANK=str(rank)), None, private))
        code = wait(processes)
    finally:
        ending_of(dict(os.environ)).end([Family(one) for one in processes], is_own=code != BY_SIGTERM)
    return code


def _run_on(parts: List[Tuple[Dict[str, Any], List[int]]], argv: List[str], private: str = "") -> int:
    relays: List[Relay] = []
    open_ones: List[socket.socket] = []
    try:
        for agent, ranks in parts:
            order = {"argv": argv, "env": dict(os.environ), "ranks": ranks, "input": private}
            connection = call(agent, order)
            open_ones.append(connection)
            relays.append(Relay(connection))
            relays[-1].start()
        while any(relay.is_alive() for relay in relays):
            if any(relay.code for relay in relays):
                break
            if any(relay.code is None and not relay.is_alive() for relay in relays):
                return _lost()
            time.sleep(0.05)
        return next((relay.code for relay in relays if relay.code), 0)
    finally:
        _leave_agents(open_ones, relays)


def _leave_agents(connections: List[socket.socket], relays: List[Relay]) -> None:
    """Let the agents end what they have started, and report it: an agent notices that its caller is done."""
    for connection in connections:
        with suppress(OSError):
            connection.shutdown(socket.SHUT_WR)
    until = time.monotonic() + float(os.environ.get(GRACE) or 10) + CONNECT
    for relay in relays:
        relay.join(max(0.0, until - time.monotonic()))
    for connection in connections:
        close(connection)


def _lost() -> int:
    """Wait after the loss of a node, since the scheduler soon ends the whole job, to run it again."""
    sys.stderr.write("A node of the job does not answer any more\n")
    time.sleep(TAKEN_BACK)
    return LOST


def _leave(number: int, frame: Any) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # a second one would not let the others end
    raise SystemExit(128 + number)


def main(words: List[str]) -> int:
    """`serve`, `hosts`, `on NODES TASKS FIRST WORD…`, or `rsh HOST WORD…`."""
    signal.signal(signal.SIGTERM, _leave)
    try:
        if words[0] == "on":
            return run_ranks(int(words[1]), int(words[2]), int(words[3]), words[4:])
        if words[0] == "rsh":
            return rsh(words[1], words[2:])
        return serve() if words[0] == "serve" else hosts()
    except OSError as error:
        sys.stderr.write(f"{error}\n")
        return NOT_STARTED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
