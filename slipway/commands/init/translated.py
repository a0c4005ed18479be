"""`slipway init --from FILE`: the folder of a job of another system, and what of it has no counterpart."""

import os
import shlex
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from slipway.commands.asking import show
from slipway.commands.init.foreign.translate import Translation, translate
from slipway.commands.init.writing import write_files
from slipway.terminal.characters import printable

_KINDS: Mapping[str, str] = {
    "unknown": "unknown",
    "none": "no counterpart",
    "secret": "a secret",
    "changed": "look at it",
}
_RESULTS = "results are kept if the script writes them into $AZ_BATCHAI_OUTPUT_{output}"


def run(file: Path, to: Path | None, *, as_json: bool) -> int:
    """Write the files of the job into the folder of its code, or into another. Raises Failure."""
    result = translate(file)
    folder = to or result.folder
    write_files(folder, result.files)
    words = shlex.join(["slipway", "run", str(folder)])
    answer = {
        "folder": str(folder),
        "files": list(result.files),
        "system": result.system,
        "run": " ".join([words, *result.options]),
        "notes": [asdict(note) for note in result.notes],
    }
    show(answer, lambda _: _words(file, answer, result), as_json=as_json)
    return 0


def _words(file: Path, answer: Mapping[str, object], result: Translation) -> list[str]:
    """The written files, the notes in the order of the file, and the next step."""
    where = printable(str(file))
    return [
        f"wrote {answer['folder']}{os.sep} with {', '.join(result.files)}, for {result.system}",
        *(f"{where}:{one.line}: {one.member}: {_KINDS[one.kind]}; {one.text}" for one in result.notes),
        _RESULTS.format(output=result.output),
        f"run it: {answer['run']}",
    ]
