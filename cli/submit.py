"""`slipway submit`: ask for a job through the HTTP API."""

from pathlib import Path

from cli.failure import Failure
from cli.jobs import asking
from cli.service import Service


def run(file: Path, url: str, key: str) -> int:
    """Post a job.json or a message, and show what became of it. Raises Failure, with places in the file."""
    try:
        document = file.read_bytes()
    except OSError as error:
        raise Failure(f"{file}: cannot be read: {error.strerror}") from error

    async def ask(api: Service) -> int:
        job = await api.submit(document, file=str(file))
        print(f"{job['id']}  {job['name']}: {job['state']}")
        return 0

    return asking(ask, url, key)
