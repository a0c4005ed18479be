"""The names of engines in texts."""

import re

from shared.engines.registry import ENGINES

#: Names in job files and shells that all engines share, and the tool that wrote these files.
FORMAT = re.compile(r"\b(?:AZ|AZURE)_BATCHAI_\w*|microsoft\\?\.batchai|`?\baz batchai\b", re.IGNORECASE)
#: Engines whose name is an ordinary word: only a string, a module or a setting with the name counts.
COMMON = {"batch": r"""["']batch["']|engines\.batch\b|SLIPWAY_BATCH_"""}
#: Job files are Batch AI's format; its API, emulator, engine, cluster and service are the engine's.
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
    """The names of engines in a text, except those of the job format."""
    return NAMES.findall(FORMAT.sub("", text))
