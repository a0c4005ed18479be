"""The command `slipway_packages FILE` of a job's preparation: it makes the environment of the job. Pure.

No program of ours is on the nodes of every engine, so the preparation brings this one.
"""

from __future__ import annotations

import re
import shlex

from shared.engines.launch.programs import in_brief, joined

_USED = re.compile(r"(?<![\w-])slipway_packages(?![\w-])")
#: The files of the program.
PROGRAM = ("packages/environment", "packages/reuse", "packages/install")
_DEFINED = """\
slipway_packages() (
  for name in python python3; do
    command -v "$name" >/dev/null && exec "$name" -I -c {program} "$@"
  done
  echo "The packages of $1 need Python, which is not in the image: choose another one" >&2
  exit 1
)
"""


def with_packages(preparation: str) -> str:
    """The text of a preparation, with the command if it uses it."""
    if not _USED.search(preparation):
        return preparation
    return _DEFINED.format(program=shlex.quote(in_brief(joined(*PROGRAM)))) + preparation
