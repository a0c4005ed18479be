"""A scheduler's launcher that has this machine only: `everywhere.py NODES TASKS FIRST COMMAND...`."""

import os
import subprocess
import sys
import tempfile


def main() -> int:
    nodes, tasks, first = (int(word) for word in sys.argv[1:4])
    running = []
    text = sys.stdin.buffer.read()
    for rank in range(tasks):
        node = first + rank * nodes // tasks
        env = {**os.environ, "RANK": str(rank), "NODE": f"node{node}"}
        with tempfile.TemporaryFile() as stdin:
            stdin.write(text)
            stdin.seek(0)
            running.append(subprocess.Popen(sys.argv[4:], env=env, stdin=stdin))
    return max(process.wait() for process in running)


if __name__ == "__main__":
    sys.exit(main())
