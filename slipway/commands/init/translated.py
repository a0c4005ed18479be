"""`slipway init --from FILE`: the folder of a job of another system, and what of it has no counterpart."""

import os
import re
import shlex
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from shared.jobspec import redact
from slipway.client.snapshot.ignore_file import NAME, IgnoreFile
from slipway.commands.asking import show
from slipway.commands.init.foreign.translate import SCRIPT, Translation, translate
from slipway.commands.init.writing import write_files
from slipway.failure import Failure
from slipway.terminal.characters import printable

_KINDS: Mapping[str, str] = {
    "unknown": "unknown",
    "none": "no counterpart",
    "secret": "a secret",
    "changed": "look at it",
}
#: The list of what jobs do not get, with the file; and what is more than a character in such a list.
_OF_THIS = "# Of another system: jobs do not need it, and it may have secrets.\n{}\n"
_SPECIAL = re.compile(r"[][*?!#\\]")
_RESULTS = "results are kept if the script writes them into $AZ_BATCHAI_OUTPUT_{output}"


def run(file: Path, to: Path | None, *, as_json: bool) -> int:
    """Write the files of the job into the folder of its code, or into another. Raises Failure."""
    result = translate(file)
    folder = to or result.folder
    files, path = dict(result.files), _path_in(file, folder, result)
    if path and not IgnoreFile.of_folder(folder).fits(path):
        if not (folder / NAME).exists():
            files[NAME] = _OF_THIS.format(_pattern(path))
        elif _has_secret(file, result):
            where = printable(str(file))
            raise Failure(f"{where} has a secret, and jobs get its folder: name it in {folder / NAME} first")
    write_files(folder, files)
    words = shlex.join(["slipway", "run", str(folder)])
    answer = {
        "folder": str(folder),
        "files": list(files),
        "system": result.system,
        "run": " ".join([words, *result.options]),
        "notes": [asdict(note) for note in result.notes],
    }
    show(answer, lambda _: _words(file, answer, result), as_json=as_json)
    return 0


def _path_in(file: Path, folder: Path, result: Translation) -> str:
    """The path of the file below the folder whose files a job gets; "" for one elsewhere, and the script."""
    path, top = file.absolute().parent.resolve() / file.name, folder.resolve()
    if result.system == SCRIPT or not path.is_relative_to(top):
        return ""
    return path.relative_to(top).as_posix()


def _has_secret(file: Path, result: Translation) -> bool:
    text = file.read_text(encoding="utf-8", errors="replace")
    return str(redact({"value": text})["value"]) != text or any(one.kind == "secret" for one in result.notes)


def _pattern(path: str) -> str:
    """A pattern for this path alone, or nearly so."""
    return "/" + _SPECIAL.sub("?", path)


def _words(file: Path, answer: Mapping[str, Any], result: Translation) -> list[str]:
    """The written files, the notes in the order of the file, and the next step."""
    where = printable(str(file))
    return [
        f"wrote {answer['folder']}{os.sep} with {', '.join(answer['files'])}, for {result.system}",
        *(f"{where}:{one.line}: {one.member}: {_KINDS[one.kind]}; {one.text}" for one in result.notes),
        _RESULTS.format(output=result.output),
        f"run it: {answer['run']}",
    ]
