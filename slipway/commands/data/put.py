"""`slipway data put`: uploads files and folders that the container does not have yet."""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from shared.jobspec import name_flaw
from slipway.client.drops.folder import linked_folders
from slipway.client.files.datalake import DataFile, DataLake, Fingerprint, fingerprint
from slipway.client.files.names import undecodable
from slipway.client.files.output import PARALLEL
from slipway.client.files.saving import Outcome
from slipway.client.snapshot.ignore_file import NAME as IGNORE_FILE
from slipway.client.snapshot.ignore_file import IgnoreFile
from slipway.client.snapshot.links import without_refused_links
from slipway.client.snapshot.not_files import not_files
from slipway.client.snapshot.rules import Rules
from slipway.client.snapshot.words import of_others, some, taken_back
from slipway.commands.asking import show
from slipway.commands.data.container import data_lake
from slipway.failure import USAGE, Failure
from slipway.terminal.bar import progress
from slipway.terminal.characters import printable
from slipway.terminal.screen import say


@dataclass(frozen=True)
class LocalFile:
    """A local file, and its name in the container."""

    path: Path
    name: str


def run(
    paths: Sequence[Path], to: str, container: str, settings_file: Path | None, *, as_json: bool = False
) -> int:
    """Upload, and show the outcome; 1 if a file could not be sent. Raises Failure."""
    files = to_put(paths, to)

    async def ask() -> Outcome:
        async with data_lake(container, settings_file) as lake:
            with progress(sum(file.path.stat().st_size for file in files)) as bar:
                return await put(lake, files, bar.advance)

    outcome = asyncio.run(ask())
    for name, reason in outcome.failed:
        say(f"{printable(name)}: {reason}")
    mounted = f"$AZ_BATCHAI_MOUNT_ROOT/{container}/{_folder(to)}"
    answer = {
        "sent": outcome.saved,
        "bytes": outcome.bytes,
        "present": outcome.present,
        "mounted": mounted,
        "failed": outcome.failures,
    }
    addition = f"; {outcome.present} were there already" if outcome.present else ""
    count = f"{outcome.saved} file{'' if outcome.saved == 1 else 's'}, {outcome.bytes:,} bytes"
    show(answer, lambda _: [f"{count}, for jobs in {mounted}{addition}"], as_json=as_json)
    return int(bool(outcome.failed))


def to_put(paths: Sequence[Path], to: str) -> list[LocalFile]:
    """The files of these paths with their names. Raises Failure for a missing file, or an invalid name."""
    files = [file for path in paths for file in _files_of(path, _folder(to))]
    twins = len(files) - len({file.name for file in files})
    if twins:
        raise Failure(f"{twins + 1} of these files would get the same name; put them into folders with --to")
    for file in files:
        if flaw := undecodable(file.name) or name_flaw(file.name):
            raise Failure(f"{printable(file.name)} {flaw}; give it another name")
    return files


async def put(lake: DataLake, files: Sequence[LocalFile], advance: Callable[[int], None]) -> Outcome:
    """Upload the files that the container does not have yet, several at once."""
    outcome, waiting = Outcome(), iter(files)
    known_files = await _present(lake, files)

    async def worker() -> None:
        for file in waiting:
            try:
                content = await asyncio.to_thread(fingerprint, file.path)
                present = known_files.get(file.name)
                if present and _is_same(present, content):
                    outcome.present += 1
                    advance(content.size)
                    continue
                await lake.write(file.path, file.name, content, advance)
                outcome.bytes += content.size
                outcome.saved += 1
            except (Failure, OSError) as error:
                reason = str(error) if isinstance(error, Failure) else error.strerror or "it cannot be read"
                outcome.failed.append((file.name, reason))

    await asyncio.gather(*(worker() for _ in range(PARALLEL)))
    return outcome


def _is_same(present: DataFile, content: Fingerprint) -> bool:
    same = (present.size, present.md5) == (content.size, content.md5)
    return same and present.executable is content.executable


async def _present(lake: DataLake, files: Sequence[LocalFile]) -> Mapping[str, DataFile]:
    """The container's files below the folders that files are sent to."""
    tops = {file.name.partition("/")[0] for file in files}
    listed = (
        await asyncio.gather(*(lake.files(top) for top in sorted(tops))) if len(tops) < PARALLEL else None
    )
    return {one.name: one for some in listed or [await lake.files()] for one in some}


def _files_of(path: Path, folder: str) -> Iterator[LocalFile]:
    name = path.resolve().name  # of "." too
    if path.is_file():
        yield LocalFile(path, f"{folder}{name}")
    elif path.is_dir():
        ignore, rules = IgnoreFile.of_folder(path), Rules(path)
        for link in linked_folders(path):
            if not ignore.fits(link):
                say(f"{path / link} is a link to a folder, whose files are not sent; name that folder, too")
        for line in of_others(not_files(path, ignore.fits)):
            say(line)
        files = [one.relative_to(path).as_posix() for one in sorted(path.rglob("*")) if one.is_file()]
        files = [one for one in files if not ignore.fits(one)]
        secrets = [one for one in files if rules.is_secret(one)]
        if secrets:
            secrecy = "it may be a secret" if len(secrets) == 1 else "they may be secrets"
            say(f"left out: {some(secrets)} ({secrecy}; {taken_back(secrets[0])})")
        inside = [one for one in files if one not in {*secrets}]
        inside = without_refused_links(path, inside, ignore, rules)
        if not inside:
            hint = f" but what {IGNORE_FILE} leaves out" if (path / IGNORE_FILE).is_file() else ""
            raise Failure(f"{path} holds no files{hint}")
        for one in inside:
            yield LocalFile(path / one, f"{folder}{name}/{one}")
    else:
        raise Failure(f"{path}: there is no such file or folder")


def _folder(to: str) -> str:
    """The prefix of the names. Raises Failure for a folder that jobs could not name."""
    folder = to.strip("/")
    if not folder:
        return ""
    flaw = name_flaw(folder) or ("has an empty level" if "" in folder.split("/") else "")
    if flaw:
        raise Failure(f"--to {printable(to)} {flaw}; name a folder such as team/digits", USAGE)
    return f"{folder}/"
