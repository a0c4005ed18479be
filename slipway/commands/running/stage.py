"""What `slipway run` uploads: a folder with a job.json, made where there is none."""

import json
import re
import shlex
import shutil
import tempfile
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shared.jobspec import redact
from slipway.commands.document.compose import REQUIREMENTS, Choices, compose
from slipway.commands.document.order import Order, joined
from slipway.commands.drop import target_of, to_upload
from slipway.commands.running.hints import left_behind
from slipway.commands.running.secrets import add_secrets, secret_values, variables
from slipway.failure import Failure
from slipway.screen import say

_JOB_FILE, _ENVELOPE = "job.json", "slipway.json"
_NO_ORDER = Order()
_UNUSUAL = re.compile(r"[^A-Za-z0-9_.-]+")


@dataclass(frozen=True)
class Options:
    """How to run it, and where its output goes."""

    choices: Choices
    name: str = ""
    to: Path | None = None
    detach: bool = False
    keep: bool = False
    #: the script of the folder that runs; "" for the only one
    script: str = ""


def options(
    arguments: Sequence[str],
    nodes: int,
    image: str,
    env: Sequence[str],
    secret: Sequence[str],
    name: str,
    to: Path | None,
    cluster: str = "",
    gpus: int | None = None,
    order: Order = _NO_ORDER,
    *,
    detach: bool,
    keep: bool,
    script: str = "",
) -> Options:
    """The options of the command line. Raises Failure for an --env or a --secret without a value."""
    environment, secrets = variables(env), secret_values(secret)
    return Options(
        Choices(nodes, image, environment, tuple(arguments), cluster, gpus, order, secrets),
        name,
        to,
        detach,
        keep,
        script,
    )


@contextmanager
def staged(path: Path, options: Options, prefix: str) -> Iterator[Path]:
    """The folder to upload, with a job.json. Raises Failure."""
    choices = options.choices
    if path.is_dir() and (path / _JOB_FILE).is_file():
        if choices.anything or options.keep or options.script:
            raise Failure(f"{path / _JOB_FILE} says how the job runs; change it there, or run a script alone")
        if choices.envelope or choices.secrets:
            with _copied(to_upload(path), path, path.resolve().name) as copied:
                if choices.envelope:
                    _write_envelope(copied / _ENVELOPE, choices.envelope)
                if choices.secrets:
                    add_secrets(copied / _JOB_FILE, choices.secrets)
                yield copied
        else:
            yield path
        return
    script = _script(path, options.script)
    files = to_upload(path) if path.is_dir() else [script]
    if path.is_file():
        _warn(script)
    own = script.resolve().parent if path.is_dir() else script.with_suffix("")
    folder = target_of(own, options.name or _plain(own.name))
    listed = script.parent / REQUIREMENTS in files
    document = compose(script.name, folder, choices, prefix, requirements=listed)
    text, shown = (json.dumps(one, indent=2) + "\n" for one in (document, redact(document)))
    if options.keep and text != shown:
        raise Failure(
            "--save would write a secret into job.json; leave out --save, or save the job without it and "
            "give it at each run: slipway run --secret NAME"
        )
    if options.keep:
        _keep(script.parent / _JOB_FILE, text)
        if choices.envelope:
            _write_envelope(script.parent / _ENVELOPE, choices.envelope)
    else:
        say(f"made this job.json (--save keeps it):\n{shown.rstrip()}")
    with _copied(files, script.parent, folder.rpartition("/")[2]) as copied:
        (copied / _JOB_FILE).write_text(text, encoding="utf-8")
        if choices.envelope:
            _write_envelope(copied / _ENVELOPE, choices.envelope)
        yield copied


@contextmanager
def _copied(files: Sequence[Path], folder: Path, name: str) -> Iterator[Path]:
    """Some files of a folder, in a temporary folder of this name, which no Failure mentions.

    Files are linked, since data may be large, and files that are written to are copied.
    """
    with tempfile.TemporaryDirectory(prefix="slipway-run-") as base:
        copied = Path(base) / name
        copied.mkdir()
        for file in files:
            copy = copied / file.relative_to(folder)
            copy.parent.mkdir(parents=True, exist_ok=True)
            if file.name in (_JOB_FILE, _ENVELOPE):
                shutil.copyfile(file, copy)
            else:
                copy.symlink_to(file.resolve())
        try:
            yield copied
        except Failure as failure:
            if f"{copied}/" not in str(failure):
                raise
            raise Failure(str(failure).replace(f"{copied}/", "")) from None


def _plain(name: str) -> str:
    """A name that can stand in the path of a script, for a folder with any: `My data (2)` is `My-data-2`."""
    ascii_only = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    return _UNUSUAL.sub("-", ascii_only).strip("-.") or name


def _warn(script: Path) -> None:
    """Warn of files that a script needs and that are not uploaded with it."""
    if names := left_behind(script):
        say(
            f"only {script.name} is uploaded, and it names {', '.join(names)} beside it; for the whole "
            f"folder: slipway run --script {script.name} {shlex.quote(str(script.parent))}"
        )


def _keep(file: Path, text: str) -> None:
    try:
        with file.open("x", encoding="utf-8") as stream:
            stream.write(text)
    except FileExistsError:
        raise Failure(f"{file} is there already; run its folder, or leave out --save") from None
    say(f"wrote {file}")


def _write_envelope(file: Path, members: Mapping[str, Any]) -> None:
    """A slipway.json with these members, and with the others that one there has. Raises Failure."""
    try:
        document = json.loads(file.read_bytes()) if file.is_file() else {}
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise Failure(f"{file.name} is not a JSON object; correct it: slipway validate {file.name}")
    if isinstance(resources := document.get("resources"), dict) and "resources" in members:
        members = {**members, "resources": {**resources, **members["resources"]}}
    order = {name: members[name] for name in ("after", "afterFailure") if name in members}
    members = {**members, **joined(document, order)}
    file.write_text(json.dumps({**document, **members}, indent=2) + "\n", encoding="utf-8")


def check_path(path: Path) -> None:
    """Raise Failure if there is nothing to run."""
    if not path.exists():
        raise Failure(f"there is no {path}; name a script, or a folder with one")


def _script(path: Path, name: str) -> Path:
    """The script that runs: the path itself, or that of the folder. Raises Failure."""
    check_path(path)
    if path.is_dir():
        return _named_script(path, name) if name else _only_script(path)
    if name:
        raise Failure(f"--script names a script of a folder, and {path} is a file")
    return path


def _named_script(folder: Path, name: str) -> Path:
    if Path(name).name != name or not (folder / name).is_file():
        raise Failure(f"--script {name}: there is no such file in {folder}; name one at its top")
    return folder / name


def _only_script(folder: Path) -> Path:
    scripts = sorted(folder.glob("*.py")) or sorted(folder.glob("*.sh"))
    if len(scripts) != 1:
        count = f"{len(scripts)} scripts" if scripts else "no script"
        raise Failure(f"{folder} has {count} and no job.json; name the one that runs by --script")
    return scripts[0]
