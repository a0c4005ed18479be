"""The mask of secrets leaves what the program itself says: every text of the source of some words."""

import ast
from collections.abc import Iterator
from pathlib import Path

from shared.jobspec.secrets.embedded import without_embedded
from tests.slow.project.test_architecture import nodes

ROOT = Path(__file__).resolve().parents[3]
FOLDERS = ("confined", "shared", "functions", "local", "slipway")
#: Patterns of secrets and examples of commands, which hold some.
_LISTS = {"shared/jobspec/secrets", "local/bicep"}
_EXAMPLES = {
    "slipway/stack/up.py": 2,  # az storage … --connection-string '…'
    "slipway/client/request/secrets.py": 8,  # --secret NAME
    "slipway/commands/init/foreign/draft.py": 1,  # the same, as those below
    "slipway/commands/init/foreign/dstack.py": 1,
    "slipway/commands/init/foreign/sky.py": 2,
    "slipway/commands/init/foreign/sbatch.py": 1,
    "slipway/stack/az_env.py": 1,  # az login … --password local
    "local/batchai/api/rules.py": 1,  # the address of a secret: https://VAULT…
    "slipway/client/entry/program.py": 1,  # the text of a program: key=age
    "local/slurm/accounting.py": 1,  # create user … identified by '…'
}


def test_no_message_of_the_program_is_masked() -> None:
    masked: dict[str, list[str]] = {}
    for folder in FOLDERS:
        for file in (ROOT / folder).rglob("*.py"):
            name = file.relative_to(ROOT).as_posix()
            if not any(name.startswith(one) for one in _LISTS):
                texts = [
                    text for text in _texts(file) if text.count(" ") > 1 and without_embedded(text) != text
                ]
                masked |= {name: texts} if texts else {}

    assert {name: texts for name, texts in masked.items() if len(texts) > _EXAMPLES.get(name, 0)} == {}


def _texts(file: Path) -> Iterator[str]:
    """The texts but docstrings; `x` where a formatted text has a value."""
    every = nodes(file)
    parts = {id(one) for node in every if isinstance(node, ast.JoinedStr) for one in node.values}
    parts |= {id(node.value) for node in every if isinstance(node, ast.Expr)}
    for node in every:
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(one.value) if isinstance(one, ast.Constant) else "x" for one in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in parts:
            yield node.value
