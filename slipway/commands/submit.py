"""`slipway submit`: ask for a job through the HTTP API."""

import sys
from pathlib import Path

from slipway.client.service import Service, placed
from slipway.commands.jobs import asking, why
from slipway.failure import Failure


def run(file: Path, url: str, key: str) -> int:
    """Post a job.json or a message, and show what became of it; `-` is standard input.

    Raises Failure, with the places in the file.
    """
    stdin = str(file) == "-"
    try:
        document = sys.stdin.buffer.read() if stdin else file.read_bytes()
    except OSError as error:
        raise Failure(f"{file}: cannot be read: {error.strerror}") from error

    async def ask(api: Service) -> int:
        return await submit(api, document, "standard input" if stdin else str(file))

    return asking(ask, url, key)


async def submit(api: Service, document: bytes, name: str) -> int:
    """Post it, and show its warnings, as of a file of that name, and what it waits for."""
    job = await api.submit(document, file=name)
    if warnings := placed(job.get("problems", []), name):
        sys.stderr.write(f"{warnings}\n")
    print(f"{job['id']}  {job['name']}: {job['state']}")
    if "waiting" in job:
        sys.stderr.write(f"  {why(job)}\n")
    return 0
