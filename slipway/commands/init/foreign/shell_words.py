"""What a script of another system expects of its environment, and what stands for it here."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from slipway.commands.init.foreign.draft import JobDraft, Note
from slipway.commands.init.foreign.yaml_tree import Member

#: The number of a node, the addresses of all, and the GPUs of one, in a shell.
RANK = '"${AZ_BATCHAI_TASK_INDEX:-0}"'
ADDRESSES = '"$(echo "$AZ_BATCH_HOST_LIST" | tr , "\\n")"'
FIRST_ADDRESS = '"${AZ_BATCH_HOST_LIST%%,*}"'
_ADVICE = "not set here; write the value, or a variable that `slipway explain` lists"
GPUS = '"${AZ_BATCHAI_NUM_GPUS:-0}"'


def set_variables(draft: JobDraft, text: str, values: Mapping[str, str]) -> None:
    """Set those variables of another system that a script uses, before it begins."""
    draft.before += [f"export {name}={value}" for name, value in values.items() if _uses(text, name)]


def name_variables(draft: JobDraft, member: Member, prefix: str, values: Mapping[str, str]) -> None:
    """Note each other variable of that system which the script uses, with its line."""
    begin = member.line + int("\n" in (member.text or ""))  # a text of several lines begins below its name
    for name, line in _variables(member.text or "", prefix):
        if name not in values and name not in draft.environment:
            draft.notes.append(Note(begin + line, f"${name}", "none", _ADVICE))


def _uses(text: str, name: str) -> bool:
    return re.search(rf"(?<!\w){name}(?!\w)", text) is not None


def _variables(text: str, prefix: str) -> Iterator[tuple[str, int]]:
    """The names of variables, each once, with the line from 0."""
    names = set[str]()
    for number, line in enumerate(text.splitlines()):
        for name in re.findall(rf"(?<!\w){prefix}[A-Z0-9_]+", line):
            if name not in names:
                names.add(name)
                yield name, number
