"""`slipway validate`: the problems of job files, as a deployment with default settings would find them."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

from shared.spec import (
    Defaults,
    Envelope,
    JsonObject,
    Problem,
    complete,
    has_errors,
    read,
    read_envelope,
    script_pattern,
    validate,
)

#: Stands for the cluster of a deployment that this command does not know.
_CLUSTER = (
    "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/slipway"
    "/providers/Microsoft.BatchAI/workspaces/dev/clusters/dev-cluster-00"
)
_DEFAULTS = Defaults(
    cluster_id=_CLUSTER,
    storage_account="account",
    drop_container="scripts",
    drop_account="account",
    std_out_err_path_prefix="$AZ_BATCHAI_MOUNT_ROOT/logs",
)
_STDIN = "-"


def run(files: Sequence[str], stdin: BinaryIO | None = None) -> int:
    """Print the problems of each file and a verdict; 1 if any file has an error or cannot be read, else 0."""
    return max([_validate_one(file, stdin or sys.stdin.buffer) for file in files], default=0)


def problems_of(data: bytes, path: Path) -> tuple[Problem, ...]:
    """All problems of one document: a slipway.json (by its name), a message (by its members), a job.json."""
    document, problems = read(data)
    if document is None:
        return problems
    if path.name == "slipway.json":
        return read_envelope(document, drop=True)[1]
    if "properties" in document or not document.keys() & _members_of_a_message():
        return _of_job(document, path)
    envelope, found = read_envelope(document)
    spec = document.get("spec")
    if not isinstance(spec, dict):
        return found
    cluster = envelope.cluster if envelope else None
    return (*found, *(problem.under("/spec") for problem in _of_job(spec, path, cluster)))


def _of_job(document: JsonObject, path: Path, cluster: str | None = None) -> tuple[Problem, ...]:
    folder = path.parent.name
    completed, _ = complete(
        document, _DEFAULTS, script=_script(document, path), folder=folder, cluster=cluster
    )
    return validate(completed)[1]


def _script(document: JsonObject, path: Path) -> str | None:
    """The script that stands in for the placeholder of a template: one that lies beside it, else any name."""
    pattern = script_pattern(document)
    if pattern is None:
        return None
    beside = sorted(script.name for script in path.parent.glob(pattern))
    return beside[0] if beside else pattern.replace("*", "train")


def _members_of_a_message() -> set[str]:
    return {str(field.alias or name) for name, field in Envelope.model_fields.items()}


def _validate_one(file: str, stdin: BinaryIO) -> int:
    name = "standard input" if file == _STDIN else file
    try:
        data = stdin.read() if file == _STDIN else Path(file).read_bytes()
    except OSError as error:
        print(f"{name}: error: cannot be read: {error.strerror}")
        return 1
    problems = problems_of(data, Path("job.json") if file == _STDIN else Path(file).absolute())
    for problem in problems:
        print(
            f"{name}: {problem.severity} {problem.code} {problem.pointer}".rstrip() + f": {problem.message}"
        )
        print(f"    {problem.remedy}")
    print(f"{name}: {_verdict(problems)}")
    return int(has_errors(problems))


def _verdict(problems: Sequence[Problem]) -> str:
    counts = {
        kind: sum(found.severity == kind for found in problems) for kind in ("error", "warning", "hint")
    }
    told = [f"{count} {kind}{'s' if count > 1 else ''}" for kind, count in counts.items() if count]
    return ", ".join(told) or "valid"
