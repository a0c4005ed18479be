"""`slipway submit`: ask for a job through the HTTP API."""

import sys
from pathlib import Path

from cli.failure import Failure
from cli.jobs import asking
from cli.service import Service


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
        job = await api.submit(document, file="standard input" if stdin else str(file))
        print(f"{job['id']}  {job['name']}: {job['state']}")
        return 0

    return asking(ask, url, key)
