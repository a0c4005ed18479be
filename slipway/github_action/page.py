"""What GitHub reads: the summary of the step, and its outputs."""

from html import escape
from pathlib import Path

from slipway.github_action.course import Course

#: Characters of a text of the summary.
_LONGEST = 20_000


def summary(course: Course, code: int) -> str:
    """How it ended, in HTML: what a job or a name says is text, also where it looks like Markdown."""
    error, end = course.error, course.end
    rows = {
        "job": course.job,
        "state": course.state,
        "exit code": str(end.get("exitCode", "")),
        "message": str(end.get("message", "") or error.get("text", "")),
        "what to do": str(error.get("remedy", "")),
        "files": str(end.get("download", {}).get("saved", "")),
    }
    table = "".join(
        f"<tr><td>{name}</td><td><code>{_plain(text)}</code></td></tr>" for name, text in rows.items() if text
    )
    title = f"Slipway: {course.state or ('ended with ' + str(code) if code else 'done')}"
    lines = "\n".join(str(one) for one in end.get("errors", ()))
    details = f"<pre>{_plain(lines)}</pre>\n" if lines else ""
    return f"<h3>{escape(title)}</h3>\n<table>{table}</table>\n{details}"


def _plain(text: str) -> str:
    """Text within HTML; an empty line would end the HTML of Markdown."""
    return escape("\n".join(line for line in text[:_LONGEST].splitlines() if line.strip()))


def outputs(course: Course, to: str) -> str:
    """What later steps of the workflow read, a line each."""
    members = {
        "job": course.job,
        "state": course.state,
        "exit-code": str(course.end.get("exitCode", "")),
        "directory": to,
    }
    return "".join(f"{name}={' '.join(value.splitlines())}\n" for name, value in members.items())


class Page:
    """The summary of the step: the last that was written stands."""

    def __init__(self, file: str) -> None:
        self._file, self._begin = file, -1

    def write(self, text: str) -> None:
        """Write it, in place of an earlier one."""
        if not self._file:
            return
        with Path(self._file).open("a", encoding="utf-8", errors="backslashreplace") as out:
            if self._begin < 0:
                self._begin = out.tell()
            else:
                out.truncate(self._begin)
            out.write(text)
