"""`slipway files`: lists an output directory of a job."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from slipway.client.files.finding import look_for
from slipway.client.files.walk import walk
from slipway.client.service import Service
from slipway.commands.asking import asking_about, show
from slipway.failure import USAGE, Failure
from slipway.terminal.characters import printable
from slipway.terminal.screen import say, table
from slipway.terminal.times import moment


def run(
    job: str,
    directory: str,
    path: str,
    url: str,
    key: str,
    *,
    attempt: int = 0,
    utc: bool = False,
    as_json: bool = False,
) -> int:
    """Print one line for each entry. Raises Failure with the directories that there are."""

    async def ask(api: Service, job_id: str) -> int:
        finding = await look_for(api, job_id, lambda: api.files(job_id, directory, path), bool)
        show(finding.what, partial(rows, utc=utc, proviso=finding.proviso), as_json=as_json)
        return 0

    return asking_about(job, ask, url, key, attempt)


class Folder(NamedTuple):
    """An output directory, and a folder in it."""

    directory: str
    path: str


def folder_of(folder: str, directory: str, path: str) -> Folder:
    """The output directory, and the folder in it. Raises Failure where both ways name one."""
    if not folder:
        return Folder(directory, path)
    if (directory, path) != ("stdouterr", "."):
        raise Failure("the folder is named twice: write FOLDER, or --directory and --path", USAGE)
    directory, _, inside = folder.partition("/")
    return Folder(directory, inside.strip("/") or ".")


def tree(job: str, folder: str, url: str, key: str, attempt: int = 0, *, as_json: bool) -> int:
    """Print every file of every output directory, or below a folder, as `download` and `cat` name them.

    Raises Failure.
    """
    patterns = [folder.strip("/")] if folder else []

    async def ask(api: Service, job_id: str) -> int:
        directories = await api.outputs(job_id)
        finding = await look_for(
            api, job_id, lambda: walk(api, job_id, directories, patterns), lambda tree: bool(tree.files)
        )
        outputs = finding.what
        files = [{"name": file.name, "bytes": file.size} for file in outputs.files]
        show(files, partial(_tree_rows, folder=patterns, proviso=finding.proviso), as_json=as_json)
        for name, reason in (*outputs.unread, *outputs.skipped):
            say(f"{printable(name)}: {reason}")
        return 0

    return asking_about(job, ask, url, key, attempt)


def _tree_rows(entries: Sequence[Mapping[str, Any]], *, folder: Sequence[str], proviso: str) -> list[str]:
    if not entries:
        return [" in ".join(["there are no files", *folder]) + proviso]
    return table([("name", "bytes"), *((printable(file["name"]), str(file["bytes"])) for file in entries)])


def rows(entries: Sequence[Mapping[str, Any]], *, utc: bool = False, proviso: str = "") -> list[str]:
    """Files as a table; folders end with a slash, and links that lead elsewhere are marked."""
    if not entries:
        return [f"there are no files{proviso}"]
    return table([("name", "bytes", "modified"), *(_row(entry, utc=utc) for entry in entries)])


def _row(file: Mapping[str, Any], *, utc: bool) -> tuple[str, ...]:
    modified = moment(file["modified"], utc=utc) if file["modified"] else ""
    kind = str(file.get("kind") or "")
    size = (
        "link"
        if file.get("link")
        else kind
        if kind in ("pipe", "socket", "device")
        else "left out"
        if file.get("leftOut")
        else ""
        if file["bytes"] is None
        else str(file["bytes"])
    )
    return printable(file["name"]) + "/" * (not size), size, modified
