"""The page docs/reference/cli.md, from the commands themselves.

`python -m slipway.cli_page` writes it; a test compares.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import typer

from slipway.commands.help_groups import GROUPS
from slipway.failure import KINDS
from slipway.main import app
from slipway.settings import ROOT

PAGE = ROOT / "docs" / "reference" / "cli.md"

#: The longest sentence that the index has of a command.
_SHORT = 100
#: A default that an option's help states itself: "[default: .local/up]".
_STATED = re.compile(r"\s*\[default: ([^]]+)\]")

_HEAD = """# The `slipway` command

This page is generated: `python -m slipway.cli_page`.

A command exits with 0, or prints one line on standard error and exits with 1; a command with other codes
names them, and [for programs](#for-programs) there is a table. One whose output no one reads on (`| head -1`)
ends quietly, with 141 if it was not done.
Commands that call the API take `--url` and `--key`, or the environment variables `SLIPWAY_URL`
and `SLIPWAY_KEY`. Without an address they call that of the profile of `slipway login`
(`slipway --profile NAME …`, `SLIPWAY_PROFILE`, or the latest), else the stack that `slipway up` started: the
one with its data in `.local/up`, or else the only one that runs.

Where no answer of the API comes, because it starts, is deployed, or the network is down, a command sends the
same request again, for 5 minutes since the last answer, and says on standard error why it waits. What a
gateway answers (502, 503, 504, 429, or any answer without the API's header `Slipway-Api`, 200 included) does
not count. Nothing is done twice: a submission has an idempotency key, which the command names where it gives
up without an answer, and everything else that changes something may be repeated. Some things a command says
at once: that nothing listens at an address, that a key is refused, and what the API refuses. An answer of
something else at an address where Slipway has not answered before is waited for no longer than a minute: the
address may be wrong. A login page or a redirect is said at once, and after 10 seconds to a submission.

## For programs

With `--json` a command prints one JSON document, what the API answered or what the command did, and nothing
else on standard output; one that goes on prints an object on each line. `up`, `demo` and `tensorboard` are
for people, `mcp` serves a program, and `cat` and `skill` print a text as it is, so these have no `--json`.

A command with `--json` that cannot do what it was asked prints an error as its last line:

```json
{"error": {"code": "unknown", "text": "there is no cluster a", "remedy": "clusters are: b", "retry": false}}
```

`retry` is true where the same command may succeed later. A submission that got no answer may have been
accepted: its `remedy` names the `--idempotency-key` with which the repeated command joins that job. The exit
code says which kind of error it is, or how what was asked has ended:

| exit code | `error.code` | what it means |
|---|---|---|
| 0 | | done; of a command that follows a job: the job succeeded |
| 1 | | the answer is no: the job did not succeed, or what the command names |
KINDS| 124 | | `wait --timeout`: the job goes on |
| 130, 143 | | ended by Ctrl-C or SIGTERM; a job that was submitted goes on |
| 141 | | the reader of standard output has closed it |

The exit code of a job is the `exitCode` of the answer, or of the object `end` of a command that follows it. A
command without `--json` that follows a job to its end has the job's exit code, and 125 for each error that
leaves the end unknown.

## The commands

"""


def commands() -> Mapping[str, Any]:
    """Every command by its full name ("events list"), in the order of `slipway --help`."""
    tree = dict(_walk(typer.main.get_command(app), ""))
    words = [word for names in GROUPS.values() for word in names]
    return dict(sorted(tree.items(), key=lambda one: words.index(one[0].partition(" ")[0])))


def _walk(command: Any, name: str) -> Iterator[tuple[str, Any]]:
    if not hasattr(command, "commands"):
        yield name, command
        return
    for word, child in command.commands.items():
        yield from _walk(child, f"{name} {word}".strip())


def page() -> str:
    """The whole page, in Markdown."""
    tree = commands()
    index = "\n\n".join(_index(tree, title) for title in GROUPS)
    kinds = "".join(f"| {one.exit_code} | `{one.code}` | {one.meaning} |\n" for one in KINDS)
    return (
        _HEAD.replace("KINDS", kinds)
        + index
        + "\n"
        + "".join(_section(name, command) for name, command in tree.items())
    )


def _index(tree: Mapping[str, Any], title: str) -> str:
    rows = [
        f"| [`{name}`](#slipway-{name.replace(' ', '-')}) | {command.get_short_help_str(_SHORT)} |"
        for name, command in tree.items()
        if name.partition(" ")[0] in GROUPS[title]
    ]
    return "\n".join([f"### {title}", "", "| command | what it does |", "|---|---|", *rows])


def _section(name: str, command: Any) -> str:
    arguments = [item for item in command.params if item.param_type_name == "argument"]
    options = ["[OPTIONS]"] if len(arguments) < len(command.params) else []
    usage = " ".join(["slipway", name, *(_argument(item) for item in arguments), *options])
    rows = [f"| {_spelling(item)} | {_default(item)} | {_help(item)} |" for item in command.params]
    table = "\n".join(["", "| argument or option | default | what it is |", "|---|---|---|", *rows, ""])
    return f"\n## slipway {name}\n\n{_text(command)}\n\n```\n{usage}\n```\n{table if rows else ''}"


def _text(command: Any) -> str:
    paragraphs = re.split(r"\n\s*\n", (command.help or "").strip())
    return "\n\n".join(" ".join(one.split()) for one in paragraphs)


def _argument(item: Any) -> str:
    word = item.metavar or item.name.upper() + ("…" if item.nargs == -1 else "")
    return word if item.required else f"[{word}]"


def _spelling(item: Any) -> str:
    if item.param_type_name == "argument":
        return f"`{_argument(item)}`".replace("|", "\\|")
    value = "" if item.is_flag else f" {item.metavar or _type(item)}"
    return f"`{', '.join((*item.opts, *item.secondary_opts))}{value}`".replace("|", "\\|")


def _type(item: Any) -> str:
    annotation = item.type_descriptor.annotation
    if get_origin(annotation) is Literal:
        return "|".join(get_args(annotation))
    return {int: "NUMBER", Path: "PATH"}.get(annotation, "TEXT")


def _default(item: Any) -> str:
    stated = _STATED.search(item.help or "")
    if stated:
        return stated[1].replace("`", "")
    if item.param_type_name == "argument" or item.is_flag or item.default in (None, ""):
        return ""
    return f"`{item.default}`"


def _help(item: Any) -> str:
    text = _STATED.sub("", item.help or "").replace("|", "\\|")
    return f"{text}; or `{item.envvar}`".lstrip("; ") if item.envvar else text


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
