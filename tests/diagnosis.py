"""The problems that `slipway validate` reports for a document."""

from pathlib import Path

from shared.jobspec import Problem, Source
from slipway.client.request.diagnose import diagnosed


def problems_of(data: bytes, path: Path, name: str = "") -> tuple[Problem, ...]:
    """All problems of one document with their places: a slipway.json, a message, a job.json."""
    return diagnosed(Source(data, name or path.name), path)
