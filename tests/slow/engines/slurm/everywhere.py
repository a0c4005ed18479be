"""A scheduler's launcher that has this machine only: `everywhere.py NODES TASKS FIRST COMMAND...`."""

import os
import subprocess
import sys


def main() -> int:
    nodes, tasks, first = (int(word) for word in sys.argv[1:4])
    running = []
    for rank in range(tasks):
        node = first + rank * nodes // tasks
        env = {**os.environ, "RANK": str(rank), "NODE": f"node{node}"}
        running.append(subprocess.Popen(sys.argv[4:], env=env))
    return max(process.wait() for process in running)


if __name__ == "__main__":
    sys.exit(main())
