"""The names of engines in texts."""

import re

from shared.engines.registry import ENGINES

#: Names that stand in job files and in shells, whichever engine runs the job, and the tool that wrote them.
FORMAT = re.compile(r"\b(?:AZ|AZURE)_BATCHAI_\w*|microsoft\\?\.batchai|`?\baz batchai\b", re.IGNORECASE)
#: A job file is one of Batch AI; its API, its emulator and its clusters are the engine's.
#: An engine whose name is an ordinary word: its name is a text of its own, of a module, or of a setting.
COMMON = {"batch": r"""["']batch["']|engines\.batch\b|SLIPWAY_BATCH_"""}
NAMES = re.compile(
    "|".join(
        [
            *(COMMON.get(name, name) for name in ENGINES),
            *(f"{one.title} (?:api|emulator|engine|cluster|service)" for one in ENGINES.values()),
        ]
    ),
    re.IGNORECASE,
)


def engines_named_in(text: str) -> list[str]:
    """The names of engines in a text, beside those of the job format."""
    return NAMES.findall(FORMAT.sub("", text))
