"""Certain failures on the node: scripts that cannot be opened, commands that a shell cannot run."""

from __future__ import annotations

import re
from collections.abc import Iterator

from shared.jobspec.checks.rules.context import CODE_AT_WORK, Context
from shared.jobspec.format.placeholders import plain_path
from shared.jobspec.format.secrets import redact
from shared.jobspec.problems.codes import problem
from shared.jobspec.problems.fix import Fix
from shared.jobspec.problems.problem import Problem
from shared.jobspec.text.tree import Node

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{1,20}://")
#: A path followed by something else; a name may have blanks inside.
_ARGUMENTS = re.compile(r"(?:\S+\.(?:py|sh|cntk|prototxt)|(?:\S*/)?python[0-9.]*)\s+\S")
#: Words before a path: a program, its options, or a variable for it; no name has a blank before a variable.
#: A program in a directory has an option or a path behind it: `/data/time series` is a directory.
_PROGRAM = re.compile(
    r"(?:(?:\S+\s+){1,21}\$\{?[A-Za-z_]"
    r"|(?:time|nohup|nice|env|exec|sudo|sh|bash|source|cd|mpirun|mpiexec|torchrun|srun)\s+\S"
    r"|\S*/(?:time|nohup|nice|env|exec|sudo|sh|bash|mpirun|mpiexec|torchrun|srun)\s+(?:/|-\w))"
)
#: A second command, or where the output of one goes.
_OPERATOR = re.compile(r"\.(?:py|sh|cntk|prototxt)\s*[;&|>]|[;&|]\s*\$\{?[A-Za-z_]")
_ABSOLUTE = ("/", "$", "<")
#: Relative paths and paths of Windows, which `plain_paths` reports.
_OTHERS_WORK = re.compile(r"\\|%[A-Za-z_][A-Za-z0-9_]*%|[A-Za-z]:/|[\r\n]")
_LONGEST_FIXED = 1000


def scripts(context: Context) -> Iterator[Problem]:
    """Scripts and configurations: one path each, of a file that can exist."""
    # A preparation may create a script in the job's first directory.
    prepared = context.properties.member("jobPreparation").is_written
    empty = not prepared and context.code_at != CODE_AT_WORK
    for node in context.files:
        name, text = node.pointer.rpartition("/")[2], (node.text or "").strip()
        if not text:
            yield problem("SW023", node.pointer, f"{name} is blank", "write a path, or leave it out")
        elif _ADDRESS.match(text):
            remedy = "download it in jobPreparation, or mount what holds it, and write its path"
            yield problem("SW087", node.pointer, f"{name} is an address; a node opens files only", remedy)
        elif name == "pythonInterpreterPath" or _OTHERS_WORK.search(text):
            continue
        elif _ARGUMENTS.match(text) or _PROGRAM.match(text) or _OPERATOR.search(text):
            remedy = f"write only the path, and the rest into {_arguments(node)}"
            yield problem("SW087", node.pointer, f"{name} is a command, and has to be a path", remedy)
        elif name == "pythonScriptFilePath" and empty and not text.startswith(_ABSOLUTE):
            message = f"{name} is relative, and the directory that a job starts in is empty"
            yield problem("SW087", node.pointer, message, _remedy(text))


def commands(context: Context) -> Iterator[Problem]:
    """Command lines: not empty, and with line endings that a shell on Linux can read."""
    blocks = [*context.toolkits, context.properties.member("jobPreparation")]
    for node in (block.member("commandLine") for block in blocks):
        # The command of a custom toolkit may be absent, so its own rule reports a blank one, too.
        if node.text and not node.text.strip() and "/customToolkitSettings/" not in node.pointer:
            yield problem("SW023", node.pointer, "commandLine is blank", "write a command line")
    for node in context.commands:
        text = node.text or ""
        if "\r" not in text:
            continue
        right = text.replace("\r\n", "\n").rstrip("\r")
        certain = "\r" not in right and redact(right) == right and len(right) <= _LONGEST_FIXED
        fix = Fix("replace", node.pointer, right) if certain else None
        yield problem("SW088", node.pointer, "the command line has Windows line endings", fix=fix)


def _remedy(relative: str) -> str | None:
    path = plain_path(relative.removeprefix("./"))
    if path is None:
        return None
    return f"write <SLIPWAY_FOLDER>/{path} if it is dropped beside the job, or $AZ_BATCHAI_JOB_MOUNT_ROOT/…"


def _arguments(node: Node) -> str:
    return "masterCommandLineArgs" if "/tensorFlowSettings/" in node.pointer else "commandLineArgs"
