"""`slipway validate`: shows the problems of job files, with remedies."""

import difflib
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from shared import __version__
from shared.core.errors import Misconfigured
from shared.core.facts import ClusterFacts
from shared.jobspec import Problem, Source, has_errors, mended, report, with_pages
from slipway.client.request.diagnose import diagnosed
from slipway.commands.validate.ignored import ignored
from slipway.commands.validate.kind import is_object, kind
from slipway.commands.validate.rewrite import rewrite
from slipway.commands.validate.sarif import sarif
from slipway.failure import Failure
from slipway.settings import load
from slipway.terminal.screen import put, put_json, remark

_STDIN = "-"


@dataclass(frozen=True)
class Checked:
    """One file: its name for people, and its problems, or why it could not be read."""

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
    diff: bool = False,
    ignore: Sequence[str] = (),
    per_file_ignores: Sequence[str] = (),
    rules_url: str = "",
) -> int:
    """Print the problems of each file and a verdict; 1 if any file has an error or cannot be read, else 0.

    `fix` writes the certain fixes into the files first and shows what changed; standard input is only shown.
    `diff` shows what `fix` would change, and writes nothing. A file that is still not a JSON object is left
    alone.
    `ignore` and `per_file_ignores` are as `ignored` takes them. `rules_url` is where the pages of the rules
    are; without it they are named by their path in the project. Raises Failure.
    """
    prints, stdin = output == "text", stdin or sys.stdin.buffer
    left_out = ignored(ignore, per_file_ignores, Path.cwd())
    facts = known_facts()

    def diagnose(source: Source, path: Path) -> tuple[Problem, ...]:
        return with_pages(left_out.remaining(diagnosed(source, path, facts), path), rules_url)

    checked = [_one(file, stdin, diagnose, fix=fix, diff=diff, prints=prints) for file in files]
    if output == "json":
        body = {"valid": all(one.valid for one in checked), "files": [one.as_dict() for one in checked]}
        put_json(body)
    elif output == "sarif":
        by_file = {one.name: report.problems_as_json(one.problems) for one in checked}
        put_json(sarif(by_file, version=__version__))
        for one in checked:
            if one.trouble:
                remark(f"{one.name}: error: {one.trouble}")
    return int(not all(one.valid for one in checked))


def known_facts() -> dict[str, ClusterFacts]:
    """Facts of clusters by name and by id, from the settings of the environment or of the local stack."""
    try:
        settings = load(None, os.environ).settings
    except Failure:
        return {}
    from shared.configured import ConfiguredEngines  # and what it takes to submit, for which nothing is set

    try:
        engines = ConfiguredEngines(settings)
    except Misconfigured:
        return {}
    facts = {name: cluster.facts for name, cluster in engines.clusters.items()}
    facts |= {cluster.id.lower(): cluster.facts for cluster in engines.clusters.values()}
    return facts | {"": facts[engines.default]}


def _one(
    file: str,
    stdin: BinaryIO,
    diagnose: Callable[[Source, Path], tuple[Problem, ...]],
    *,
    fix: bool,
    diff: bool,
    prints: bool,
) -> Checked:
    name = "standard input" if file == _STDIN else file
    path = Path("job.json") if file == _STDIN else Path(file).absolute()
    trouble, doing = "", "read"
    problems: tuple[Problem, ...] = ()
    try:
        source = Source(stdin.read() if file == _STDIN else path.read_bytes(), name)
        if fix or diff:
            after = mended(source, lambda changed: diagnose(changed, path))
            if not is_object(after):
                trouble = f"not changed: this is {kind(source)}, not a JSON object"
            elif after.data != source.data:
                if prints:
                    _show_changes(
                        source.masked(diagnose(source, path)), after.masked(diagnose(after, path)), name
                    )
                doing = "written"
                source = source if diff else _write(after, None if file == _STDIN else path)
        problems = diagnose(source, path)
    except OSError as error:
        trouble = f"cannot be {doing}: {error.strerror}"
    if prints:
        _print(name, problems, trouble)
    return Checked(name, problems, trouble)


def _print(name: str, problems: tuple[Problem, ...], trouble: str) -> None:
    members = report.problems_as_json(problems)
    put(*report.text(members, name).splitlines())
    if certain := sum("edits" in one for one in members):
        put(f"{name}: --fix corrects {certain} of {len(members)}")
    put(f"{name}: error: {trouble}" if trouble else f"{name}: {report.verdict(members)}")


def _show_changes(before: str, after: str, name: str) -> None:
    """A diff of texts, with secrets masked."""
    changes = difflib.unified_diff(_lines(before), _lines(after), name, f"{name} (fixed)")
    put(*(line.rstrip("\n") for line in changes))


def _write(after: Source, path: Path | None) -> Source:
    if path is not None:
        rewrite(path, after.data)
    return after


def _lines(text: str) -> list[str]:
    lines = text.splitlines(keepends=True)
    return [line if line.endswith("\n") else f"{line}\n" for line in lines]
