"""Upload a folder to the drop container, its scripts first and its job.json last."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from shared.adapters.storage.drops import BlobDrops
from shared.adapters.storage.wire.block import stage_block
from shared.core.errors import Unavailable
from shared.intake.drops.folder import ENVELOPE_FILE, JOB_FILE
from shared.intake.drops.left_out import Others, left_out
from shared.jobspec import Source, has_errors, is_ignored, is_left_over, name_flaw, report
from shared.settings import Settings
from slipway.client.drops.folder_drops import DropsToBe
from slipway.client.drops.outlook import Outlook, outlook
from slipway.client.files.names import undecodable
from slipway.client.files.own_file import own_file
from slipway.client.files.save import MARK
from slipway.client.request.diagnose import diagnosed, scripts_named
from slipway.client.snapshot.ignore_file import NAME as IGNORE_FILE
from slipway.client.snapshot.ignore_file import IgnoreFile
from slipway.client.snapshot.links import without_refused_links
from slipway.client.snapshot.not_files import not_files
from slipway.client.snapshot.rules import Rules
from slipway.client.snapshot.words import of_others, some, taken_back
from slipway.client.storage.account import storage_account
from slipway.client.storage.replace_blob import unsendable
from slipway.failure import REJECTED, Failure
from slipway.terminal.characters import printable
from slipway.terminal.screen import say

#: What Slipway keeps in a folder for itself.
_OURS = (IGNORE_FILE, MARK)
#: The file that completes a drop is uploaded last, so that an incomplete one is not accepted.
LAST = (ENVELOPE_FILE, JOB_FILE)


def check(folder: Path, target: str) -> None:
    """Raise Failure, with every problem, for a job.json that cannot run: then nothing is uploaded.

    The same applies if the job would run the files of another upload, not those that go to `target`.
    """
    for file in filter(None, (own_file(folder, ENVELOPE_FILE), own_file(folder, JOB_FILE))):
        problems = diagnosed(Source(file.read_bytes()), file)
        if has_errors(problems):
            shown = report.text(report.problems_as_json(problems), str(file)).rstrip()
            raise Failure(f"nothing was uploaded, because the job cannot run\n{shown}", REJECTED)
    if (job := own_file(folder, JOB_FILE)) is None:
        return  # scripts for a template
    own = f"{folder.resolve().name}/"
    for name in () if f"{target}/" == own else scripts_named(job, target):
        if name.startswith(own) and (folder / (path := name.removeprefix(own))).is_file():
            raise Failure(
                f"nothing was uploaded: {path} would go to {target}/, and the job.json runs {name}, of "
                f"another upload; write <SLIPWAY_FOLDER>/{path} there",
                REJECTED,
            )


async def has_container(settings: Settings, name: str) -> bool:
    """Whether the storage account has a blob container of that name. Raises Failure, as for one only to read.

    It is tried with a write that leaves nothing.
    """
    async with storage_account(settings) as account:
        if not await account.blobs.get_container_client(name).exists():
            return False
        try:
            return await stage_block(account.lists, name)
        except Unavailable as error:
            raise Failure(
                f"the container {name} can be seen and takes no files: {error}; have the role Storage Blob "
                "Data Contributor on it, and no lock, for `run` and `drop`"
            ) from error


def target_of(folder: Path, to: str) -> str:
    """The folder of the container that the files go to. Raises Failure for a folder that Slipway ignores."""
    target = to.strip("/") if to else folder.resolve().name  # of "." too
    flaw = name_flaw(target) or ("has an empty level" if "" in target.split("/") else "")
    if flaw := flaw or ("has a hidden level" if is_ignored(target) else ""):
        remedy = "name another one, e.g. --to team/digits"
        raise Failure(f"{printable(to or target)} is not a folder to drop into: it {flaw}; {remedy}")
    return target


def check_folder(folder: Path) -> None:
    """Raise Failure if it is not a folder."""
    if not folder.is_dir():
        raise Failure(f"{folder} is not a folder; name one with a script and a job.json")


def to_upload(folder: Path) -> Sequence[Path]:
    """The files of a folder in the order in which to upload them, without those that `.slipwayignore` names.

    It says what is left out, and why. Raises Failure when there is no file.
    """
    check_folder(folder)
    ignore, rules = IgnoreFile.of_folder(folder), Rules(folder)
    for name in LAST:
        if own_file(folder, name) and ignore.fits(name):
            raise Failure(
                f"{folder / IGNORE_FILE} leaves out {name}, which says what runs; add the line !{name} to it"
            )
    for name in linked_folders(folder):
        if not ignore.fits(name) and not is_left_over(name):
            say(f"{name} is a link to a folder, whose files are not uploaded; put the folder itself there")
    results = _results_in(folder)
    names = [name for name in _files_in(folder, results) if not ignore.fits(name)]
    secrets = [name for name in names if rules.is_secret(name)]
    _say_left_out(folder, ignore, rules, results)
    _say_secrets([name for name in secrets if not is_left_over(name.rpartition("/")[0])])
    names = [name for name in names if not is_left_over(name) and name not in {*secrets}]
    names = without_refused_links(folder, names, ignore, rules)
    for name in LAST:
        if (folder / name).is_file() and name not in names:
            raise Failure(f"{folder / name} says what runs, and is left out; put the file itself there")
    if not names:
        hint = f" but what {IGNORE_FILE} leaves out" if (folder / IGNORE_FILE).is_file() else ""
        raise Failure(f"{folder} holds no files{hint}; put a script and a job.json there")
    for name in names:
        if flaw := undecodable(name) or name_flaw(name):
            raise unsendable(folder / name, flaw)
    return sorted((folder / name for name in names), key=lambda path: (_rank(path), path))


def _results_in(folder: Path) -> set[Path]:
    """The folders to which outputs of jobs were downloaded."""
    return {mark.parent for mark in folder.rglob(MARK)} - {folder}


def _files_in(folder: Path, results: Collection[Path]) -> list[str]:
    """The files of a folder, but for those in folders of results."""
    return [
        path.relative_to(folder).as_posix()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and {*results}.isdisjoint(path.parents)
    ]


def _say_left_out(folder: Path, ignore: IgnoreFile, rules: Rules, results: Collection[Path]) -> None:
    """Say what is not uploaded, but for secrets and links, of which others tell."""
    places = [f"{one.relative_to(folder).as_posix()}/" for one in sorted(results)]

    def is_passed_over(name: str) -> bool:
        return ignore.fits(name) or is_left_over(name) or any(f"{name}/".startswith(one) for one in places)

    hidden = [
        name
        for path in sorted(folder.rglob("*"))
        if is_left_over(name := path.relative_to(folder).as_posix())
        and not (ignore.fits(name) or rules.is_secret(name) or name in _OURS or path.is_dir())
    ]
    if sentence := left_out("", Others(tuple(hidden))):
        say(sentence)
    if places:
        say(f"left out: {some(places)} (results of jobs, which were downloaded to there)")
    for line in of_others(not_files(folder, is_passed_over)):
        say(line)


def _say_secrets(names: Sequence[str]) -> None:
    """Say which files of a folder are not uploaded because they may be secrets, and the other ways."""
    if names:
        way_back = next((f"; {taken_back(name)}" for name in names if not is_left_over(name)), "")
        say(f"left out: {some(names)} (give secrets by slipway run --secret, or from a Key Vault{way_back})")


def linked_folders(folder: Path) -> list[str]:
    """The links to folders in a folder, which uploads do not follow."""
    links = (path for path in folder.rglob("*") if path.is_symlink() and path.is_dir())
    return sorted(path.relative_to(folder).as_posix() for path in links)


async def outlook_of(settings: Settings, contents: Mapping[str, bytes], sizes: Mapping[str, int]) -> Outlook:
    """The outlook of the drop container with these files in it, whose sizes are those."""
    drops, receipts = settings.text("SLIPWAY_DROP_CONTAINER"), settings.text("SLIPWAY_RECEIPTS_CONTAINER")
    async with storage_account(settings) as account:
        blobs = BlobDrops(account, drops, receipts, ())
        return await outlook(settings, DropsToBe(contents, drops, blobs, sizes), [*contents])


def _rank(path: Path) -> int:
    return LAST.index(path.name) + 1 if path.name in LAST else 0
