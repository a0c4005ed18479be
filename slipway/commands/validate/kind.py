"""kind: describes a file that is not a job file. Pure."""

import json
from pathlib import PurePath

from shared.jobspec import Source

#: Kinds by the name of the file.
_NAMES = {
    ".py": "a Python script",
    ".sh": "a shell script",
    ".bash": "a shell script",
    ".sbatch": "a Slurm batch script",
    ".yaml": "YAML",
    ".yml": "YAML",
    ".toml": "TOML",
    ".ini": "an INI file",
    ".md": "Markdown",
    ".txt": "plain text",
    ".csv": "CSV",
    ".ipynb": "a notebook",
}


def is_object(source: Source) -> bool:
    """Whether the text is one JSON object, of any meaning."""
    try:
        return isinstance(json.loads(source.text), dict)
    except (ValueError, RecursionError):
        return False


def kind(source: Source) -> str:
    """The most likely kind of a text, by its first characters and its name."""
    text = source.text.lstrip("\ufeff")
    if "\x00" in text:
        return "a binary file"
    if not text.strip():
        return "an empty file"
    first = text.split("\n", 1)[0]
    if first.startswith("#!"):
        return "a Slurm batch script" if "\n#SBATCH" in text else f"a script ({first[:60].strip()})"
    if text.lstrip().startswith("["):
        return "a JSON list"
    return _NAMES.get(PurePath(source.file).suffix.lower(), "a text that is not JSON")
