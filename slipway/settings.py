"""Which settings a command works with: a file's, the environment's, or those of a local stack."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from slipway.failure import Failure

if TYPE_CHECKING:
    from shared.settings import Settings

ROOT = Path(__file__).resolve().parents[1]
#: Where `slipway up` keeps its state, and beside it the settings of its app.
UP = ROOT / ".local" / "up"
_FILE = "local.settings.json"
#: Beside it, while it runs: the address of its API.
ADDRESS = "url"
#: And a folder with the key for its nodes, and what is known of them.
LOGIN, LOGIN_KEY = "ssh", "id_ed25519"
_USUAL = "http://127.0.0.1:7071"


class SourcedSettings(NamedTuple):
    """Settings, and where they are from."""

    settings: Settings
    source: str


def load(file: Path | None, environment: Mapping[str, str]) -> SourcedSettings:
    """The settings and their source: the file if one is named, else the environment, else a local stack's.

    Raises Failure.
    """
    if file is not None:
        return _sourced(_values(file), str(file))
    if names_storage(environment):
        return _sourced(environment, "the environment")
    local = local_stack() / _FILE
    if local.is_file():
        return _sourced(_values(local), display_path(local))
    raise Failure(
        "there are no settings: start a local stack (`slipway up`), name a file (--settings FILE), "
        "or set SLIPWAY_STORAGE and the others in the environment"
    )


def _sourced(values: Mapping[str, str], source: str) -> SourcedSettings:
    from shared.settings import Settings  # with the table of all settings, which many commands do without

    return SourcedSettings(Settings(dict(values)), source)


def names_storage(environment: Mapping[str, str]) -> bool:
    """Whether the environment says which storage account to use."""
    return any(name.startswith("SLIPWAY_STORAGE") for name in environment)


def local_stack() -> Path:
    """The folder of the local stack: the usual one, unless only another stack runs. Raises Failure."""
    running = running_stacks()
    if UP in running or not running:
        return UP
    if len(running) == 1:
        return running[0]
    folders = ", ".join(map(display_path, running))
    raise Failure(f"several stacks run, with their data in {folders}; choose one by --url and --settings")


def running_stacks() -> list[Path]:
    """The folders of all local stacks of this person that run: the usual one, and others.

    Others are those of `up --data`, and of other clones: an installed command does not belong to a clone.
    """
    # One that was killed leaves its address and its note, but not its lock.
    return [one for one in (UP, *sorted(_noted_folders() - {UP})) if _url_in(one) and is_locked(one)]


def file_of_stack(url: str) -> Path | None:
    """The settings of the local stack that answers at this address; None where none does."""
    stacks = (one for one in running_stacks() if url and _url_in(one) == url.rstrip("/"))
    return next((one / _FILE for one in stacks), None)


def login_of_stack(url: str) -> Path | None:
    """The folder with the key for the nodes of the local stack at this address; None where none has one."""
    file = file_of_stack(url)
    folder = file.parent / LOGIN if file else None
    return folder if folder and (folder / LOGIN_KEY).is_file() else None


def _noted_folders() -> set[Path]:
    """The folders that are noted, without those of other users: a note can outlive its folder."""
    folders = set[Path]()
    for note in _notes().glob("*"):
        with suppress(OSError, ValueError):  # the stack has just ended, or this is not a note
            folder = Path(note.read_text(encoding="utf-8"))
            if folder.is_absolute() and folder.stat().st_uid == os.getuid():
                folders.add(folder)
    return folders


@contextmanager
def noted_stack(folder: Path) -> Iterator[None]:
    """Note the folder of a stack for the length of the block, so that commands elsewhere find it.

    A home that cannot be written to does no harm: commands of the same clone need no note.
    """
    folder = folder.resolve()
    note = _notes() / hashlib.sha256(str(folder).encode()).hexdigest()[:16]
    with suppress(OSError):
        note.parent.mkdir(parents=True, exist_ok=True)
        note.write_text(str(folder), encoding="utf-8")
    try:
        yield
    finally:
        with suppress(OSError):
            note.unlink(missing_ok=True)


def local_url() -> str:
    """Where the API of the local stack listens; the usual address when none runs. Raises Failure."""
    return (_url_in(folder) if is_locked(folder := local_stack()) else "") or _USUAL


def is_local_url(url: str) -> bool:
    """Whether a local stack that runs listens there, or the usual one would."""
    return url in (_USUAL, *map(_url_in, running_stacks()))


def address_beside(file: Path | None) -> str:
    """The address of the stack whose file of settings this is; "" for another file, and while none runs."""
    return _url_in(file.parent) if file else ""


def is_local(source: str) -> bool:
    """Whether settings that `load` found are those of a local stack."""
    return source in [display_path(folder / _FILE) for folder in (UP, *running_stacks())]


def _notes() -> Path:
    """A file for each stack that runs, which names its folder; by the XDG base directories."""
    base = os.environ.get("XDG_STATE_HOME", "")
    folder = Path(base) if base.startswith("/") else Path.home() / ".local" / "state"
    return folder / "slipway" / "stacks"


def _url_in(folder: Path) -> str:
    """The address of the stack with its data there; "" while it does not run."""
    try:
        return (folder / ADDRESS).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return ""


def is_locked(folder: Path) -> bool:
    """Whether a stack holds the folder now. Makes nothing."""
    import fcntl  # not on Windows, where no local stack runs

    try:
        with (folder / "lock").open("rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def display_path(path: Path) -> str:
    """A path as a person would type it here."""
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)


def document(file: Path, what: str) -> dict[str, object]:
    """A JSON object from a file. Raises Failure with the place of what is wrong."""
    from shared.jobspec import read  # the whole reader of jobs, which commands without a file do without

    try:
        data = file.read_bytes()
    except OSError as error:
        raise Failure(f"{file}: cannot be read: {error.strerror}; {what} was expected there") from error
    content, problems = read(data)
    if content is None:
        raise Failure(f"{file}: {problems[0].message}; {what} was expected")
    return content


def _values(file: Path) -> dict[str, str]:
    values = document(file, 'settings, {"Values": {"NAME": "text"}},').get("Values")
    if not isinstance(values, dict) or not all(isinstance(value, str) for value in values.values()):
        raise Failure(f'{file}: needs "Values", an object of texts, like local.settings.example.json')
    return values
