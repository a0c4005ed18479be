"""The `ssh` of a node: another node of the job is this machine too, so its commands run here, as if there.

A program of its own (standard library only), started by a script named `ssh` on the PATH of jobs; so Open MPI
and whoever else logs in to nodes without a password needs no ssh server. Its first argument is the file of
the job's nodes, a JSON object of address → root directory and GPUs. For any other host the real ssh is run.
"""

import json
import os
import sys
from pathlib import Path

#: Options of ssh that take a value.
_WITH_VALUE = "BbcDEeFIiJLlmOoPpQRSWw"
_FAILED = 255  # the exit code of ssh itself


def main(nodes_file: str, arguments: list[str]) -> int:
    """Become the command; the exit code when that cannot be."""
    nodes: dict[str, dict[str, str]] = json.loads(Path(nodes_file).read_text(encoding="utf-8"))
    host, command = split(arguments)
    node = nodes.get(host.rpartition("@")[2])
    if node is None:
        return _real_ssh(arguments, Path(nodes_file).parent)
    if not command:
        sys.stderr.write(f"ssh: {host} is a node of an emulated cluster: give a command to run there\n")
        return _FAILED
    roots, root = [one["root"] for one in nodes.values()], node["root"]
    env = environment(dict(os.environ), roots, root)
    if node["gpus"]:
        env["CUDA_VISIBLE_DEVICES"] = node["gpus"]
    # Daemons of Open MPI on two nodes would work in one directory, and trip over each other.
    session = Path(root, "tmp")
    session.mkdir(exist_ok=True)
    env |= dict.fromkeys(("OMPI_MCA_orte_tmpdir_base", "PRTE_MCA_prte_tmpdir_base"), str(session))
    # A login starts at home; Open MPI expects the directory that it is called in, where there is one.
    here = _moved(str(Path.cwd()), roots, root)
    os.chdir(here if Path(here).is_dir() else root)
    return _become("/bin/sh", ["sh", "-c", " ".join(command)], env)


def split(arguments: list[str]) -> tuple[str, list[str]]:
    """The host and the command behind ssh's own options."""
    rest = iter(range(len(arguments)))
    for index in rest:
        argument = arguments[index]
        if argument == "--" or not argument.startswith("-"):
            start = index + (argument == "--")
            host, *command = arguments[start:] or [""]
            return host, command
        if len(argument) == 2 and argument[1] in _WITH_VALUE:
            next(rest, None)
    return "", []


def environment(env: dict[str, str], roots: list[str], root: str) -> dict[str, str]:
    """The environment with the other node's directories in the place of this one's."""
    return {name: _moved(value, roots, root) for name, value in env.items()}


def _moved(text: str, roots: list[str], root: str) -> str:
    for other in roots:
        # Numbers of nodes are the last part of their roots: /1 must not be found in /12.
        text = text.replace(f"{other}/", f"{root}/")
        text = root if text == other else text
    return text


def _real_ssh(arguments: list[str], own: Path) -> int:
    for directory in os.environ.get("PATH", "").split(":"):
        program = Path(directory, "ssh")
        if program.parent != own and os.access(program, os.X_OK):
            return _become(program, ["ssh", *arguments], dict(os.environ))
    sys.stderr.write("ssh: that host is no node of the job, and there is no ssh client here\n")
    return _FAILED


def _become(program: str | Path, argv: list[str], env: dict[str, str]) -> int:
    os.execve(program, argv, env)  # noqa: S606 what the job asked for, as it asked for it


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
