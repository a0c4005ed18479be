"""The input from which the processes of a job are worked out. Pure."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from local.nodes.environment import VARIABLE
from local.nodes.fault import Fault
from local.nodes.work import CannotLaunch, Find


@dataclass(frozen=True)
class Ground:
    """A job's toolkit block, the environments of its nodes, and a way to look for programs on them."""

    block: Mapping[str, Any]
    envs: Sequence[Mapping[str, str]]
    find: Find

    @property
    def nodes(self) -> int:
        """How many nodes the job has."""
        return len(self.envs)

    @property
    def count(self) -> int:
        """How many processes it gets."""
        return int(self.block.get("processCount", self.nodes))

    def node_of(self, rank: int, count: int) -> int:
        """The node of a process: in blocks, filled from the first node on."""
        return rank // -(-count // self.nodes)

    def script(self, arguments: str = "commandLineArgs") -> str:
        """Shell text that runs the block's Python script, on any node."""
        interpreter = self.block.get("pythonInterpreterPath") or "python"
        return self.command((interpreter, self.block["pythonScriptFilePath"]), arguments)

    def command(self, words: Sequence[str], arguments: str = "commandLineArgs") -> str:
        """Shell text of a command. Its arguments are shell text already, by the job's author."""
        quoted = [quote(word, self.envs[0]) for word in words]
        return " ".join([*quoted, self.block.get(arguments, "")]).rstrip()

    def program(self, name: str, remedy: str) -> str:
        """The path of a program that the toolkit needs. Raises CannotLaunch with the package to install."""
        path = self.find(name)
        if path is None:
            code = "MpiNotInstalled" if name == "mpirun" else "ProgramNotInstalled"
            message = f"There is no {name} on the nodes. {remedy} and run the job again"
            raise CannotLaunch(Fault(code=code, message=message))
        return path


def quote(text: str, env: Mapping[str, str]) -> str:
    """Shell text for a word: known variables have the values of the node that it runs on, all else stays."""
    result, end = "", 0
    for match in VARIABLE.finditer(text):
        name = match[1] or match[2]
        if name in env:
            result += _literal(text[end : match.start()]) + f'"${{{name}}}"'
            end = match.end()
    return (result + _literal(text[end:])) or "''"


def _literal(text: str) -> str:
    return shlex.quote(text) if text else ""
