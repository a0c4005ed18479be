"""`slipway validate`: the problems of job files, as a deployment with default settings would find them."""

import difflib
import json
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

from shared import __version__, report
from shared.message import Request, meaning
from shared.sarif import sarif
from shared.spec import (
    Defaults,
    Facts,
    JsonObject,
    Limits,
    Problem,
    Source,
    complete,
    has_errors,
    mended,
    read_envelope,
    read_through,
    script_pattern,
    scripts_wanted,
    validate,
    with_lint,
    with_pages,
)
from shared.spec.tree import walk

FORMATS = ("text", "json", "sarif")
#: Stands for the cluster of a deployment that this command does not know.
_CLUSTER = (
    "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/slipway"
    "/providers/Microsoft.BatchAI/workspaces/dev/clusters/dev-cluster-00"
)
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)
_DROPS = "scripts"
_DEFAULTS = Defaults(
    cluster_id=_CLUSTER,
    storage_account="account",
    drop_container=_DROPS,
    drop_account="account",
    std_out_err_path_prefix="$AZ_BATCHAI_MOUNT_ROOT/logs",
)
_STDIN = "-"
#: Of a script, to see its line ends.
_BEGINNING = 1 << 16


@dataclass(frozen=True)
class Checked:
    """One file: its name for people, its problems, or why it could not be read."""

    name: str
    problems: tuple[Problem, ...] = ()
    trouble: str = ""

    @property
    def valid(self) -> bool:
        """Whether the job would run."""
        return not self.trouble and not has_errors(self.problems)

    def as_dict(self) -> dict[str, Any]:
        """The file as JSON: the answer of `POST /api/validate`, and the file's name."""
        shown = report.as_json(self.problems, valid=self.valid, file=self.name)
        return shown | ({"trouble": self.trouble} if self.trouble else {})


def run(
    files: Sequence[str],
    stdin: BinaryIO | None = None,
    *,
    output: str = "text",
    fix: bool = False,
    rules_url: str = "",
) -> int:
    """Print the problems of each file and a verdict; 1 if any file has an error or cannot be read, else 0.

    `fix` writes the certain fixes into the files first and shows what changed; standard input is only shown.
    `rules_url` is where the pages of the rules are; without it they are named by their path in the project.
    """
    tell, stdin = output == "text", stdin or sys.stdin.buffer
    checked = [_one(file, stdin, fix=fix, tell=tell, rules_url=rules_url) for file in files]
    if output == "json":
        found = {"valid": all(one.valid for one in checked), "files": [one.as_dict() for one in checked]}
        print(json.dumps(found, indent=2, ensure_ascii=False))
    elif output == "sarif":
        by_file = {one.name: report.found(one.problems) for one in checked}
        print(json.dumps(sarif(by_file, version=__version__), indent=2, ensure_ascii=False))
        for one in checked:
            if one.trouble:
                print(f"{one.name}: error: {one.trouble}", file=sys.stderr)
    return int(not all(one.valid for one in checked))


def problems_of(data: bytes, path: Path, name: str = "") -> tuple[Problem, ...]:
    """All problems of one document, in place: a slipway.json, a message, a job.json."""
    return _diagnosed(Source(data, name or path.name), path)


def _one(file: str, stdin: BinaryIO, *, fix: bool, tell: bool, rules_url: str) -> Checked:
    name = "standard input" if file == _STDIN else file
    path = Path("job.json") if file == _STDIN else Path(file).absolute()
    try:
        source = Source(stdin.read() if file == _STDIN else path.read_bytes(), name)
        if fix:
            source = _fixed(source, path, file, tell=tell)
    except OSError as error:
        checked = Checked(name, trouble=f"cannot be {'written' if fix else 'read'}: {error.strerror}")
        if tell:
            print(f"{name}: error: {checked.trouble}")
        return checked
    checked = Checked(name, with_pages(_diagnosed(source, path), rules_url))
    if tell:
        found = report.found(checked.problems)
        print(report.text(found, name), end="")
        print(f"{name}: {report.verdict(found)}")
    return checked


def _fixed(source: Source, path: Path, file: str, *, tell: bool) -> Source:
    after = mended(source, lambda changed: _diagnosed(changed, path))
    if after.data == source.data:
        return source
    if tell:
        sys.stdout.writelines(
            difflib.unified_diff(
                _lines(source.masked(_diagnosed(source, path))),
                _lines(after.masked(_diagnosed(after, path))),
                source.file,
                f"{source.file} (fixed)",
            )
        )
    if file != _STDIN:
        path.write_bytes(after.data)
    return after


def _lines(text: str) -> list[str]:
    lines = text.splitlines(keepends=True)
    return [line if line.endswith("\n") else f"{line}\n" for line in lines]


def _diagnosed(source: Source, path: Path) -> tuple[Problem, ...]:
    found = _of_envelope(source) if path.name == "slipway.json" else _of_message(source, path)
    return source.locate(found)


def _of_envelope(source: Source) -> tuple[Problem, ...]:
    document, problems = read_through(source)
    return problems if document is None else (*problems, *read_envelope(document, drop=True)[1])


def _of_message(source: Source, path: Path) -> list[Problem]:
    """Of a job.json, of a message, of an event with one. Lists of events come from machines."""
    if source.text.lstrip().startswith("["):
        return list(read_through(source)[1])
    found: list[Problem] = []
    for request in meaning(source.data, Limits()):
        if isinstance(request, Request):
            found += request.problems
            if request.document is not None:
                problems = _of_job(request.document, path, request.envelope.cluster)
                found += (problem.under(request.at) for problem in problems)
    return found


def _of_job(document: JsonObject, path: Path, cluster: str | None = None) -> tuple[Problem, ...]:
    folder, script = path.parent.name, _script(document, path)
    named = cluster or _cluster_name(document)
    # Which names are configured is not known here, so every name is.
    defaults = replace(_DEFAULTS, clusters={named: _CLUSTER}) if _NAME.fullmatch(named) else _DEFAULTS
    completed, _ = complete(document, defaults, script=script, folder=folder, cluster=cluster)
    facts = _facts(completed, path)
    if script is not None and not (path.parent / script).exists():
        facts = replace(facts, missing=())  # the name is ours: nobody wrote it
    found = with_lint(validate(completed)[1], completed, facts, written=document)
    logs = _in_default_directory(completed)
    return tuple(one for one in found if one.code != "SW034" or one.pointer not in logs)


def _in_default_directory(document: JsonObject) -> set[str]:
    """Places of paths in the default log directory: the mount that it needs is every cluster's own."""
    prefix = f"{_DEFAULTS.std_out_err_path_prefix}/"
    return {node.pointer for node in walk(document) if f"{node.text or ''}/".startswith(prefix)}


def _cluster_name(document: JsonObject) -> str:
    properties = document.get("properties")
    written = properties.get("cluster") if isinstance(properties, dict) else None
    name = written.get("id") if isinstance(written, dict) else written
    return name if isinstance(name, str) else ""


def _facts(document: JsonObject, path: Path) -> Facts:
    """What lies beside the file stands for what will lie in its folder of the container."""
    folder = f"{path.parent.name}/"

    def beside(name: str) -> Path | None:
        return path.parent / name.removeprefix(folder) if name.startswith(folder) else None

    missing, crlf = set(), set()
    for name in scripts_wanted(document, container=_DROPS):
        file = beside(name)
        if file is None or not path.exists():
            continue
        if not file.is_file():
            missing.add(name)
        elif _is_crlf(file):
            crlf.add(name)
    return Facts(drop_container=_DROPS, missing=missing, crlf=crlf)


def _is_crlf(file: Path) -> bool:
    try:
        with file.open("rb") as opened:
            return b"\r\n" in opened.read(_BEGINNING)
    except OSError:
        return False


def _script(document: JsonObject, path: Path) -> str | None:
    """The script that stands in for the placeholder of a template: one that lies beside it, else any name."""
    pattern = script_pattern(document)
    if pattern is None:
        return None
    beside = sorted(script.name for script in path.parent.glob(pattern))
    return beside[0] if beside else pattern.replace("*", "train")
