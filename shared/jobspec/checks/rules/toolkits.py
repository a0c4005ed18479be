"""Exactly one toolkit, and in it the properties that exclude or need each other."""

from __future__ import annotations

from collections.abc import Iterator

from shared.jobspec.checks.rules.context import Context
from shared.jobspec.format.toolkits import TOOLKITS
from shared.jobspec.problems.codes import problem
from shared.jobspec.problems.fix import Fix
from shared.jobspec.problems.problem import Problem
from shared.jobspec.problems.suggest import Suggestions, certainly
from shared.jobspec.text.tree import Node, quote

_BACKENDS = ("TCP", "Gloo", "MPI")
_LANGUAGES = ("BrainScript", "Python")
_PYTHON = ("pythonScriptFilePath", "pythonInterpreterPath")


def one_toolkit(context: Context) -> Iterator[Problem]:
    """The service runs one toolkit; its schema does not state it."""
    blocks = context.toolkits
    if not blocks and isinstance(context.properties.value, dict):
        message = f"the job lacks a toolkit; it needs one of {', '.join(TOOLKITS)}"
        yield problem("SW020", context.properties.pointer, message)
    for block in blocks[1:]:
        message = f"the job has {len(blocks)} toolkits; it can run one"
        yield problem("SW021", block.pointer, message, of_name=True)


def tool_type(context: Context) -> Iterator[Problem]:
    """The word for the toolkit, which clients of older APIs send along: the service looked at the block."""
    node = context.properties.member("toolType")
    blocks = [block.pointer.rpartition("/")[2] for block in context.toolkits]
    if node.text and len(blocks) == 1 and node.text.lower() not in (blocks[0].lower(), _word(blocks[0])):
        message = f"toolType is {quote(node.text)}, and the job runs by {blocks[0]}"
        fix = Fix("remove", node.pointer)
        yield problem("SW022", node.pointer, message, "remove toolType", "warning", of_name=True, fix=fix)


def languages(context: Context) -> Iterator[Problem]:
    """Which of script, configuration, interpreter and command line a block has to have or must not have."""
    for block in context.toolkits:
        if not isinstance(block.value, dict):
            continue
        name = block.pointer.rpartition("/")[2]
        if name == "cntkSettings":
            yield from _cntk(block, context.suggestions)
        elif name == "caffeSettings":
            yield from _config_or_script(block)
        elif name == "customToolkitSettings":
            yield from _required(block, "commandLine")


def backend(context: Context) -> Iterator[Problem]:
    """The communication backend, in capitals or not: recipes write `gloo`."""
    node = context.properties.member("pyTorchSettings", "communicationBackend")
    yield from _one_of(node, "communicationBackend", _BACKENDS, context.suggestions)


def _word(block: str) -> str:
    """The word of the service for the toolkit of a block."""
    return block.removesuffix("Settings").removesuffix("Toolkit").lower()


def _cntk(block: Node, suggestions: Suggestions) -> Iterator[Problem]:
    written = block.member("languageType")
    yield from _one_of(written, "languageType", _LANGUAGES, suggestions)
    language = (written.text or "").lower()
    if language == "brainscript":
        yield from _excluded(block, _PYTHON, "languageType is BrainScript")
        yield from _required(block, "configFilePath")
    elif language == "python":
        yield from _excluded(block, ("configFilePath",), "languageType is Python")
        yield from _required(block, "pythonScriptFilePath")
    else:
        yield from _config_or_script(block)


def _config_or_script(block: Node) -> Iterator[Problem]:
    if block.member("configFilePath").is_written:
        yield from _excluded(block, _PYTHON, "configFilePath is given")
    elif not block.member("pythonScriptFilePath").is_written:
        message = "there is neither configFilePath nor pythonScriptFilePath"
        yield problem("SW023", block.pointer, message, "add one of them")


def _excluded(block: Node, names: tuple[str, ...], reason: str) -> Iterator[Problem]:
    for name in names:
        if block.member(name).is_written:
            message = f"{name} cannot be used when {reason}"
            yield problem("SW022", block.member(name).pointer, message, of_name=True)


def _required(block: Node, name: str) -> Iterator[Problem]:
    node = block.member(name)
    if not node.is_written:
        yield problem("SW023", node.pointer, f"{name} is missing", f"add {name}")
    elif node.text is not None and not node.text.strip():
        yield problem("SW023", node.pointer, f"{name} is blank", "write what the job runs")


def _one_of(node: Node, name: str, allowed: tuple[str, ...], suggestions: Suggestions) -> Iterator[Problem]:
    if node.text is not None and node.text.lower() not in {value.lower() for value in allowed}:
        values = " or ".join(quote(value) for value in allowed)
        hint = suggestions.did_you_mean(node.text, allowed)
        right = certainly(node.text.strip(), allowed)
        fix = Fix("replace", node.pointer, right) if right else None
        yield problem("SW014", node.pointer, f"{name} has to be {values}{hint}", fix=fix)
