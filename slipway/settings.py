"""Which settings a command works with: a file's, the environment's, or those of a local stack."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from shared.settings import Settings
from slipway.failure import Failure

ROOT = Path(__file__).resolve().parents[1]
#: Where `slipway up` keeps its state, and beside it the settings of its app.
UP = ROOT / ".local" / "up"
_FILE = "local.settings.json"
#: Beside it, while it runs: the address of its API.
ADDRESS = "url"
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
        return SourcedSettings(Settings(_values(file)), str(file))
    if any(name.startswith("SLIPWAY_STORAGE") for name in environment):
        return SourcedSettings(Settings(dict(environment)), "the environment")
    local = UP / _FILE
    if local.is_file():
        return SourcedSettings(Settings(_values(local)), display_path(local))
    raise Failure(
        "there are no settings: start a local stack (`slipway up`), name a file (--settings FILE), "
        "or set SLIPWAY_STORAGE and the others in the environment"
    )


def local_url(data: Path = UP) -> str:
    """Where the API of the stack of `up` listens; the usual address when it does not run."""
    try:
        return (data / ADDRESS).read_text(encoding="utf-8").strip() or _USUAL
    except OSError:
        return _USUAL


def address_beside(file: Path | None) -> str:
    """The address of the stack whose file of settings this is; "" for another file, and while none runs."""
    try:
        return (file.parent / ADDRESS).read_text(encoding="utf-8").strip() if file else ""
    except (OSError, UnicodeDecodeError):
        return ""


def is_local(source: str) -> bool:
    """Whether settings that `load` found are those of the local stack."""
    return source == display_path(UP / _FILE)


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
